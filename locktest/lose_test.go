package locktest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/locktest"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

// lockers are one of every kind.
func lockers(c *lock.Client, opts ...lock.Option) map[string]lock.Locker {
	return map[string]lock.Locker{
		"reentrant": reentrant.New(c, "reentrant", opts...),
		"fair":      fair.New(c, "fair", opts...),
		"writer":    readwrite.New(c, "writer", opts...),
		"reader":    readwrite.New(c, "reader", opts...).RLocker(),
	}
}

// requireLost requires that everything says that lease is lost for reason.
func requireLost(ctx context.Context, t *testing.T, lease *lock.Lease, reason lock.Reason) {
	t.Helper()
	for _, err := range []error{lease.Err(), context.Cause(ctx), lease.Unlock(bg)} {
		require.ErrorIs(t, err, lock.ErrLost)
		var over *lock.LeaseError
		require.ErrorAs(t, err, &over)
		require.Equal(t, reason, over.Reason)
	}
}

func TestLostLeaseEndsTheWorkWithItsReason(t *testing.T) {
	for _, reason := range []lock.Reason{lock.ReasonForced, lock.ReasonGone} {
		for _, n := range []int{1, 3} {
			t.Run(reason.String(), func(t *testing.T) {
				inBoth(t, func(t *testing.T) {
					f := locktest.NewN(t, n)
					for kind, l := range lockers(f.Client()) {
						lease, err := l.Lock(bg)
						require.NoError(t, err, kind)
						ctx := lease.Context(bg)
						f.Lose(lease, reason)
						require.ErrorIs(t, ctx.Err(), context.Canceled, kind)
						requireLost(ctx, t, lease, reason)
						if kind == "reentrant" || kind == "fair" {
							f.Hold(kind).Release() // somebody else can have it
						}
					}
				})
			})
		}
	}
}

func TestLossThatTakesTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for _, n := range []int{1, 3} {
			f := locktest.NewN(t, n)
			for _, l := range lockers(f.Client()) {
				lease, err := l.Lock(bg)
				require.NoError(t, err)
				ctx := lease.Context(bg)
				f.Lose(lease, lock.ReasonNotRenewed)
				requireLost(ctx, t, lease, lock.ReasonNotRenewed)
				soon, cancel := context.WithTimeout(bg, within)
				require.NoError(t, l.Do(soon, func(context.Context) error { return nil }), "the nodes can be reached again")
				cancel()
			}
			for _, l := range lockers(f.Client(), lock.WithoutWatchdog()) {
				lease, err := l.Lock(bg)
				require.NoError(t, err)
				ctx := lease.Context(bg)
				f.Lose(lease, lock.ReasonExpired)
				requireLost(ctx, t, lease, lock.ReasonExpired)
			}
		}
	})
}

func TestLossOfAPermit(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.NewN(t, 3)
		for _, reason := range []lock.Reason{lock.ReasonForced, lock.ReasonGone} {
			permit, err := semaphore.New(f.Client(), "calls", 2).Acquire(bg, 1)
			require.NoError(t, err)
			f.Lose(permit, reason)
			var over *lock.LeaseError
			require.ErrorAs(t, permit.Err(), &over)
			require.Equal(t, reason, over.Reason)
			require.ErrorIs(t, permit.Release(bg), lock.ErrLost)
		}
	})
}

func TestIsolationKeepsAPartition(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := locktest.NewN(t, 3)
		l := reentrant.New(f.Client(), "orders:42")
		f.Partition(0)
		lease, err := l.Lock(bg)
		require.NoError(t, err)
		f.Lose(lease, lock.ReasonNotRenewed)
		soon, cancel := context.WithTimeout(bg, within)
		defer cancel()
		require.NoError(t, l.Do(soon, func(context.Context) error { return nil }), "the others are reached again")
		f.Stop(1)
		f.Advance(within) // a node that could be reached would be
		_, err = l.TryLock(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum, "node 0 is cut off still")
		f.Heal()
	})
}

func TestLeaseIsTheProgramsNewest(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.New(t)
		l := reentrant.New(f.Client(), "orders:42")
		outer, err := l.Lock(bg)
		require.NoError(t, err)
		require.Same(t, outer, f.Lease("orders:42"))
		inner, err := l.Lock(outer.Context(bg))
		require.NoError(t, err)
		require.Same(t, inner, f.Lease("orders:42"))
		require.NoError(t, inner.Unlock(bg))
		require.Same(t, outer, f.Lease("orders:42"))
		require.NoError(t, outer.Unlock(bg))
		failures := recorded(t, func(t testing.TB) {
			f := locktest.New(t)
			f.Hold("orders:42") // which is not the program's
			f.Lease("orders:42")
		})
		require.True(t, contains(failures, `the program does not hold "orders:42"`), failures)
	})
}

func TestLeaseOfAnotherProcessIsNotTheProgramsOwn(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.New(t)
		mine, err := readwrite.New(f.Client(), "config").RLock(bg)
		require.NoError(t, err)
		theirs, err := readwrite.New(f.NewClient(), "config").RLock(bg)
		require.NoError(t, err)
		f.Lose(f.Lease("config"), lock.ReasonForced)
		require.ErrorIs(t, mine.Err(), lock.ErrLost)
		require.NoError(t, theirs.Err(), "which is newer, and another process's")
		require.NoError(t, theirs.Unlock(bg))
		failures := recorded(t, func(t testing.TB) {
			f := locktest.New(t)
			lease, err := reentrant.New(f.NewClient(), "orders:42").Lock(bg)
			if err != nil {
				t.Errorf("%v", err)
			}
			defer lease.Unlock(bg)
			f.Lease("orders:42")
		})
		require.True(t, contains(failures, `the program does not hold "orders:42"`), failures)
	})
}

func TestLossThatCannotBeIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		bubble  bool
		reason  lock.Reason
		before  func(*locktest.Fake, *lock.Lease)
		message string
	}{
		"of a lease that is over":     {false, lock.ReasonForced, func(_ *locktest.Fake, l *lock.Lease) { l.Unlock(bg) }, "it is over already"},
		"by the program":              {false, lock.ReasonAbandoned, nil, "nobody but the program"},
		"by unlocking":                {false, lock.ReasonUnlocked, nil, "nobody but the program"},
		"by time, which is real":      {false, lock.ReasonNotRenewed, nil, "real time cannot be moved"},
		"by time, which is real, too": {false, lock.ReasonExpired, nil, "real time cannot be moved"},
		"of one that is renewed":      {true, lock.ReasonExpired, nil, "it is renewed"},
		"by nodes that are not there": {true, lock.ReasonForced, func(f *locktest.Fake, _ *lock.Lease) { f.Stop(0) }, "Lose: force unlock"},
		"of keys that are not there":  {true, lock.ReasonGone, func(f *locktest.Fake, _ *lock.Lease) { f.Stop(0) }, "is still held"},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(t *testing.T) {
				failures := recorded(t, func(t testing.TB) {
					f := locktest.New(t)
					lease, err := reentrant.New(f.Client(), "orders:42").Lock(bg)
					if err != nil {
						t.Errorf("%v", err)
					}
					defer lease.Unlock(bg)
					if c.before != nil {
						c.before(f, lease)
					}
					f.Lose(lease, c.reason)
					t.Errorf("it goes on")
				})
				require.True(t, contains(failures, c.message), failures)
			}
			if c.bubble {
				inBubble(t, run)
			} else {
				run(t)
			}
		})
	}
	failures := recorded(t, func(t testing.TB) { locktest.New(t).Lose(new(lock.Lease), lock.ReasonForced) })
	require.True(t, contains(failures, "over already: not held"), failures)
	for _, none := range []locktest.Lease{nil, (*lock.Lease)(nil), (*semaphore.Permit)(nil)} {
		failures = recorded(t, func(t testing.TB) { locktest.New(t).Lose(none, lock.ReasonForced) })
		require.True(t, contains(failures, "Lose: the lease is nil"), failures)
	}
	failures = recorded(t, func(t testing.TB) {
		f := locktest.New(t)
		m := reentrant.New(f.Client(), "orders:42")
		lease, err := m.Lock(bg)
		require.NoError(t, err)
		again, err := m.Lock(lease.Context(bg))
		require.NoError(t, err)
		defer again.Unlock(bg)
		require.NoError(t, lease.Unlock(bg))
		f.Lose(lease, lock.ReasonForced)
	})
	require.True(t, contains(failures, "it is over already: "), failures)
	failures = recorded(t, func(t testing.TB) {
		lease, err := reentrant.New(locktest.New(t).Client(), "orders:42").Lock(bg)
		if err != nil {
			t.Errorf("%v", err)
		}
		defer lease.Unlock(bg)
		locktest.New(t).Lose(lease, lock.ReasonForced)
	})
	require.True(t, contains(failures, "no client of this Fake has the lease"), failures)
}

func TestLossInOneProcessConcernsNoOther(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := locktest.New(t)
		mine, err := reentrant.New(f.Client(), "orders:42").Lock(bg)
		require.NoError(t, err)
		theirs, err := reentrant.New(f.NewClient(), "orders:43").Lock(bg)
		require.NoError(t, err)
		f.Lose(mine, lock.ReasonNotRenewed)
		f.Advance(10 * time.Minute)
		require.NoError(t, theirs.Err())
		require.NoError(t, theirs.Unlock(bg))
	})
}

func TestLossForAnotherReasonIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		failures := recorded(t, func(t testing.TB) {
			f := locktest.New(t)
			lease, err := reentrant.New(f.Client(), "orders:42", lock.WithoutWatchdog()).Lock(bg)
			if err != nil {
				t.Errorf("%v", err)
			}
			defer lease.Unlock(bg)
			f.Lose(lease, lock.ReasonNotRenewed) // but it never is renewed, and expires
		})
		require.True(t, contains(failures, "has ended for another reason"), failures)
	})
}

// The program gives back a lease when another one is lost, as with nested locks or several names. The one that was chosen
// is lost first all the same.
func TestTheChosenOneOfSeveralLeasesIsLostFirst(t *testing.T) {
	for _, gap := range []time.Duration{0, time.Second} {
		for _, which := range []string{"outer", "inner", "a", "b"} {
			synctest.Test(t, func(t *testing.T) {
				f := locktest.NewN(t, 3)
				ctx, cancel := context.WithCancel(bg)
				nested := make(chan error, 1)
				go func() {
					outer, inner := reentrant.New(f.Client(), "outer"), fair.New(f.Client(), "inner")
					nested <- outer.Do(ctx, func(ctx context.Context) error {
						time.Sleep(gap)
						return inner.Do(ctx, func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) })
					})
				}()
				several := make(chan error, 1)
				go func() {
					m := multi.New(reentrant.New(f.Client(), "a"), fair.New(f.Client(), "b"))
					several <- m.Do(ctx, func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) })
				}()
				f.Advance(20 * time.Second)
				f.Lose(f.Lease(which), lock.ReasonNotRenewed)
				lost, kept := nested, several
				if which == "a" || which == "b" {
					lost, kept = several, nested
				}
				require.ErrorIs(t, <-lost, lock.ErrLost)
				cancel()
				require.Error(t, <-kept) // it may be lost soon after the chosen one
			})
		}
	}
}
