package lock_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// An owner's commands about a lock take turns: a fixed lease asks the nodes for its time, and with
// silent nodes that takes a node timeout.

// A lateEnd is a context that has ended, but that nobody can ask about before it says so.
type lateEnd struct {
	context.Context
	says <-chan struct{}
}

func (e lateEnd) Done() <-chan struct{} {
	<-e.says
	return e.says
}

func (e lateEnd) Err() error {
	select {
	case <-e.says:
		return context.Canceled
	default:
		return nil
	}
}

// A turn that comes at the moment when its waiter gives up is that of the next one.
func TestTurnThatComesAsItsWaiterGivesUpIsPassedOn(t *testing.T) {
	rounds := slices.Repeat([]int{1}, 20) // whether it takes the turn or gives up is a matter of chance
	inVirtualTime(t, rounds, func(t *testing.T, w *world) {
		p := w.process()
		asks := p.mutex(lock.WithoutWatchdog())
		scope := lock.WithOwner(bg)
		w.lockIn(scope, p.mutex())
		time.Sleep(time.Second)
		each(w.nodes, func(n *virtual.Node) { n.Silence(true) })
		first := wait(scope, asks)
		synctest.Wait()
		says := make(chan struct{})
		second := wait(lateEnd{scope, says}, asks)
		synctest.Wait()
		require.NoError(t, (<-first).err) // so the turn is the second one's
		close(says)
		require.Error(t, (<-second).err)
		select {
		case g := <-wait(scope, asks):
			require.NoError(t, g.err)
		case <-time.After(defaultTTL / 2):
			require.Fail(t, "nobody has the turn")
		}
	})
}

// The Unlock of an inner lease asks nobody, and waits for nobody.
func TestUnlockOfAnInnerLeaseWaitsForNoTurn(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		scope := lock.WithOwner(bg)
		w.lockIn(scope, p.mutex())
		inner := w.lockIn(scope, p.mutex())
		time.Sleep(time.Second)
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		asks := wait(scope, p.mutex(lock.WithoutWatchdog()))
		synctest.Wait()
		start := time.Now()
		require.NoError(t, inner.Unlock(bg))
		require.Equal(t, start, time.Now())
		require.NoError(t, (<-asks).err)
		require.Equal(t, defaultNodeTimeout, time.Since(start), "it had the turn")
	})
}

// Nor does the release wait for more than the command that has the turn.
func TestUnlockDoesNotWaitForTheReentriesOfItsOwner(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		m, asks := p.mutex(), p.mutex(lock.WithoutWatchdog()) // a fixed lease asks the nodes for its time
		ctx, cancel := context.WithTimeout(lock.WithOwner(bg), 5*time.Second)
		defer cancel()
		outer, err := m.Lock(ctx)
		require.NoError(t, err)
		time.Sleep(time.Second)
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() { _, _ = asks.Lock(ctx) })
		}
		time.Sleep(defaultNodeTimeout / 2) // one of them asks, the others wait for their turns
		start := time.Now()
		_ = outer.Unlock(bg)
		require.LessOrEqual(t, time.Since(start), defaultNodeTimeout)
		callers.Wait()
	})
}
