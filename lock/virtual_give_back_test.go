package lock_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// What an attempt that did not succeed was granted is given back (I5).

// Whoever calls again at once must not find the lock taken by the call before.
func TestCancelledLockReturnsWhenItsGrantsAreGivenBack(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		const way = 10 * time.Millisecond
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		p := w.process()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(way, 8*way) })
		w.nodes[0].SetDelay(way, way)
		c := wait(ctx, p.mutex())
		time.Sleep(4 * way) // all have granted it, and the first has said so
		requireHeld(t, w.nodes)
		cancel()
		require.ErrorIs(t, (<-c).err, context.Canceled)
		requireHolder(t, "", w.nodes)
	})
}

func requireHeld(t *testing.T, nodes []*virtual.Node) {
	t.Helper()
	for _, n := range nodes {
		id, _ := n.Holder(keys.Lock)
		require.NotEmpty(t, id, n.Addr())
	}
}

// With one node the caller waits for it, whatever becomes of its context.
func TestGrantThatRacesACancellationIsGivenBack(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		const trip = 100 * time.Millisecond
		m := w.process().mutex()
		w.nodes[0].SetDelay(0, trip)
		ctx, cancel := context.WithCancel(bg)
		time.AfterFunc(trip/2, cancel)
		l, err := m.TryLock(ctx)
		require.Nil(t, l)
		require.ErrorIs(t, err, context.Canceled)
		requireHolder(t, "", w.nodes)
	})
}

func TestGrantThatRacesCloseIsGivenBack(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const trip = 100 * time.Millisecond
		p := w.process()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, trip) })
		c := wait(bg, p.mutex())
		time.Sleep(trip / 2)
		requireHeld(t, w.nodes)
		require.NoError(t, p.locks.Close())
		g := <-c
		require.Nil(t, g.lease)
		require.ErrorIs(t, g.err, lock.ErrClosed)
		requireHolder(t, "", w.nodes)
	})
}

// Nothing is sent for who has given up: neither what would take the lock nor what would
// give it back.
func TestAttemptThatIsGivenUpBeforeItHasLeftNeverLeaves(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const trip = 100 * time.Millisecond
		p := w.process()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, trip) })
		go func() { _, _ = p.mutex().Inspect(bg) }() // about the same key, so an attempt waits for it
		synctest.Wait()
		before := time.Now()
		ctx, cancel := context.WithTimeout(bg, trip/2)
		defer cancel()
		_, err := p.mutex().Lock(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(10 * trip)
		require.Empty(t, w.attempts(before.Add(-1)))
		requireHolder(t, "", w.nodes)
	})
}

// The greatest token of a quorum's grants is the lease's only if a quorum knows it: a later
// hold may get the same number otherwise (I3).
func TestTokenThatNoQuorumKnowsIsNotGivenOut(t *testing.T) {
	for _, name := range []string{"silent", "paused"} { // a dead node has forgotten
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				const way = 10 * time.Millisecond
				p := w.process()
				for i, n := range w.nodes {
					require.NoError(t, n.Memory().Set(keys.Token(), strconv.Itoa(10+i))) // no two agree
					n.SetDelay(way, way)
				}
				failed := make(chan error, 1)
				go func() {
					l, err := p.mutex().TryLock(bg)
					if l != nil {
						err = errors.New("it was granted")
					}
					failed <- err
				}()
				time.Sleep(2*way + way/2) // the answers are back, and the second round is on its way
				requireHeld(t, w.nodes)
				each(w.quorum(), faults[name])
				err := <-failed
				require.ErrorIs(t, err, redlock.ErrNoQuorum)
				require.ErrorContains(t, err, "fence")
				each(w.nodes, func(n *virtual.Node) {
					n.Silence(false)
					n.Resume()
				})
				time.Sleep(10 * time.Second)
				requireHolder(t, "", w.nodes)
			})
		})
	}
}

// A command that the network keeps back for nine seconds still finds the mark that voids it.
func TestMarkOutlivesWhatIsNineSecondsLate(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		far := w.nodes[0]
		p := w.process()
		far.SetDelay(time.Second, 0)
		l := w.lock(p.mutex(lock.WithoutWatchdog()))
		require.NoError(t, l.Unlock(bg))
		time.Sleep(1100 * time.Millisecond)
		requireHolder(t, l.ID(), w.nodes[:1]) // the attempt comes first, and the release is behind it
		start := time.Now()
		for !slices.Contains(far.Keys(), keys.Void()) {
			time.Sleep(time.Millisecond)
			require.Less(t, time.Since(start), 10*time.Second) // it passes the attempt on a new connection
		}
		far.SetDelay(0, 0)
		time.Sleep(9 * time.Second)
		again := lua.Acquire{Keys: keys, Hold: l.ID(), TTL: defaultTTL, Retention: defaultRetention}
		_, err := again.Call().Run(bg, virtual.NewHost(w.nodes).Clients(t)[0])
		require.NoError(t, err)
		requireHolder(t, "", w.nodes)
		time.Sleep(2 * time.Second)
		require.NotContains(t, far.Keys(), keys.Void(), "and is not kept for ever")
	})
}

// What a minority has granted is in the way of others until it is given back. So nobody waits for a node that was
// silent before to learn that there is no quorum.
func TestAMinoritysGrantsAreGivenBackAtOnceThoughANodeIsSilent(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			ofEitherKind(t, []int{5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
				const way = 10 * time.Millisecond
				p := w.process()
				require.NoError(t, w.lock(of(p)).Unlock(bg))
				fault(w.nodes[0])
				require.NoError(t, w.lock(of(p)).Unlock(bg))
				time.Sleep(time.Minute)
				w.lock(reentrantAt(p, "another")) // the node's silence is news, whatever became of the connections
				time.Sleep(defaultNodeTimeout)
				for _, n := range w.nodes[1:] {
					n.SetDelay(way, way)
				}
				each(w.nodes[1:3], func(n *virtual.Node) { give(n, "rival:1") })
				ctx, cancel := context.WithCancel(bg)
				waits := wait(ctx, of(p))
				time.Sleep(2*way + way/2)
				requireHolder(t, "rival:1", w.nodes[1:3])
				for _, n := range w.nodes[3:] {
					holder, _ := n.Holder(keys.Lock)
					require.NotEmpty(t, holder, "it has granted it")
				}
				time.Sleep(way)
				requireHolder(t, "", w.nodes[3:])
				cancel()
				require.Error(t, (<-waits).err)
			})
		})
	}
}

// After a long break, a network delivers what was sent at its beginning later than what is sent now, and the later the
// longer it was.
func TestMarkLivesTheLongerTheOlderTheClaim(t *testing.T) {
	ofEitherKind(t, []int{3}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		const outage, late = 30 * time.Second, 51 * time.Second
		far := w.nodes[0]
		m := of(w.process())
		start := time.Now()
		far.SetDelay(late, 0)
		l := w.lock(m)
		far.SetDelay(0, 0)
		far.Refuse(func([]string) bool { return true })
		require.NoError(t, l.Unlock(bg))
		time.Sleep(outage)
		far.Refuse(nil)
		time.Sleep(time.Until(start.Add(late + time.Second)))
		requireHolder(t, "", w.nodes)
		time.Sleep(outage)
		require.NotContains(t, far.Keys(), keys.Void(), "it is not kept for ever")
	})
}
