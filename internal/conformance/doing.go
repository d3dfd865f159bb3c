package conformance

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// Do is Lock, the work under the lease's context, and Unlock.
var doing = rules{
	"DoHoldsTheLockWhileItWorks": func(t *stage) {
		l := t.locker()
		var after context.Context
		require.NoError(t, l.Do(bg, func(ctx context.Context) error {
			after = ctx
			require.NoError(t, ctx.Err())
			_, err := t.try(t.stranger(l))
			require.ErrorIs(t, err, lock.ErrLocked)
			inner, err := l.TryLock(ctx)
			require.NoError(t, err, "the context owns it")
			require.Equal(t, 2, inner.Count())
			t.unlock(inner)
			return nil
		}))
		t.requireEnded(after, lock.ErrReleased)
		t.requireFree(t.locker())
	},

	"DoWithoutAFunctionTakesNothing": func(t *stage) {
		l := t.locker()
		require.ErrorContains(t, l.Do(bg, nil), "Do has no function to call")
		t.requireFree(l)
	},

	"DoWithinDoReenters": func(t *stage) {
		l := t.locker()
		worked := false
		require.NoError(t, l.Do(bg, func(ctx context.Context) error {
			return l.Do(ctx, func(ctx context.Context) error {
				worked = true
				lease, err := l.Lock(ctx)
				require.NoError(t, err)
				require.Equal(t, 3, lease.Count())
				t.requireTold(l, lease, 3)
				return lease.Unlock(ctx)
			})
		}))
		require.True(t, worked)
		t.requireFree(l)
	},

	"DoReturnsTheErrorOfTheWork": func(t *stage) {
		l := t.locker()
		broken := errors.New("the work is broken")
		err := l.Do(bg, func(context.Context) error { return broken })
		require.Same(t, broken, err, "itself, and not joined with nothing")
		t.requireFree(l)
	},

	"DoUnlocksAfterAPanic": func(t *stage) {
		l := t.locker()
		require.PanicsWithValue(t, "the work is broken", func() {
			_ = l.Do(bg, func(context.Context) error { panic("the work is broken") })
		})
		t.requireFree(t.locker())
	},

	"DoUnlocksAfterGoexit": func(t *stage) {
		l := t.locker()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = l.Do(bg, func(context.Context) error { runtime.Goexit(); return nil })
		}()
		t.await(done, "the end of the goroutine")
		t.requireFree(t.locker())
	},

	"DoUnlocksThoughItsContextIsDone": func(t *stage) {
		l := t.locker()
		ctx, cancel := context.WithCancel(bg)
		err := l.Do(ctx, func(ctx context.Context) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		})
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, lock.ErrLost)
		t.requireFree(t.locker())
	},

	"DoWithoutTheLockDoesNotWork": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		l := t.locker()
		ctx, cancel := context.WithTimeout(bg, time.Second)
		defer cancel()
		err := l.Do(ctx, func(context.Context) error {
			t.Error("it works without the lock")
			return nil
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, lease.ID())
		t.unlock(lease)
	},

	"DoTellsOfALossBesideTheWorksOwnError": func(t *stage) {
		l := t.locker(lock.WithTTL(shortTTL))
		broken := errors.New("stopped in the middle")
		err := l.Do(bg, func(ctx context.Context) error {
			t.lose()
			t.requireEnded(ctx, lock.ErrLost)
			return broken
		})
		require.ErrorIs(t, err, lock.ErrLost)
		require.ErrorIs(t, err, broken)
		require.ErrorIs(t, l.Do(bg, func(context.Context) error {
			_, err := t.locker().ForceUnlock(bg)
			return err
		}), lock.ErrLost, "the work has not noticed, Unlock has")
	},
}
