package lock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

func anything([]string) bool { return true }

func TestReentryAsksNoNode(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		p := w.process()
		for name, m := range map[string]lock.Locker{"reentrant": p.mutex(), "fair": p.queue()} {
			outer := w.lock(m)
			ctx := outer.Context(bg)
			each(w.nodes, (*virtual.Node).Pause)
			start, told := time.Now(), len(w.nodes[0].Commands(anything))
			inner, err := m.TryLock(ctx)
			require.NoError(t, err, name)
			deeper, err := m.Lock(inner.Context(ctx))
			require.NoError(t, err, name)
			require.Equal(t, 3, deeper.Count())
			require.Equal(t, outer.Token(), deeper.Token())
			require.Equal(t, outer.Deadline(), deeper.Deadline(), "it shares what the hold is valid for")
			require.NoError(t, outer.Unlock(bg))
			require.NoError(t, inner.Unlock(bg))
			require.NoError(t, deeper.Err())
			require.Equal(t, start, time.Now(), name)
			require.Len(t, w.nodes[0].Commands(anything), told)
			each(w.nodes, (*virtual.Node).Resume)
			require.NoError(t, deeper.Unlock(bg))
			synctest.Wait()
			requireHolder(t, "", w.nodes)
		}
	})
}

func TestReentryEndsWithWhatItsHoldIsValidFor(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		outer := w.lock(m)
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		time.Sleep(20 * time.Second)
		inner, err := m.Lock(outer.Context(bg))
		require.NoError(t, err)
		require.Equal(t, outer.Deadline(), inner.Deadline())
		lostAt(inner.Context(bg), t, inner)
		require.ErrorIs(t, outer.Err(), lock.ErrLost)
		_, err = m.Lock(outer.Context(bg))
		require.ErrorIs(t, err, lock.ErrLost)
	})
}

// The key of a hold lives for the rest of the lock that was taken first, and for the TTL of whichever re-enters.
func TestReentryIsRefusedWithWhichTheKeyWouldOutliveTheGuard(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process(lock.WithRestartGuard(time.Minute))
		time.Sleep(time.Minute + 2*time.Second) // the nodes are old enough
		outer := w.lock(p.mutex(lock.WithTTL(30*time.Second), lock.WithRest(20*time.Second)))
		_, err := p.mutex(lock.WithTTL(50 * time.Second)).Lock(outer.Context(bg))
		require.ErrorContains(t, err, "the key would live for 1m10s (TTL or min hold, plus rest), longer than the restart guard of 1m0s")
		inner, err := p.mutex(lock.WithTTL(40 * time.Second)).Lock(outer.Context(bg))
		require.NoError(t, err)
		require.NoError(t, inner.Unlock(bg))
		require.NoError(t, outer.Unlock(bg))
	})
}

// The watchdog may be late; the clock is not.
func TestReentryLooksAtTheClock(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		p := w.process()
		scope := lock.WithOwner(bg) // the lease's own context looks at the clock by itself
		for range 50 {
			l, err := p.mutex(lock.WithoutWatchdog()).TryLock(scope)
			require.NoError(t, err)
			time.Sleep(time.Until(l.Deadline()))
			_, err = p.mutex().TryLock(scope)
			require.ErrorIs(t, err, lock.ErrLost)
			require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
			time.Sleep(time.Second) // the key is gone
		}
	})
}

// As long as its keys would have lived, it could seem to be held.
func TestReentryOfAHoldThatIsGoneIsRefusedAtOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		scope := lock.WithOwner(bg)
		l, err := m.Lock(scope)
		require.NoError(t, err)
		synctest.Wait()
		each(w.nodes, func(n *virtual.Node) { n.Memory().Del(keys.Lock) })
		awaitEnd(t, l)
		start := time.Now()
		_, err = m.TryLock(scope)
		require.ErrorIs(t, err, lock.ErrLost)
		require.Equal(t, start, time.Now())
	})
}

// A hold is renewed for the longest TTL of its leases.
func TestReentryWithAShorterTTLShortensNothing(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		outer := w.lock(p.mutex())
		inner, err := p.mutex(lock.WithTTL(time.Second)).Lock(outer.Context(bg))
		require.NoError(t, err)
		start := time.Now()
		time.Sleep(long)
		require.Greater(t, time.Until(outer.Deadline()), defaultTTL/2)
		require.Greater(t, time.Until(inner.Deadline()), defaultTTL/2)
		require.LessOrEqual(t, len(renewals(w.nodes[0])), int(time.Since(start)/(defaultTTL/4)))
	})
}

