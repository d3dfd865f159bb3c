package locktest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/locktest"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

// What tests are written against.
var (
	_ func(testing.TB, ...lock.ClientOption) *locktest.Fake      = locktest.New
	_ func(testing.TB, int, ...lock.ClientOption) *locktest.Fake = locktest.NewN
	_ func(testing.TB, context.Context, string)                  = locktest.AssertHeld
	_ func(*locktest.Fake) *lock.Client                          = (*locktest.Fake).Client
	_ func(*locktest.Fake, ...lock.ClientOption) *lock.Client    = (*locktest.Fake).NewClient
	_ func(*locktest.Fake) []redis.UniversalClient               = (*locktest.Fake).Redis
	_ func(*locktest.Fake, time.Duration)                        = (*locktest.Fake).Advance
	_ func(*locktest.Fake, string) *locktest.Hold                = (*locktest.Fake).Hold
	_ func(*locktest.Hold)                                       = (*locktest.Hold).Release
	_ func(*locktest.Fake, string) *lock.Lease                   = (*locktest.Fake).Lease
	_ func(*locktest.Fake, locktest.Lease, lock.Reason)          = (*locktest.Fake).Lose
	_ func(*locktest.Fake, int)                                  = (*locktest.Fake).Stop
	_ func(*locktest.Fake, int)                                  = (*locktest.Fake).Start
	_ func(*locktest.Fake, ...int)                               = (*locktest.Fake).Partition
	_ func(*locktest.Fake)                                       = (*locktest.Fake).Heal
	_ func(*locktest.Fake, string, error)                        = (*locktest.Fake).FailNext
	_ func(*locktest.Fake, string) int                           = (*locktest.Fake).Waiters
	_ locktest.Lease                                             = (*lock.Lease)(nil)
	_ locktest.Lease                                             = (*semaphore.Permit)(nil)
)

func TestEveryKindOfLockWorks(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.NewN(t, 3)
		c := f.Client()
		locks := []lock.Locker{
			reentrant.New(c, "a"), fair.New(c, "b"), readwrite.New(c, "c"), readwrite.New(c, "d").RLocker(),
		}
		for _, l := range locks {
			ran := false
			require.NoError(t, l.Do(bg, func(ctx context.Context) error {
				ran = true
				return ctx.Err()
			}))
			require.True(t, ran)
		}
		both := multi.New(reentrant.New(c, "e"), reentrant.New(c, "f"))
		require.NoError(t, both.Do(bg, func(ctx context.Context) error { return ctx.Err() }))
		permit, err := semaphore.New(c, "g", 2).Acquire(bg, 2)
		require.NoError(t, err)
		require.Equal(t, []int{0, 1}, permit.Slots())
		require.NoError(t, permit.Release(bg))
	})
}

func TestProcessesExcludeEachOther(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.New(t)
		mine, theirs := reentrant.New(f.Client(), "orders:42"), reentrant.New(f.NewClient(), "orders:42")
		lease, err := theirs.TryLock(bg)
		require.NoError(t, err)
		_, err = mine.TryLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked)
		next := lockBeside(bg, mine)
		until(t, func() bool { return f.Waiters("orders:42") == 1 }, "it waits")
		require.NoError(t, lease.Unlock(bg))
		got := <-next
		require.NoError(t, got.err)
		require.Greater(t, got.lease.Token(), lease.Token())
		require.NoError(t, got.lease.Unlock(bg))
	})
}

func TestProgramCanMakeItsOwnClient(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.NewN(t, 3, brief)
		theirs := f.Hold("orders:42")
		locks, err := lock.NewClient(f.Redis(), brief)
		require.NoError(t, err)
		defer locks.Close()
		until(t, func() bool {
			_, err = reentrant.New(locks, "orders:42").TryLock(bg)
			return errors.Is(err, lock.ErrLocked)
		}, "somebody else has it")
		theirs.Release()
		until(t, func() bool {
			return reentrant.New(locks, "orders:42").Do(bg, func(context.Context) error { return nil }) == nil
		}, "it is free")
		f.Partition()
		_, err = reentrant.New(locks, "orders:42").TryLock(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		f.Heal()
	})
}

