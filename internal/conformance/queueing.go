package conformance

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/fifo"
	"github.com/holdfast-go/holdfast/lock"
)

// What only locks promise whose waiters stand in a queue (I7).
var queueing = rules{
	"WaitersAreServedInTheOrderOfTheirArrival": func(t *stage) {
		a, b := t.client(), t.client()
		lease := t.acquire(bg, t.on(a))
		var line []*call
		for _, c := range []*lock.Client{a, b, b, a, b, a} {
			line = append(line, t.asleep(bg, t.on(c)))
		}
		queue := t.inspect(t.on(a)).Queue
		require.Len(t, queue, len(line))
		for i, next := range line {
			t.unlock(lease)
			lease = next.granted(t)
			require.Equal(t, queue[i], fifo.Waited(lease.ID()), "Inspect shows with which id who is served has waited")
			for _, later := range line[i+1:] {
				require.False(t, later.over())
			}
		}
		t.unlock(lease)
	},

	"WhoIsServedLeavesTheQueue": func(t *stage) {
		l := t.locker()
		lease := t.acquire(bg, l)
		first, second := t.asleep(bg, l), t.asleep(bg, l)
		t.unlock(lease)
		lease = first.granted(t)
		t.eventually(func() bool {
			return !slices.ContainsFunc(t.inspect(l).Nodes, func(n lock.NodeState) bool {
				return len(n.Queue) != 1 || n.Queue[0] == lease.ID()
			})
		}, "every node has the other one alone")
		t.unlock(lease)
		t.unlock(second.granted(t))
	},

	"WhoCancelsLeavesTheQueueAtOnce": func(t *stage) {
		l := t.locker()
		lease := t.acquire(bg, l)
		ctx, cancel := context.WithCancel(bg)
		first := t.asleep(bg, t.locker())
		second := t.asleep(ctx, t.locker())
		third := t.asleep(bg, t.locker())
		before := t.inspect(l).Queue
		cancel()
		require.ErrorIs(t, second.failed(t), context.Canceled)
		t.eventually(func() bool { return slices.Equal(t.inspect(l).Queue, []string{before[0], before[2]}) }, "the others stay in order")
		t.unlock(lease)
		t.unlock(first.granted(t))
		t.unlock(third.granted(t))
	},

	"TryLockDoesNotJumpTheQueue": func(t *stage) {
		mine, theirs := t.locker(), t.locker()
		lease := t.acquire(bg, mine)
		const waiters = 5
		var served atomic.Int64
		done := make(chan error)
		for range waiters {
			next := t.asleep(bg, theirs)
			go func() {
				<-next.done
				if next.err == nil {
					served.Add(1)
					next.err = next.lease.Unlock(bg)
				}
				done <- next.err
			}()
		}
		t.unlock(lease)
		t.eventually(func() bool {
			lease, err := mine.TryLock(bg)
			if err != nil {
				return false
			}
			require.EqualValues(t, waiters, served.Load(), "those in the queue are first")
			t.unlock(lease)
			return true
		}, "the queue has been served")
		for range waiters {
			require.NoError(t, <-done)
		}
	},

	"HeadIsWhoHasTheTurn": func(t *stage) {
		l := t.locker()
		lease := t.acquire(bg, l)
		next := t.asleep(bg, t.locker())
		t.unlock(lease)
		// Somebody else finds it taken, or promised: in either case to the head.
		if _, err := t.try(l); err != nil {
			require.ErrorIs(t, err, lock.ErrLocked)
		}
		t.unlock(next.granted(t))
	},
}
