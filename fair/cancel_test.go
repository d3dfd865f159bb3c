package fair_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/fifo"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// Waiters that give up. The heartbeat is a minute, so it is not what clears the queue.

func TestCancelledWaiterLeavesEveryNodeAtOnce(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		lease := r.hold(t)
		c := here{r.client(t, calm)}
		first := r.enqueue(t, c, "first")
		second := r.enqueue(t, here{r.client(t, calm)}, "second")
		third := r.enqueue(t, c, "third")
		first.giveUp(t) // the head
		r.requireGone(t, first)
		third.giveUp(t) // the last
		r.requireGone(t, third)
		require.NoError(t, lease.Unlock(bg))
		second.requireGranted(t, promptly)
		require.NoError(t, second.unlock())
		r.requireOrder(t)
		r.requireDrained(t)
	})
}

// requireGone waits until no node has the call in its queue.
func (r *rig) requireGone(t *testing.T, c *call) {
	t.Helper()
	start := time.Now()
	redistest.Eventually(t, promptly, func() bool {
		for _, queue := range fifo.Look(bg, r.keys(), r.eyes) {
			if slices.ContainsFunc(queue, func(p fifo.Place) bool { return p.Hold == c.hold }) {
				return false
			}
		}
		return true
	}, "it has left every queue")
	t.Logf("gone after %v", time.Since(start))
}

func TestHeadThatIsCancelledWhileTheLockIsFreeWakesTheNext(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	lease := r.hold(t)
	c, proxies := r.proxied(t, calm)
	first := r.enqueue(t, here{c}, "first")
	second := r.enqueue(t, here{r.client(t, calm)}, "second")
	// It is woken and its next attempt is under way for ever, when it gives up.
	var held []*redistest.Held
	for _, p := range proxies {
		held = append(held, p.Hold(askCall, 1))
	}
	require.NoError(t, lease.Unlock(bg))
	for _, h := range held {
		h.Wait(t)
	}
	require.False(t, second.over())
	first.giveUp(t)
	second.requireGranted(t, promptly)
	for _, h := range held {
		h.Release()
	}
	require.NoError(t, second.unlock())
	r.requireOrder(t)
	r.requireDrained(t)
}

func TestLateEnqueueOfACancelledWaiterIsNoGhost(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 5} {
		r := newRig(t, n)
		lease := r.hold(t, calm)
		gone := here{r.client(t, calm)}
		// It knows the nodes, and listens.
		before := r.enqueue(t, gone, "before")
		next := here{r.client(t, calm)}

		stopped := r.servers[:max(1, n/2)]
		for _, s := range stopped {
			s.Pause()
		}
		ghost := gone.lock(r, "ghost")
		if n > 1 {
			redistest.Eventually(t, within, func() bool { return r.waiting() == 2 }, "it waits on the other nodes")
		}
		ghost.giveUp(t)
		for _, s := range stopped {
			s.Resume() // and runs what it was sent
		}
		second := r.enqueue(t, next, "second")
		require.NoError(t, lease.Unlock(bg))
		before.requireGranted(t, promptly)
		require.NoError(t, before.unlock())
		second.requireGranted(t, promptly)
		require.NoError(t, second.unlock())
		r.requireOrder(t)
		r.requireDrained(t)
	}
}

func TestEnqueueThatTheNetworkDeliversLateIsNoGhost(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := newRig(t, n)
		lease := r.hold(t, calm)
		c, proxies := r.proxied(t, calm)
		before := r.enqueue(t, here{c}, "before")
		var held []*redistest.Held
		for _, p := range proxies {
			held = append(held, p.Hold(askCall, 1))
		}
		ghost := here{c}.lock(r, "ghost")
		for _, h := range held {
			h.Wait(t)
		}
		ghost.giveUp(t)
		// The leave has overtaken it: only the mark can refuse it now.
		for _, eye := range r.eyes {
			redistest.Eventually(t, within, func() bool { return eye.Exists(bg, r.keys().Void()).Val() == 1 }, "the ghost is void")
		}
		for _, h := range held {
			h.Release()
		}
		second := r.enqueue(t, here{r.client(t, calm)}, "second")
		require.NoError(t, lease.Unlock(bg))
		before.requireGranted(t, promptly)
		require.NoError(t, before.unlock())
		second.requireGranted(t, promptly)
		require.NoError(t, second.unlock())
		r.requireDrained(t)
	}
}
