package lock_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/readwrite"
)

// A node that was not told of a hold in time is given it as soon as it answers, like one that refused it:
// where it has no counter for the name it could not vouch, and the hold would be lost with one of those that granted it.

// outlives requires that l is kept when a node dies and is back empty.
func outlives(t *testing.T, w *world, n *virtual.Node, l *lock.Lease) {
	t.Helper()
	n.Kill()
	time.Sleep(defaultNodeTimeout)
	n.Start()
	w.loadScripts()
	time.Sleep(long)
	require.NoError(t, l.Err())
	require.NoError(t, l.Unlock(bg))
}

// stalled pauses a minority, and has p wait for it with so many claims that what comes then is dropped, unsent.
func stalled(p *process, w *world) {
	each(w.minority(), (*virtual.Node).Pause)
	var callers sync.WaitGroup
	for i := range 20 { // more than are tried at once
		callers.Go(func() {
			if l, err := reentrantAt(p, fmt.Sprint("before ", i)).TryLock(bg); err == nil {
				_ = l.Unlock(bg)
			}
		})
		time.Sleep(defaultNodeTimeout + time.Millisecond)
	}
	callers.Wait()
}

func TestNodesThatWereSilentAtTheGrantHaveTheHoldSoonAfter(t *testing.T) {
	ofEitherKind(t, []int{3, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		p := w.probing(virtual.NewHost(w.nodes))
		stalled(p, w)
		l := w.lock(of(p))
		time.Sleep(time.Second)
		requireHolder(t, "", w.minority())
		each(w.minority(), (*virtual.Node).Resume)
		time.Sleep(2 * time.Second)
		requireHolder(t, l.ID(), w.nodes)
		outlives(t, w, w.nodes[len(w.nodes)-1], l)
	})
}

// Who never heard of a node cannot hear that it is back.
func TestNodeThatIsAwayWhenAClientStartsHasItsHoldsWhenItComes(t *testing.T) {
	ofEitherKind(t, []int{3, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		each(w.minority(), (*virtual.Node).Kill)
		l := w.lock(of(w.probing(virtual.NewHost(w.nodes))))
		time.Sleep(time.Second)
		each(w.minority(), (*virtual.Node).Start)
		w.loadScripts()
		time.Sleep(3 * time.Second)
		requireHolder(t, l.ID(), w.nodes)
		outlives(t, w, w.nodes[len(w.nodes)-1], l)
	})
}

// A node is back, and what it lacks has been listed, before a claim that it was not told of is granted, or
// that it has forgotten.
func TestNodeThatIsBackBeforeTheGrantHasTheHoldSoonAfter(t *testing.T) {
	const trip = 150 * time.Millisecond // two of them are more than the node timeout
	for name, fault := range map[string]struct{ before, meanwhile func(p *process, w *world) }{
		"it was silent": {stalled, func(_ *process, w *world) {
			time.Sleep(defaultNodeTimeout + 10*time.Millisecond)
			each(w.minority(), (*virtual.Node).Resume)
		}},
		"it forgot": {func(*process, *world) {}, func(_ *process, w *world) {
			time.Sleep(20 * time.Millisecond)
			each(w.minority(), (*virtual.Node).Restart)
			w.loadScripts()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				p := w.process(lock.WithTTL(time.Hour))
				fault.before(p, w)
				for i, n := range w.nodes { // they disagree, so there is a second round
					require.NoError(t, n.Memory().Set(keys.Token(), fmt.Sprint(i+2)))
				}
				each(w.quorum(), func(n *virtual.Node) { n.SetDelay(0, trip) })
				began := time.Now()
				granted := wait(bg, p.mutex())
				fault.meanwhile(p, w)
				others := 0
				ask := func() {
					others++
					name := fmt.Sprint("other ", others)
					go func() { _, _ = reentrantAt(p, name).TryLock(bg) }()
					time.Sleep(20 * time.Millisecond)
				}
				for range 3 { // the process notices the restart, and that the node is back
					ask()
				}
				require.Empty(t, granted)
				l := await(t, granted).after(t, began, 2*trip, 4*trip) // others are under way
				each(w.quorum(), func(n *virtual.Node) { n.SetDelay(0, 0) })
				// A connection from before the restart may be left, and take the repair. Then the node is
				// down until the next command finds it back.
				for range 10 {
					ask()
				}
				time.Sleep(time.Second)
				requireHolder(t, l.ID(), w.nodes)
				require.NoError(t, l.Unlock(bg))
			})
		})
	}
}

