package lock_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

// "orders" and "{orders}" are one lock.
var aliases = map[string]string{"orders": "{orders}", "{orders}": "orders"}

// everyKind runs f for a lock of each kind, by either name.
func everyKind(t *testing.T, f func(t *testing.T, w *world, of func(p *process, name string) lock.Locker, name string)) {
	for kind, of := range map[string]func(p *process, name string) lock.Locker{
		"reentrant": func(p *process, name string) lock.Locker { return reentrant.New(p.locks, name) },
		"fair":      func(p *process, name string) lock.Locker { return fair.New(p.locks, name) },
		"write":     func(p *process, name string) lock.Locker { return readwrite.New(p.locks, name) },
		"read":      func(p *process, name string) lock.Locker { return readwrite.New(p.locks, name).RLocker() },
		"permit":    func(p *process, name string) lock.Locker { return semaphore.New(p.locks, name, 1).Locker(1) },
	} {
		for name := range aliases {
			t.Run(kind+" "+name, func(t *testing.T) {
				inVirtualTime(t, []int{1}, func(t *testing.T, w *world) { f(t, w, of, name) })
			})
		}
	}
}

func TestReentryByTheOtherNameHasThatName(t *testing.T) {
	everyKind(t, func(t *testing.T, w *world, of func(*process, string) lock.Locker, name string) {
		p, other := w.process(), aliases[name]
		scope := lock.WithOwner(bg)
		outer := w.lockIn(scope, of(p, name))
		require.False(t, lock.Holds(scope, other))
		inner := w.lockIn(scope, of(p, other))
		require.Equal(t, outer.ID(), inner.ID())
		require.Equal(t, name, outer.Name())
		require.Equal(t, other, inner.Name())
		for _, ctx := range []context.Context{scope, inner.Context(outer.Context(bg))} {
			require.True(t, lock.Holds(ctx, name))
			require.True(t, lock.Holds(ctx, other))
		}
		require.NoError(t, outer.Unlock(bg))
		require.False(t, lock.Holds(scope, name))
		require.True(t, lock.Holds(scope, other))
		require.NoError(t, inner.Unlock(bg))
		require.Equal(t, other, inner.Name())
		require.False(t, lock.Holds(scope, other))
	})
}

func TestHoldThatFollowsByTheOtherNameHasThatName(t *testing.T) {
	everyKind(t, func(t *testing.T, w *world, of func(*process, string) lock.Locker, name string) {
		seen := new(witness)
		p, other := w.process(lock.WithObserver(seen.observer(t))), aliases[name]
		first := w.lock(of(p, name))
		c := wait(bg, of(p, other))
		synctest.Wait() // of the readers, it has come in
		require.NoError(t, first.Unlock(bg))
		next := await(t, c).lease
		require.Equal(t, other, next.Name())
		require.True(t, lock.Holds(next.Context(bg), other))
		require.NoError(t, next.Unlock(bg))
		var over *lock.LeaseError
		require.ErrorAs(t, next.Err(), &over)
		require.Equal(t, other, over.Name)
		synctest.Wait()
		seen.note(func() {
			require.Len(t, seen.holds, 2)
			for i, e := range seen.holds {
				require.Equal(t, []string{name, other}[i], seen.ended[i].Name)
				require.Equal(t, seen.ended[i].Name, e.Name)
			}
		})
	})
}