func TestReentryAsksForATTLThatTheHoldDoesNotKeep(t *testing.T) {
	for name, c := range map[string]struct {
		outer, inner []lock.Option
		asks         bool
		valid        time.Duration // of the inner one, from when it is locked
		renewed      bool
	}{
		"a longer one":               {nil, []lock.Option{lock.WithTTL(time.Minute)}, true, validity(time.Minute), true},
		"a shorter one":              {nil, []lock.Option{lock.WithTTL(10 * time.Second)}, false, validity(defaultTTL) - 3*time.Second, true},
		"a fixed one, shorter":       {nil, []lock.Option{lock.WithTTL(10 * time.Second), lock.WithoutWatchdog()}, false, validity(10 * time.Second), false},
		"a fixed one, the same":      {nil, []lock.Option{lock.WithoutWatchdog()}, true, validity(defaultTTL), false},
		"in a fixed one":             {[]lock.Option{lock.WithoutWatchdog()}, nil, true, validity(defaultTTL), true},
		"in one that is not renewed": {[]lock.Option{lock.WithMaxHold(time.Second)}, nil, true, validity(defaultTTL), true},
		"fixed, in a fixed one":      {[]lock.Option{lock.WithoutWatchdog()}, []lock.Option{lock.WithoutWatchdog()}, true, validity(defaultTTL), false},
		"fixed, in a long fixed one": {[]lock.Option{lock.WithoutWatchdog(), lock.WithTTL(time.Hour)}, []lock.Option{lock.WithoutWatchdog()}, false, validity(defaultTTL), false},
	} {
		for _, silent := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
					const waited = 3 * time.Second // no renewal is due yet
					p := w.process()
					outer := w.lock(p.mutex(c.outer...))
					time.Sleep(waited)
					asked := len(renewals(w.nodes[0]))
					if silent {
						each(w.nodes, func(n *virtual.Node) { n.Silence(true) })
					}
					start := time.Now()
					inner, err := p.mutex(c.inner...).Lock(outer.Context(bg))
					require.NoError(t, err, "there is nothing left to fail")
					synctest.Wait()
					if silent && c.asks {
						require.Equal(t, defaultNodeTimeout, time.Since(start))
						require.Equal(t, outer.Deadline(), inner.Deadline(), "it has what the hold has")
						return
					}
					require.Equal(t, start, time.Now())
					require.Equal(t, start.Add(c.valid), inner.Deadline())
					require.Equal(t, c.asks, len(renewals(w.nodes[0])) > asked)
					if silent {
						return
					}
					require.NoError(t, outer.Unlock(bg))
					time.Sleep(long)
					if !c.renewed {
						require.ErrorIs(t, inner.Err(), lock.ErrLost)
						return
					}
					require.NoError(t, inner.Unlock(bg))
				})
			})
		}
	}
}

// Where a node may be silent for longer than a TryLock takes, that is over first: the owner has the lock all the same.
func TestTryLockReentersInItsTime(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process(lock.WithNodeTimeout(3 * time.Second))
		for _, kind := range []string{"reentrant", "fair"} {
			scope := lock.WithOwner(bg)
			outer := w.lockIn(scope, p.kinds()[kind])
			time.Sleep(time.Second)
			each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
			start := time.Now()
			inner, err := p.kinds(lock.WithoutWatchdog())[kind].TryLock(scope)
			require.NoError(t, err, kind)
			require.LessOrEqual(t, time.Since(start), tryBound)
			require.Equal(t, outer.Deadline(), inner.Deadline(), "it has what the hold has")
			each(w.quorum(), func(n *virtual.Node) { n.Silence(false) })
			require.NoError(t, inner.Unlock(bg))
			time.Sleep(time.Minute)
			require.NoError(t, outer.Unlock(bg))
			time.Sleep(time.Minute)
		}
	})
}

func TestNodesLearnOfTheCountWithTheNextRenewal(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		outer := w.lock(m)
		inner, err := m.Lock(outer.Context(bg))
		require.NoError(t, err)
		require.NoError(t, inner.Extend(bg, defaultTTL))
		requireCount := func(count string) {
			t.Helper()
			synctest.Wait()
			for _, n := range w.nodes {
				require.Equal(t, count, n.Memory().HGet(keys.Lock, outer.ID()))
			}
		}
		requireCount("2")
		require.NoError(t, outer.Unlock(bg))
		requireCount("2")
		time.Sleep(defaultTTL / 3)
		requireCount("1")
		require.NoError(t, inner.Unlock(bg))
	})
}

// It sees then that the nodes have forgotten the hold, as a renewal would.
func TestReentryThatAsksFindsALossThatNobodyHasNoticed(t *testing.T) {
	inVirtualTime(t, []int{1, 2, 3, 5}, func(t *testing.T, w *world) {
		p := w.process()
		outer := w.lock(p.mutex(lock.WithTTL(time.Hour), lock.WithoutWatchdog()))
		each(w.quorum(), (*virtual.Node).Flush)
		start := time.Now()
		_, err := p.mutex(lock.WithTTL(2 * time.Hour)).Lock(outer.Context(bg))
		require.ErrorIs(t, err, lock.ErrLost)
		require.ErrorContains(t, err, "no longer has it")
		require.ErrorIs(t, outer.Err(), lock.ErrLost)
		require.Equal(t, start, time.Now())
	})
}

// In any order, and in a time that does not grow with the square of their number.
func TestDeepReentry(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		const depth = 16_000
		m := w.process().mutex()
		ctx := lock.WithOwner(bg)
		leases := make([]*lock.Lease, depth)
		for i := range leases {
			l, err := m.Lock(ctx)
			require.NoError(t, err)
			leases[i] = l
		}
		require.Equal(t, depth, leases[depth-1].Count())
		for i := 0; i < depth; i += 2 {
			require.NoError(t, leases[i].Unlock(bg))
		}
		for i := depth - 1; i > 0; i -= 2 {
			require.NoError(t, leases[i].Err())
			require.NoError(t, leases[i].Unlock(bg))
		}
		synctest.Wait()
		requireHolder(t, "", w.nodes)
	})
}

// The hold may have ended by the time that the nodes have been silent for too long. Who notices it first is left to chance, so
// it is tried often.
func TestReentryLooksAtTheClockAfterItHasAsked(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		p := w.process()
		for range 50 {
			scope := lock.WithOwner(bg)
			l, err := p.mutex(lock.WithoutWatchdog()).Lock(scope)
			require.NoError(t, err)
			time.Sleep(time.Until(l.Deadline()) - defaultNodeTimeout)
			w.nodes[0].Silence(true)
			_, err = p.mutex().Lock(scope)
			require.ErrorIs(t, err, lock.ErrLost)
			require.Equal(t, l.Deadline(), time.Now())
			w.nodes[0].Silence(false)
			time.Sleep(defaultTTL)
			require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
		}
	})
}