// A node that refuses for a while, as it has no memory or is loading, has the hold when it does no more.
func TestNodeThatCannotTakeTheHoldIsAskedAgain(t *testing.T) {
	ofEitherKind(t, []int{3, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		p := w.process()
		each(w.minority(), func(n *virtual.Node) { n.Refuse(virtual.Name("EVALSHA", "EVAL")) })
		l := w.lock(of(p))
		time.Sleep(time.Second)
		requireHolder(t, "", w.minority())
		each(w.minority(), func(n *virtual.Node) { n.Refuse(nil) })
		time.Sleep(2 * time.Second)
		requireHolder(t, l.ID(), w.nodes)
		require.LessOrEqual(t, len(renewals(w.nodes[len(w.nodes)-1])), 5)
		require.NoError(t, l.Unlock(bg))
	})
}

// One that goes on so is asked less and less often; and one that is down, not at all.
func TestNodeThatGoesOnToLackTheHoldCostsFewRenewals(t *testing.T) {
	for name, fault := range map[string]func(*virtual.Node){
		"refuses": func(n *virtual.Node) { n.Refuse(virtual.Name("EVALSHA", "EVAL")) },
		"silent":  func(n *virtual.Node) { n.Silence(true) },
		"paused":  (*virtual.Node).Pause,
		"dead":    (*virtual.Node).Kill,
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				p := w.process()
				each(w.minority(), fault)
				l := w.lock(p.mutex())
				time.Sleep(defaultTTL)
				asked := len(renewals(w.nodes[len(w.nodes)-1]))
				if name == "refuses" {
					require.LessOrEqual(t, asked, 10)
				} else {
					require.LessOrEqual(t, asked, 5)
				}
				time.Sleep(10 * defaultTTL)
				require.LessOrEqual(t, len(renewals(w.nodes[len(w.nodes)-1]))-asked, 36, "as often as any hold")
				require.NoError(t, l.Unlock(bg))
			})
		})
	}
}

// A node may take no repair at the very moment, and takes one later.
func TestRepairThatFailsIsTriedAgain(t *testing.T) {
	ofEitherKind(t, []int{3, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		p := w.process(lock.WithTTL(time.Hour))
		l := w.lock(of(p))
		n := w.nodes[0]
		n.Kill()
		require.NoError(t, w.lock(reentrantAt(p, "other")).Unlock(bg)) // it is noticed
		n.Start()
		n.Refuse(runs(lua.Repair{}))
		time.Sleep(time.Second)
		require.NoError(t, w.lock(reentrantAt(p, "other")).Unlock(bg)) // so is this
		time.Sleep(time.Second)
		requireHolder(t, "", w.nodes[:1])
		n.Refuse(nil)
		w.loadScripts()
		time.Sleep(3 * time.Second)
		requireHolder(t, l.ID(), w.nodes)
		require.NoError(t, l.Unlock(bg))
	})
}

// Who asks for tokens, to pass a name on, finds what a renewal finds, and nodes that lack the hold may vouch for it.
func TestTenureOfABareQuorumOutlivesOneOfItsNodes(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.bareQuorum(p.mutex())
		w.nodes[0].Delete(keys.Lock)
		grants := line(p.mutex(), 1) // tokens are asked for, before a renewal
		time.Sleep(long)
		require.NoError(t, l.Err())
		requireHolder(t, l.ID(), w.nodes)
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, await(t, grants).lease.Unlock(bg))
	})
}

// Those who read ask whether others may join them. Nodes that have forgotten them may vouch for them, too.
func TestReadersOutliveNodesThatForgetThem(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		m := readwrite.New(w.process().locks, "orders")
		require.NoError(t, w.lock(m).Unlock(bg))
		time.Sleep(time.Minute) // nodes that have run for a while vouch
		readers := m.RLocker()
		l := w.lock(readers)
		time.Sleep(30 * time.Millisecond)
		each(w.nodes[1:], func(n *virtual.Node) { n.Delete(keys.Lock) })
		joined := w.lock(readers)
		require.Equal(t, l.Deadline(), joined.Deadline(), "it has joined")
		synctest.Wait()
		apart := w.lock(readers) // nobody joins what no quorum has
		require.NotContains(t, apart.ID(), l.ID())
		time.Sleep(time.Minute)
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		time.Sleep(defaultTTL / 2)
		each(w.quorum(), func(n *virtual.Node) { n.Silence(false) })
		time.Sleep(long)
		require.NoError(t, l.Err(), "a renewal that fails later is one like any other")
		require.NoError(t, joined.Err())
		require.NoError(t, apart.Unlock(bg))
		requireHolder(t, l.ID(), w.nodes)
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, joined.Unlock(bg))
	})
}
