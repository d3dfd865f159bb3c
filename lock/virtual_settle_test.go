package lock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// Every lost lease has to be unlocked before its owner can take the lock again, as each stands for
// code that believes to be inside. One that is unlocked twice is one.
func TestALostLeaseIsSettledByItsOwnUnlock(t *testing.T) {
	ofEitherKind(t, []int{1, 3}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		p := w.process(lock.WithoutWatchdog(), lock.WithTTL(5*time.Second))
		ctx := lock.WithOwner(bg)
		outer, err := of(p).Lock(ctx)
		require.NoError(t, err)
		inner, err := of(p).Lock(ctx)
		require.NoError(t, err)
		each(w.nodes, (*virtual.Node).Flush)
		awaitEnd(t, outer)
		awaitEnd(t, inner)
		for range 3 {
			require.ErrorIs(t, inner.Unlock(bg), lock.ErrLost)
			_, err = of(p).TryLock(ctx)
			require.ErrorIs(t, err, lock.ErrLost)
		}
		require.ErrorIs(t, outer.Unlock(bg), lock.ErrLost)
		again, err := of(p).TryLock(ctx)
		require.NoError(t, err)
		require.NoError(t, again.Unlock(bg))
	})
}

// The end of one lease, unlocked twice or lost, is not that of the others of its hold.
func TestALeaseThatEndsTwiceEndsNoOther(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		outer := w.lock(m)
		ctx := outer.Context(bg)
		inner, err := m.Lock(ctx)
		require.NoError(t, err)
		require.NoError(t, inner.Unlock(bg))
		for range 3 {
			require.ErrorIs(t, inner.Unlock(bg), lock.ErrReleased)
		}
		require.NoError(t, outer.Err())
		again, err := m.TryLock(ctx)
		require.NoError(t, err)
		require.Equal(t, 2, again.Count())
		require.NoError(t, again.Unlock(bg))
		synctest.Wait()
		requireHolder(t, outer.ID(), w.nodes)
		require.NoError(t, outer.Unlock(bg))
		synctest.Wait()
		requireHolder(t, "", w.nodes)
	})
}

// A holder whose keys are gone need not wait for its next renewal to learn of it if the next one
// is of its own process.
func TestAHolderLearnsAtOnceThatAnotherOfItsProcessHasTheLock(t *testing.T) {
	ofEitherKind(t, []int{1, 3}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		p := w.process()
		first := w.lock(of(p))
		ctx := first.Context(bg)
		each(w.nodes, (*virtual.Node).Flush)
		second := w.lock(of(p))
		requireLost(ctx, t, first)
		require.ErrorIs(t, first.Unlock(bg), lock.ErrLost)
		require.NoError(t, second.Err())
		require.NoError(t, second.Unlock(bg))
	})
}

// Half of an even number of nodes are as good as a quorum that has forgotten the hold: no quorum
// has it any more.
func TestUnlockTellsThatHalfOfTheNodesHaveForgottenTheLock(t *testing.T) {
	inVirtualTime(t, []int{2, 3, 4, 5}, func(t *testing.T, w *world) {
		n := len(w.nodes)
		for forgetful := range n + 1 {
			l := w.lock(w.process().mutex(lock.WithoutWatchdog()))
			each(w.nodes[:forgetful], func(n *virtual.Node) { n.Memory().Del(keys.Lock) })
			each(w.nodes[forgetful:], func(n *virtual.Node) { n.SetDelay(0, time.Millisecond) }) // the others answer first
			err := l.Unlock(bg)
			each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
			if n-forgetful >= n/2+1 {
				require.NoError(t, err, "%d of %d", forgetful, n)
			} else {
				require.ErrorIs(t, err, lock.ErrLost, "%d of %d", forgetful, n)
			}
			time.Sleep(time.Second)
			requireHolder(t, "", w.nodes)
		}
	})
}
