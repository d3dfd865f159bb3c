package lock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

func TestContextHoldsWhatItsLeasesAreOf(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		p, other := w.process(), w.process()
		require.False(t, lock.Holds(bg, "orders"))
		a := w.lock(p.mutex())
		require.False(t, lock.Holds(bg, "orders"), "it is held, but not by this context")
		ctx := a.Context(bg)
		require.True(t, lock.Holds(ctx, "orders"))
		require.False(t, lock.Holds(ctx, "order"))

		// Of another owner and another client, which carries its own owner on.
		b := w.lock(reentrantAt(other, "stock"))
		both := b.Context(ctx)
		require.True(t, lock.Holds(both, "orders"))
		require.True(t, lock.Holds(both, "stock"))
		type key struct{}
		require.True(t, lock.Holds(context.WithValue(context.WithoutCancel(both), key{}, 1), "orders"))

		require.NoError(t, a.Unlock(bg))
		require.False(t, lock.Holds(both, "orders"))
		require.True(t, lock.Holds(context.WithoutCancel(both), "stock"))
		require.NoError(t, b.Unlock(bg))
		require.False(t, lock.Holds(context.WithoutCancel(both), "stock"))
	})
}

func TestContextHoldsWhatItsOwnerHas(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		p := w.process()
		scope := lock.WithOwner(bg)
		require.False(t, lock.Holds(scope, "orders"))
		l := w.lockIn(scope, p.mutex())
		require.True(t, lock.Holds(scope, "orders"))
		require.False(t, lock.Holds(scope, "stock"))
		require.False(t, lock.Holds(lock.WithOwner(bg), "orders"))
		require.NoError(t, l.Unlock(bg))
		require.False(t, lock.Holds(scope, "orders"))
	})
}

func TestContextWithoutOwnerHoldsNothing(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex())
		defer l.Unlock(bg)
		stranger := lock.WithoutOwner(l.Context(bg))
		require.False(t, lock.Holds(stranger, "orders"))
		_, err := p.mutex().TryLock(stranger)
		require.ErrorIs(t, err, lock.ErrLocked)
		require.False(t, lock.Holds(lock.WithoutOwner(lock.WithOwner(bg)), "orders"))
		own := w.lockIn(stranger, reentrantAt(p, "stock"))
		defer own.Unlock(bg)
		require.True(t, lock.Holds(own.Context(stranger), "stock"))
		require.False(t, lock.Holds(own.Context(stranger), "orders"))
	})
}

func TestLostLockIsNotHeld(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		scope := lock.WithOwner(bg)
		l := w.lockIn(scope, p.mutex(lock.WithTTL(time.Second), lock.WithoutWatchdog()))
		ctx := context.WithoutCancel(l.Context(bg))
		lock.StopWatchdog(p.locks) // nobody else looks at the clock
		time.Sleep(validity(time.Second) - time.Nanosecond)
		require.True(t, lock.Holds(ctx, "orders"))
		require.True(t, lock.Holds(scope, "orders"))
		time.Sleep(time.Nanosecond)
		synctest.Wait() // nothing has noticed it
		require.False(t, lock.Holds(scope, "orders"))
		require.False(t, lock.Holds(ctx, "orders"))
	})
}

func TestEveryKindIsHeld(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		p := w.process()
		held := func(names ...string) func(context.Context) error {
			return func(ctx context.Context) error {
				for _, name := range names {
					require.True(t, lock.Holds(ctx, name), name)
				}
				return nil
			}
		}
		require.NoError(t, p.queue().Do(bg, held("orders")))
		require.NoError(t, semaphore.New(p.locks, "calls", 2).Do(bg, 1, held("calls")))
		several := multi.New(reentrant.New(p.locks, "a"), reentrant.New(p.locks, "b"), reentrant.New(p.locks, "c"))
		require.NoError(t, several.Do(bg, held("a", "b", "c")))
		require.NoError(t, p.mutex().Do(bg, func(ctx context.Context) error {
			return several.Do(ctx, held("a", "b", "c", "orders"))
		}))
	})
}