func TestOptionsAreThoseOfTheClient(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.New(t, lock.WithTTL(time.Minute), lock.WithPrefix("test"))
		lease, err := reentrant.New(f.Client(), "orders:42").TryLock(bg)
		require.NoError(t, err)
		require.Greater(t, time.Until(lease.Deadline()), 45*time.Second)
		require.EqualValues(t, 1, f.Redis()[0].Exists(bg, "test:{orders:42}").Val())
		require.NoError(t, lease.Unlock(bg))
		theirs := f.Hold("orders:42") // of the same prefix
		_, err = reentrant.New(f.Client(), "orders:42").TryLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked)
		theirs.Release()
	})
	require.True(t, contains(recorded(t, func(t testing.TB) { locktest.New(t, lock.WithTTL(-1)) }), "TTL of -1ns"))
	require.True(t, contains(recorded(t, func(t testing.TB) { locktest.New(t).NewClient(nil) }), "an option is nil"))
}

func TestTestsInParallelDoNotDisturbEachOther(t *testing.T) {
	for range 4 {
		t.Run("", func(t *testing.T) {
			inBoth(t, func(t *testing.T) {
				f := locktest.New(t)
				l := reentrant.New(f.Client(), "orders:42")
				for range 5 {
					lease, err := l.TryLock(bg)
					require.NoError(t, err, "nobody else has it")
					require.NoError(t, lease.Unlock(bg))
				}
				f.Stop(0)
			})
		})
	}
}

func TestFakeEndsWithItsTest(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		var f *locktest.Fake
		var waiting <-chan grant
		require.Empty(t, recorded(t, func(t testing.TB) {
			f = locktest.New(t)
			f.Hold("orders:42")
			waiting = lockBeside(bg, reentrant.New(f.Client(), "orders:42"))
			until(t.(*record).TB.(*testing.T), func() bool { return f.Waiters("orders:42") == 1 }, "it waits")
		}))
		require.ErrorIs(t, (<-waiting).err, lock.ErrClosed)
		_, err := reentrant.New(f.Client(), "orders:42").TryLock(bg)
		require.ErrorIs(t, err, lock.ErrClosed)
	})
}

func TestAdvancePassesATTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := locktest.New(t)
		l := reentrant.New(f.Client(), "orders:42", lock.WithTTL(30*time.Second), lock.WithoutWatchdog())
		lease, err := l.Lock(bg)
		require.NoError(t, err)
		ctx := lease.Context(bg)
		f.Advance(29 * time.Second)
		require.NoError(t, ctx.Err())
		_, err = reentrant.New(f.NewClient(), "orders:42").TryLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked)
		f.Advance(time.Second)
		var over *lock.LeaseError
		require.ErrorAs(t, context.Cause(ctx), &over)
		require.Equal(t, lock.ReasonExpired, over.Reason)
		f.Hold("orders:42").Release()
		require.ErrorIs(t, lease.Unlock(bg), lock.ErrLost)
	})
}

func TestWatchdogKeepsALockForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := locktest.New(t)
		began := time.Now()
		lease, err := reentrant.New(f.Client(), "orders:42", lock.WithTTL(10*time.Minute)).Lock(bg)
		require.NoError(t, err)
		f.Advance(24 * time.Hour)
		require.Equal(t, 24*time.Hour, time.Since(began))
		require.NoError(t, lease.Err())
		_, err = reentrant.New(f.NewClient(), "orders:42").TryLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked)
		require.NoError(t, lease.Unlock(bg))
	})
}

func TestAdvanceWaitsForWhatTheProgramDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := locktest.New(t)
		var done atomic.Int64
		for range 50 {
			go func() {
				time.Sleep(time.Minute)
				if reentrant.New(f.Client(), "orders:42").Do(bg, func(context.Context) error { return nil }) == nil {
					done.Add(1)
				}
			}()
		}
		f.Advance(time.Minute)
		require.EqualValues(t, 50, done.Load())
	})
}

