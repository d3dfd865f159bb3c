package locktest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/locktest"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

// promptly is less than a waiter takes to look by itself: what takes no longer was woken.
const promptly = 200 * time.Millisecond

func TestHoldExcludesMutexesAndReleaseWakesThem(t *testing.T) {
	for kind, of := range map[string]func(*lock.Client) lock.Locker{
		"reentrant": func(c *lock.Client) lock.Locker { return reentrant.New(c, "orders:42") },
		"fair":      func(c *lock.Client) lock.Locker { return fair.New(c, "orders:42") },
	} {
		t.Run(kind, func(t *testing.T) {
			inBoth(t, func(t *testing.T) {
				f := locktest.NewN(t, 3)
				l := of(f.Client())
				theirs := f.Hold("orders:42")
				_, err := l.TryLock(bg)
				require.ErrorIs(t, err, lock.ErrLocked)
				next := lockBeside(bg, l)
				until(t, func() bool { return f.Waiters("orders:42") == 1 }, "it waits")
				require.Zero(t, f.Waiters("orders:43"))
				began := time.Now()
				theirs.Release()
				got := <-next
				require.NoError(t, got.err)
				require.Zero(t, f.Waiters("orders:42"))
				if woken := time.Since(began); woken > promptly {
					t.Logf("it was granted after %v", woken)
					require.False(t, time.Now().Year() == 2000, "in a bubble it takes no time")
				}
				require.NoError(t, got.lease.Unlock(bg))
			})
		})
	}
}

func TestHoldIsRenewed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := locktest.New(t)
		f.Hold("orders:42")
		f.Advance(10 * time.Minute)
		_, err := reentrant.New(f.Client(), "orders:42").TryLock(bg)
		var locked *lock.AcquireError
		require.ErrorAs(t, err, &locked)
		require.Contains(t, locked.Label, "somebody else")
	})
}

func TestHoldOfWhatIsTakenFails(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		failures := recorded(t, func(t testing.TB) {
			f := locktest.New(t)
			lease, err := reentrant.New(f.Client(), "orders:42").TryLock(bg)
			if err != nil {
				t.Errorf("%v", err)
			}
			defer lease.Unlock(bg)
			f.Hold("orders:42")
			t.Errorf("it goes on")
		})
		require.True(t, contains(failures, "nobody else can hold it"), failures)
	})
}

func TestOtherKindsAreHeldByAnotherClient(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.New(t)
		f.Hold("config")
		_, err := readwrite.New(f.Client(), "config").TryLock(bg)
		require.ErrorIs(t, err, lock.ErrKind)
		lease, err := readwrite.New(f.NewClient(), "settings").TryRLock(bg)
		require.NoError(t, err)
		_, err = readwrite.New(f.Client(), "settings").TryLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked)
		require.NoError(t, lease.Unlock(bg))
	})
}

func TestWaitersAreCountedWhileTheyWait(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.New(t)
		other := f.NewClient()
		theirs := f.Hold("orders:42")
		require.Zero(t, f.Waiters("orders:42"))
		ctx, cancel := context.WithCancel(bg)
		leaving := lockBeside(ctx, reentrant.New(f.Client(), "orders:42"))
		var staying []<-chan grant
		for range 3 {
			staying = append(staying, lockBeside(bg, reentrant.New(f.Client(), "orders:42")), lockBeside(bg, reentrant.New(other, "orders:42")))
		}
		until(t, func() bool { return f.Waiters("orders:42") == 7 }, "all of them wait")
		_, err := reentrant.New(f.Client(), "orders:42").TryLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked)
		cancel()
		require.ErrorIs(t, (<-leaving).err, context.Canceled)
		require.Equal(t, 6, f.Waiters("orders:42"))
		theirs.Release()
		for _, next := range staying {
			go func() {
				if g := <-next; g.err == nil {
					g.lease.Unlock(bg)
				}
			}()
		}
		until(t, func() bool { return f.Waiters("orders:42") == 0 }, "all of them were served")
	})
}

func TestWaitersForPermitsAreCounted(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.New(t)
		calls := semaphore.New(f.Client(), "calls", 1)
		permit, err := calls.Acquire(bg, 1)
		require.NoError(t, err)
		next := make(chan error, 1)
		go func() { next <- calls.Do(bg, 1, func(context.Context) error { return nil }) }()
		until(t, func() bool { return f.Waiters("calls") == 1 }, "it waits")
		require.NoError(t, permit.Release(bg))
		require.NoError(t, <-next)
		require.Zero(t, f.Waiters("calls"))
	})
}
