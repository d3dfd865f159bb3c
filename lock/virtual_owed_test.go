package lock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// Whoever locks once and ends, as a command does, has nobody else to make a release that was refused.
func TestCloseMakesTheReleasesThatNodesHaveRefused(t *testing.T) {
	for _, kind := range []string{"reentrant", "fair"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
				p := w.process()
				l := w.lock(p.kinds()[kind])
				each(w.nodes, func(n *virtual.Node) { n.Refuse(virtual.Name("HDEL")) })
				require.ErrorIs(t, l.Unlock(bg), redlock.ErrNoQuorum)
				each(w.nodes, func(n *virtual.Node) { n.Refuse(nil) })
				start := time.Now()
				require.NoError(t, p.locks.Close())
				requireHolder(t, "", w.nodes)
				require.Less(t, time.Since(start), defaultNodeTimeout, "it waits for no more")
			})
		})
	}
}

// A quorum is enough for Unlock. But a node that keeps the hold may be one that others need.
func TestCloseMakesTheReleasesThatAMinorityHasRefused(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex())
		synctest.Wait() // all have it
		each(w.minority(), func(n *virtual.Node) { n.Refuse(virtual.Name("HDEL")) })
		require.NoError(t, l.Unlock(bg))
		each(w.minority(), func(n *virtual.Node) { n.Refuse(nil) })
		require.NoError(t, p.locks.Close())
		requireHolder(t, "", w.nodes)
	})
}

// Close may be what the connections break at, and a release may still be in flight when it comes.
func TestCloseMakesItsOwnReleasesAgain(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		h := virtual.NewHost(w.nodes)
		p := w.processOn(h)
		l := w.lock(p.mutex())
		synctest.Wait()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(2*time.Millisecond, 2*time.Millisecond) })
		time.AfterFunc(time.Millisecond, h.Reset)
		start := time.Now()
		require.NoError(t, p.locks.Close())
		requireHolder(t, "", w.nodes)
		require.Less(t, time.Since(start), 2*defaultNodeTimeout)
		require.ErrorIs(t, l.Err(), lock.ErrReleased)
	})
}

// A node that goes on refusing has its time, and no more. Whether the lock is free is up to a quorum.
func TestCloseEndsWhenNodesGoOnRefusing(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		p := w.process()
		w.lock(p.mutex())
		synctest.Wait()
		refusing := w.nodes
		if len(w.nodes) > 1 {
			refusing = w.minority()
		}
		each(refusing, func(n *virtual.Node) { n.Refuse(virtual.Name("HDEL")) })
		start := time.Now()
		err := p.locks.Close()
		require.LessOrEqual(t, time.Since(start), 3*defaultNodeTimeout)
		if len(w.nodes) > 1 {
			require.NoError(t, err)
			return
		}
		require.ErrorIs(t, err, redlock.ErrNoQuorum)
		require.ErrorContains(t, err, "a lock was not given back")
	})
}

// A node that is silent executes what it was sent when it goes on.
func TestCloseIsBoundedWhenSilentNodesAreOwedARemoval(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex())
		synctest.Wait()
		each(w.minority(), (*virtual.Node).Pause)
		require.NoError(t, l.Unlock(bg))
		time.Sleep(time.Second)
		start := time.Now()
		require.NoError(t, p.locks.Close())
		require.LessOrEqual(t, time.Since(start), closeBound)
		each(w.minority(), (*virtual.Node).Resume)
		time.Sleep(time.Second)
		requireHolder(t, "", w.nodes)
	})
}

// A server that has crashed confirms nothing, and every command that locks once would be late.
func TestCloseDoesNotWaitForADeadNode(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex())
		synctest.Wait()
		dead := w.nodes
		if len(w.nodes) > 1 {
			dead = w.minority()
		}
		each(dead, (*virtual.Node).Kill)
		_ = l.Unlock(bg)
		time.Sleep(2 * time.Second)
		start := time.Now()
		require.NoError(t, p.locks.Close())
		require.Less(t, time.Since(start), defaultNodeTimeout)
	})
}

// One connection that is stuck is not a silent node: others get through beside it.
func TestCloseMakesReleasesBesideAStuckConnection(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex())
		synctest.Wait()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 5*defaultNodeTimeout) })
		stuck := make(chan error)
		go func() {
			_, err := reentrant.New(p.locks, "stuck").TryLock(bg)
			stuck <- err
		}()
		synctest.Wait()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) }) // what it gives back, and repeats, is not to be stuck, too
		require.Error(t, <-stuck)
		require.NoError(t, w.lock(reentrant.New(p.locks, "beside")).Unlock(bg))
		each(w.nodes, func(n *virtual.Node) { n.Refuse(virtual.Name("HDEL")) })
		require.ErrorIs(t, l.Unlock(bg), redlock.ErrNoQuorum)
		each(w.nodes, func(n *virtual.Node) { n.Refuse(nil) })
		require.NoError(t, p.locks.Close())
		requireHolder(t, "", w.nodes)
	})
}