func TestRealTimeIsNotAdvanced(t *testing.T) {
	failures := recorded(t, func(t testing.TB) {
		locktest.New(t).Advance(time.Millisecond)
		t.Errorf("it goes on")
	})
	require.True(t, contains(failures, "Advance(1ms) needs time to pass"), failures)
}

var errBroken = errors.New("broken")

func TestFailNextIsForOneAcquisitionOfThatName(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.New(t)
		l := reentrant.New(f.Client(), "orders:42")
		f.FailNext("orders:42", errBroken)
		f.FailNext("orders:42", lock.ErrNoQuorum)
		require.NoError(t, reentrant.New(f.Client(), "orders:43").Do(bg, func(context.Context) error { return nil }))
		_, err := l.TryLock(bg)
		require.ErrorIs(t, err, errBroken)
		var failure *lock.AcquireError
		require.ErrorAs(t, err, &failure)
		require.Equal(t, "orders:42", failure.Name)
		require.ErrorIs(t, l.Do(bg, func(context.Context) error { panic("it runs") }), lock.ErrNoQuorum)
		lease, err := l.Lock(bg)
		require.NoError(t, err)
		require.NoError(t, lease.Unlock(bg))
	})
}

// What asks no node cannot fail by what a node says.
func TestReentryMeetsNoErrorOfFailNext(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.NewN(t, 3)
		for kind, l := range lockers(f.Client()) {
			lease, err := l.Lock(bg)
			require.NoError(t, err, kind)
			f.FailNext(kind, errBroken)
			again, err := l.Lock(lease.Context(bg))
			require.NoError(t, err, "%s: the owner has it", kind)
			require.NoError(t, again.Unlock(bg))
			_, err = l.TryLock(lease.Context(bg))
			require.NoError(t, err, "%s: the owner has it", kind)
			require.NoError(t, f.Lease(kind).Unlock(bg))
			require.NoError(t, lease.Unlock(bg))
			_, err = l.TryLock(bg)
			require.ErrorIs(t, err, errBroken, kind)
		}
	})
}

// It fails as it begins, and not after it has waited.
func TestWaiterMeetsNoErrorThatComesLater(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := locktest.New(t)
		theirs := f.Hold("orders:42")
		l := reentrant.New(f.Client(), "orders:42")
		waits := lockBeside(bg, l)
		f.Advance(time.Minute)
		f.FailNext("orders:42", errBroken)
		f.Advance(time.Minute)
		theirs.Release()
		g := <-waits
		require.NoError(t, g.err)
		require.NoError(t, g.lease.Unlock(bg))
		require.ErrorIs(t, l.Do(bg, func(context.Context) error { return nil }), errBroken)
	})
}

func TestSomebodyElseMeetsNoErrorOfTheProgram(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.New(t)
		f.FailNext("orders:42", errBroken)
		f.Hold("orders:42").Release()
		_, err := reentrant.New(f.NewClient(), "orders:42").TryLock(bg)
		require.ErrorIs(t, err, errBroken, "an instance of the program meets it")
	})
}

func TestErrorThatNobodyMetFailsTheTest(t *testing.T) {
	failures := recorded(t, func(t testing.TB) {
		f := locktest.New(t)
		f.FailNext("orders:42", errBroken)
		f.FailNext("orders:43", nil)
	})
	require.Len(t, failures, 2)
	require.Contains(t, failures[0], `FailNext("orders:43"): the error is nil`)
	require.Contains(t, failures[1], `FailNext("orders:42"): nobody has met the error "broken"`)
}

func TestFakeNeedsANode(t *testing.T) {
	for _, n := range []int{0, -1} {
		failures := recorded(t, func(t testing.TB) { locktest.NewN(t, n) })
		require.True(t, contains(failures, "no nodes"), failures)
	}
}
