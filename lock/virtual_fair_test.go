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

// beat is how long a waiter that has crashed may hold up those behind it.
const beat = 4 * time.Second

// queueUp has a new process wait behind those that do already.
func (w *world) queueUp(ctx context.Context) (*process, <-chan grant) {
	p := w.process(lock.WithWaiterHeartbeat(beat))
	c := wait(ctx, p.queue())
	synctest.Wait()
	return p, c
}

func TestWaiterThatIsCutOffIsDroppedAfterItsHeartbeat(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		first, _ := w.queueUp(bg)
		_, second := w.queueUp(bg)
		time.Sleep(20 * time.Second)
		first.Silence(true)
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		(<-second).after(t, start, beat/4, beat)
	})
}

func TestWaiterWhoseProcessIsKilledIsDroppedInAMoment(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		first, _ := w.queueUp(bg)
		_, second := w.queueUp(bg)
		time.Sleep(20 * time.Second)
		first.Kill()
		synctest.Wait()
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		(<-second).after(t, start, 0, 310*time.Millisecond) // it might connect again
	})
}

func TestLiveWaitersKeepTheirPlacesForHours(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		holder := w.process().queue(lock.WithTTL(time.Hour))
		l := w.lock(holder)
		var waiting []<-chan grant
		for range 2 {
			p := w.process(lock.WithWaiterHeartbeat(5 * time.Minute)) // fewer signs take less of a test
			waiting = append(waiting, wait(bg, p.queue()))
			synctest.Wait()
		}
		before, err := holder.Inspect(bg)
		require.NoError(t, err)
		require.Len(t, before.Queue, 2)
		time.Sleep(2 * time.Hour)
		now, err := holder.Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, before.Queue, now.Queue)
		for _, c := range waiting {
			start := time.Now()
			require.NoError(t, l.Unlock(bg))
			l = (<-c).after(t, start, 0, 0)
		}
		require.NoError(t, l.Unlock(bg))
	})
}

func TestHeadLooksWhenACrashedHoldersKeyEnds(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		alice := w.process()
		start := time.Now()
		w.lock(alice.queue(lock.WithTTL(10 * time.Second)))
		_, next := w.queueUp(bg)
		alice.Silence(true)
		(<-next).after(t, start, 10*time.Second, 10*time.Second+lookJitter)
	})
}

func TestLostWakeUpOfTheHeadCostsNoMoreThanASignOfLife(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		_, next := w.queueUp(bg)
		time.Sleep(20*time.Second + beat/16) // between two signs of life
		each(w.nodes, func(n *virtual.Node) { n.Mute(true) })
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		each(w.nodes, func(n *virtual.Node) { n.Mute(false) })
		(<-next).after(t, start, time.Nanosecond, beat/3+10*time.Millisecond)
	})
}

// A user may lack the right to channels, and a proxy may swallow messages.
func TestWaiterToWhomNothingIsEverToldWaitsNoLongerThanASignOfLife(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		each(w.nodes, func(n *virtual.Node) { n.Mute(true) })
		l := w.lock(w.process().queue())
		_, next := w.queueUp(bg)
		time.Sleep(20*time.Second + beat/16) // between two signs of life
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		(<-next).after(t, start, time.Nanosecond, beat/4+10*time.Millisecond)
	})
}

func TestShortestHeartbeatKeepsAllWaitersOfAProcessAlive(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		p := w.process()
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		slow := wait(ctx, p.queue(lock.WithWaiterHeartbeat(time.Minute)))
		synctest.Wait()
		first := wait(bg, p.queue())
		synctest.Wait()
		_, second := w.queueUp(bg)
		time.Sleep(20 * time.Second)
		cancel()
		require.Error(t, (<-slow).err)
		time.Sleep(3 * time.Second)
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		l = (<-first).after(t, start, 0, 0)
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, (<-second).err)
	})
}

func TestCancelledWaiterLeavesAtOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		_, first := w.queueUp(ctx)
		_, second := w.queueUp(bg)
		time.Sleep(20 * time.Second)
		start := time.Now()
		cancel()
		g := <-first
		require.ErrorIs(t, g.err, context.Canceled)
		require.Equal(t, start, g.at)
		require.NoError(t, l.Unlock(bg))
		next := (<-second).after(t, start, 0, 0)
		require.NoError(t, next.Unlock(bg))
		synctest.Wait()
		for _, n := range w.nodes {
			require.NotContains(t, n.Keys(), keys.Queue)
			require.NotContains(t, n.Keys(), keys.Waiters)
		}
	})
}
