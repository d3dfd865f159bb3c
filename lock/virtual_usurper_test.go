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

// The nodes were not asked when the name was passed on. They are soon.
func TestWhoIsPassedANameThatAnotherHasTakenLosesIt(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		const trip = 800 * time.Microsecond
		p, other := w.process(), w.process()
		l := w.lock(p.mutex())
		grants := line(p.mutex(), 2)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
		time.Sleep(30 * time.Millisecond)
		taken := usurp(t, w, other)
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		l = (<-grants).after(t, start, 0, 0)
		<-l.Done()
		require.ErrorIs(t, l.Err(), lock.ErrLost)
		require.LessOrEqual(t, time.Since(start), 3*trip)
		require.Empty(t, grants, "the other has it")
		require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
		start = time.Now()
		require.NoError(t, taken.Unlock(bg))
		require.NoError(t, (<-grants).after(t, start, trip, 10*trip).Unlock(bg))
	})
}

func TestWhoLeavesAnAttemptLetsTheNextOneHaveTheLock(t *testing.T) {
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
		time.AfterFunc(trip/4, cancel) // the attempt is on its way
		require.NoError(t, l.Unlock(bg))
		require.ErrorIs(t, (<-leaving).err, context.Canceled)
		// The attempt's answer, its release, and an attempt.
		require.NoError(t, (<-next).after(t, start, trip, 4*trip).Unlock(bg))
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
		time.Sleep(time.Minute)
		requireHolder(t, "", w.nodes)
	})
}
