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

// One sign of life carries no more than some hundreds of waiters: there are as many as it takes.
func TestEveryWaiterOfACrowdGivesSignsOfLife(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		const waiters = 1001
		holder := w.process().queue(lock.WithTTL(time.Hour))
		l := w.lock(holder)
		p := w.process(lock.WithWaiterHeartbeat(20 * time.Second)) // fewer signs take less of a test
		for range waiters {
			wait(bg, p.queue())
		}
		time.Sleep(time.Minute)
		in, err := holder.Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, waiters, len(in.Queue))
		require.NoError(t, l.Unlock(bg))
	})
}

// A node that is slow to grant what a quorum refuses is free again as soon as it has said
// so: whose turn it is may need its vote. The waiter keeps its place there.
func TestLateYesOfARefusedRoundIsYielded(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		const trip = 100 * time.Millisecond
		w.lock(w.process().queue(lock.WithTTL(time.Hour), lock.WithoutWatchdog()))
		odd := w.nodes[0]
		odd.Memory().Del(keys.Lock)
		odd.SetDelay(0, trip)
		w.queueUp(bg)
		time.Sleep(trip / 2)
		requireHeld(t, w.nodes[:1])
		// One attempt comes before the queue, and its grant comes late as well; which of the
		// two the node executes first is open.
		freed := time.Now()
		for holder := "?"; holder != ""; holder, _ = odd.Holder(keys.Lock) {
			require.LessOrEqual(t, time.Since(freed), 2*trip)
			time.Sleep(trip / 9) // at no moment at which something happens
		}
		queue, err := odd.Memory().ZMembers(keys.Queue())
		require.NoError(t, err)
		require.Len(t, queue, 1)
	})
}

// Who has the lock does not wait for it.
func TestGrantTakesTheHoldOutOfEveryQueue(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		holder := w.process().queue()
		l := w.lock(holder)
		_, next := w.queueUp(bg)
		_, last := w.queueUp(bg)
		require.NoError(t, l.Unlock(bg))
		l = (<-next).lease
		time.Sleep(time.Second + beat/16) // between two signs of life
		in, err := holder.Inspect(bg)
		require.NoError(t, err)
		require.Len(t, in.Queue, 1)
		for _, n := range in.Nodes {
			require.Equal(t, in.Queue, n.Queue, n.Address)
		}
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, (<-last).lease.Unlock(bg))
	})
}

func TestWaitersOfManyProcessesAreServedInOrder(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		first := w.process(lock.WithWaiterHeartbeat(beat))
		l := w.lock(first.queue())
		var waiting []<-chan grant
		for range 3 {
			_, c := w.queueUp(bg)
			waiting = append(waiting, c, wait(bg, first.queue())) // in turns: the next is another's
			time.Sleep(time.Second + beat/16)
		}
		for i, c := range waiting {
			start := time.Now()
			require.NoError(t, l.Unlock(bg))
			synctest.Wait()
			require.Len(t, c, 1, "waiter %d", i)
			l = (<-c).after(t, start, 0, 0)
			time.Sleep(time.Second)
		}
		require.NoError(t, l.Unlock(bg))
	})
}

// Nobody but the head knows that the lock is free. If it does not want it any more, it tells.
func TestHeadThatLeavesAFreeLockWakesTheNext(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		w.lock(w.process().queue(lock.WithTTL(time.Hour), lock.WithoutWatchdog()))
		ctx, cancel := context.WithCancel(bg)
		_, first := w.queueUp(ctx)
		_, second := w.queueUp(bg)
		time.Sleep(20*time.Second + beat/16) // between two signs of life
		each(w.nodes, func(n *virtual.Node) { n.Memory().Del(keys.Lock) })
		start := time.Now()
		cancel()
		require.ErrorIs(t, (<-first).err, context.Canceled)
		(<-second).after(t, start, 0, 0)
	})
}

func TestQueueOfADeadCrowdGoesByItself(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		holder := w.process()
		w.lock(holder.queue(lock.WithTTL(10 * time.Second)))
		processes := []*process{holder}
		for range 3 {
			p, _ := w.queueUp(bg)
			processes = append(processes, p)
		}
		for _, p := range processes {
			p.Silence(true)
		}
		time.Sleep(time.Minute)
		for _, n := range w.nodes {
			require.Subset(t, []string{keys.Token()}, n.Keys(), n.Addr())
		}
	})
}
