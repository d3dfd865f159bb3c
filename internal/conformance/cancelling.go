package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"
)

// Whoever gives up waiting gives back everything.
var cancelling = rules{
	"WaiterBehindOthersSaysWhoHasTheLock": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		l := t.locker()
		ctx, cancel := context.WithCancel(bg)
		first := t.asleep(ctx, l)
		short, done := context.WithTimeout(bg, time.Second)
		defer done()
		second := start(short, l).failed(t)
		require.ErrorIs(t, second, context.DeadlineExceeded)
		require.Equal(t, lease.ID(), second.Holder)
		cancel()
		require.ErrorIs(t, first.failed(t), context.Canceled)
		t.unlock(lease)
	},

	"WaitEndsWithTheDeadline": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		l := t.locker()
		const bound = time.Second
		before := time.Now()
		ctx, cancel := context.WithTimeout(bg, bound)
		defer cancel()
		err := start(ctx, l).failed(t)
		require.GreaterOrEqual(t, time.Since(before), bound)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, lease.ID(), err.Holder)
		require.LessOrEqual(t, err.Waited, time.Since(before))
		require.Less(t, err.Waited, bound+within/3)
		t.unlock(lease)
	},

	"CauseOfTheCancellationIsVisible": func(t *stage) {
		cause := errors.New("the client hung up")
		ctx, cancel := context.WithCancelCause(bg)
		lease := t.acquire(bg, t.locker())
		waiting := t.asleep(ctx, t.locker())
		cancel(cause)
		err := waiting.failed(t)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, cause)
		t.unlock(lease)
	},

	"LockUnderADoneContextTouchesNothing": func(t *stage) {
		ctx, cancel := context.WithCancel(bg)
		cancel()
		require.ErrorIs(t, start(ctx, t.locker()).failed(t), context.Canceled)
		t.requireUntouched()
	},

	"CancelledWaiterIsInNobodysWay": func(t *stage) {
		holder, l := t.locker(), t.locker(calm)
		t.requirePrompt(func() bool {
			lease := t.acquire(bg, holder)
			ctx, cancel := context.WithCancel(bg)
			first := t.asleep(ctx, l)
			second := start(bg, l)
			cancel()
			require.ErrorIs(t, first.failed(t), context.Canceled)
			require.False(t, second.over())
			t.unlock(lease)
			next, prompt := second.prompt(t)
			t.unlock(next)
			return prompt
		})
	},

	"CancellationAtAnyMomentGivesEverythingBack": func(t *stage) {
		l := t.locker()
		for i := range 30 {
			ctx, cancel := context.WithCancel(bg)
			waiting := start(ctx, l)
			timer := time.AfterFunc(time.Duration(i)*50*time.Microsecond, cancel)
			t.await(waiting.done, "an end")
			if timer.Stop() {
				cancel()
			}
			if waiting.err == nil {
				t.unlock(waiting.lease)
			} else {
				require.ErrorIs(t, waiting.err, context.Canceled)
			}
		}
		lease := t.acquire(bg, t.locker(calm))
		t.unlock(lease)
		t.requireClean()
	},

	"CancellationOfACrowdGivesEverythingBack": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		l := t.locker()
		ctx, cancel := context.WithCancel(bg)
		crowd := []*call{t.asleep(ctx, l)}
		for range 20 {
			crowd = append(crowd, start(ctx, l))
		}
		cancel()
		for _, c := range crowd {
			require.ErrorIs(t, c.failed(t), context.Canceled)
		}
		t.eventually(func() bool { return len(t.inspect(l).Queue) == 0 }, "nobody waits")
		t.unlock(lease)
		t.requireClean()
		t.requireFree(l)
	},

	"ReentryUnderADoneContextDoesNotCount": func(t *stage) {
		l := t.locker()
		outer := t.acquire(bg, l)
		for i := range 12 {
			ctx, cancel := context.WithCancel(outer.Context(bg))
			timer := time.AfterFunc(time.Duration(i)*30*time.Microsecond, cancel)
			inner, err := l.Lock(ctx)
			if err == nil {
				t.unlock(inner)
			} else {
				require.ErrorIs(t, err, context.Canceled, fmt.Sprint("re-entry ", i))
			}
			timer.Stop()
			cancel()
		}
		t.eventually(func() bool { return t.inspect(l).Count == 1 }, "one lease is left")
		t.requireCount(l, 1)
		t.unlock(outer)
	},
}
