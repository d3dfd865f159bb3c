package lock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// usurp has other take the lock from under its holder, on so many nodes.
func usurp(t *testing.T, w *world, other *process) *lock.Lease {
	t.Helper()
	each(w.nodes, func(n *virtual.Node) { n.Memory().Del(keys.Lock) })
	return w.lock(other.mutex())
}

func TestWhoseOrderIsRefusedGoesOnWaiting(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		p, other := w.process(), w.process()
		l := w.lock(p.mutex())
		grants := line(p.mutex(), 2)
		taken := usurp(t, w, other)
		require.ErrorIs(t, l.Unlock(bg), lock.ErrLost) // with an order for the first of them
		time.Sleep(time.Millisecond)
		select {
		case g := <-grants:
			t.Fatalf("two have it: %+v", g)
		default:
		}
		start := time.Now()
		require.NoError(t, taken.Unlock(bg))
		l = (<-grants).after(t, start, 0, 0)
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, (<-grants).after(t, start, 0, 0).Unlock(bg))
	})
}

func TestWhoLeavesItsOrderLetsTheNextOneHaveTheLock(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		const trip = 50 * time.Millisecond
		p := w.process()
		l := w.lock(p.mutex())
		ctx, cancel := context.WithCancel(bg)
		leaving := wait(ctx, p.mutex())
		synctest.Wait()
		next := wait(bg, p.mutex())
		time.Sleep(time.Minute)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
		start := time.Now()
		time.AfterFunc(trip/4, cancel) // the order is on its way
		require.NoError(t, l.Unlock(bg))
		require.ErrorIs(t, (<-leaving).err, context.Canceled)
		// The order's answer, its release, and an attempt.
		require.NoError(t, (<-next).after(t, start, trip, 4*trip).Unlock(bg))
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
		time.Sleep(time.Minute)
		requireHolder(t, "", w.nodes)
	})
}
