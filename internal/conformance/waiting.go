package conformance

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// calm keeps a queue's signs of life, which have the head of a free lock woken, from
// standing in for the wake-up that a rule is about.
var calm = lock.WithWaiterHeartbeat(time.Minute)

var waiting = rules{
	"LockBlocksUntilTheLockIsFree": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		next := t.asleep(bg, t.locker())
		require.NoError(t, lease.Err())
		t.unlock(lease)
		t.unlock(next.granted(t))
	},

	"ReleaseWakesAWaiterOfAnotherProcess": func(t *stage) {
		holder, l := t.locker(), t.locker(calm)
		t.requirePrompt(func() bool {
			lease := t.acquire(bg, holder)
			next := t.asleep(bg, l)
			t.unlock(lease)
			got, prompt := next.prompt(t)
			t.unlock(got)
			return prompt
		})
	},

	"ReleaseWakesAWaiterOfTheSameProcess": func(t *stage) {
		l := t.locker(calm)
		for range 3 {
			t.requirePrompt(func() bool {
				lease := t.acquire(bg, l)
				next := start(bg, l)
				t.unlock(lease)
				got, prompt := next.prompt(t)
				t.unlock(got)
				return prompt
			})
		}
	},

	"PartialUnlockWakesNobody": func(t *stage) {
		l := t.locker()
		outer := t.acquire(bg, l)
		inner := t.acquire(outer.Context(bg), l)
		next := t.asleep(bg, t.locker())
		t.unlock(inner)
		t.requireTaken(l, outer)
		require.False(t, next.over())
		t.unlock(outer)
		t.unlock(next.granted(t))
	},

	"ContextBoundsTheWaitOnly": func(t *stage) {
		l := t.locker(lock.WithTTL(shortTTL))
		first := t.acquire(bg, t.locker())
		ctx, cancel := context.WithTimeout(bg, within)
		defer cancel()
		next := t.asleep(ctx, l)
		t.unlock(first)
		lease := next.granted(t)
		cancel()
		before := lease.Deadline()
		t.eventually(func() bool { return lease.Deadline().After(before) || lease.Err() != nil }, "it is renewed")
		require.NoError(t, lease.Err())
		require.NoError(t, lease.Err())
		t.requireTaken(l, lease)
		t.unlock(lease)
	},

	"CrashedHolderBlocksForATTLAtMost": func(t *stage) {
		const ttl = 500 * time.Millisecond
		l := t.locker(calm)
		t.requirePrompt(func() bool {
			since := time.Now()
			for _, n := range t.nodes {
				n.give(t, t.keys().Lock, "crashed", ttl)
			}
			t.unlock(t.acquire(bg, l))
			return time.Since(since) < ttl+promptly
		})
	},

	"EveryWaiterOfACrowdIsServed": func(t *stage) {
		a, b := t.client(), t.client()
		lease := t.acquire(bg, t.on(a))
		waiting := []*call{t.asleep(bg, t.on(a)), t.asleep(bg, t.on(b))}
		for range 8 {
			waiting = append(waiting, start(bg, t.on(a)), start(bg, t.on(b)))
		}
		served := make(chan error)
		for _, c := range waiting {
			go func() {
				<-c.done
				if c.err == nil {
					c.err = c.lease.Unlock(bg)
				}
				served <- c.err
			}()
		}
		t.unlock(lease)
		for range waiting {
			require.NoError(t, <-served)
		}
	},
}
