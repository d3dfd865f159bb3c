package lock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/redlock"
)

func TestMaxHoldStopsRenewalForGood(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		const most = 5 * time.Minute
		m := w.process().mutex(lock.WithMaxHold(most))
		start := time.Now()
		l := w.lock(m)
		ctx := l.Context(bg)
		lost := lostAt(ctx, t, l)
		at := renewals(w.nodes[0])
		last := at[len(at)-1]
		require.LessOrEqual(t, last.Sub(start), most)
		require.GreaterOrEqual(t, last.Sub(start), most-defaultTTL/3, "until then it is renewed")
		require.Equal(t, last.Add(validity(defaultTTL)), lost)
		require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
		time.Sleep(time.Hour)
		require.Len(t, renewals(w.nodes[0]), len(at))
		require.NoError(t, w.lock(m).Unlock(bg))
	})
}

func TestContextDoesNotLiftMaxHold(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex(lock.WithMaxHold(time.Minute)))
		time.Sleep(75 * time.Second) // the last renewal was in the ten seconds before the minute
		require.NoError(t, l.Err())
		ctx := l.Context(bg)
		lost := lostAt(ctx, t, l)
		at := renewals(w.nodes[0])
		require.Equal(t, at[len(at)-1].Add(validity(defaultTTL)), lost)
	})
}

func TestMaxHoldOfOneLeaseDoesNotConcernTheOthersOfItsHold(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		outer := w.lock(p.mutex())
		time.Sleep(50 * time.Second)
		start := time.Now()
		inner, err := p.mutex(lock.WithMaxHold(time.Minute)).Lock(outer.Context(bg))
		require.NoError(t, err)
		require.Equal(t, 2, inner.Count())
		require.GreaterOrEqual(t, lostAt(inner.Context(bg), t, inner).Sub(start), time.Minute, "its own")
		time.Sleep(long)
		require.NoError(t, outer.Err())
		for _, n := range w.nodes {
			require.Equal(t, "1", n.Memory().HGet(keys.Lock, outer.ID()))
		}
		require.ErrorIs(t, inner.Unlock(bg), lock.ErrLost)
		require.NoError(t, outer.Unlock(bg))
	})
}

func TestWithoutWatchdogALeaseEndsAfterItsTTL(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		start := time.Now()
		l := w.lock(w.process().mutex(lock.WithoutWatchdog(), lock.WithTTL(time.Hour)))
		require.Equal(t, start.Add(validity(time.Hour)), l.Deadline())
		require.Equal(t, l.Deadline(), lostAt(l.Context(bg), t, l))
		require.Empty(t, renewals(w.nodes[0]))
		synctest.Wait()
		requireHolder(t, "", w.nodes) // nobody needs to wait for the keys to expire
		require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
	})
}

func TestExtendProlongsAFixedLease(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex(lock.WithoutWatchdog()))
		ctx := l.Context(bg)
		time.Sleep(20 * time.Second)
		start := time.Now()
		require.NoError(t, l.Extend(bg, time.Hour))
		synctest.Wait()
		require.Equal(t, start.Add(validity(time.Hour)), l.Deadline())
		for _, n := range w.nodes {
			_, left := n.Holder(keys.Lock)
			require.Equal(t, time.Hour, left)
		}
		require.Equal(t, validity(time.Hour), lostAt(ctx, t, l).Sub(start))
		require.ErrorIs(t, l.Extend(bg, time.Hour), lock.ErrLost)
	})
}

func TestExtendNeverShortens(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex(lock.WithoutWatchdog()))
		synctest.Wait()
		deadline := l.Deadline()
		require.NoError(t, l.Extend(bg, time.Second))
		synctest.Wait()
		require.Equal(t, deadline, l.Deadline())
		for _, n := range w.nodes {
			_, left := n.Holder(keys.Lock)
			require.Equal(t, defaultTTL, left)
		}
		time.Sleep(time.Until(deadline) - time.Millisecond)
		require.NoError(t, l.Err())
		require.NoError(t, l.Unlock(bg))
	})
}

func TestRenewalDoesNotShortenWhatExtendHasGiven(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		require.NoError(t, l.Extend(bg, time.Hour))
		deadline := l.Deadline()
		time.Sleep(50 * time.Minute)
		require.Equal(t, deadline, l.Deadline())
		_, left := w.nodes[0].Holder(keys.Lock)
		require.Equal(t, 10*time.Minute, left)
		time.Sleep(long)
		require.NoError(t, l.Err(), "later it is renewed as ever")
		require.Less(t, time.Until(l.Deadline()), defaultTTL)
	})
}

func TestExtendWithoutAQuorumMayBeTriedAgain(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex(lock.WithoutWatchdog()))
		synctest.Wait()
		deadline := l.Deadline()
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		start := time.Now()
		require.ErrorIs(t, l.Extend(bg, time.Hour), redlock.ErrNoQuorum)
		require.LessOrEqual(t, time.Since(start), defaultNodeTimeout)
		require.Equal(t, deadline, l.Deadline())
		require.NoError(t, l.Err())
		each(w.quorum(), func(n *virtual.Node) { n.Silence(false) })
		require.NoError(t, l.Extend(bg, time.Hour))
		require.True(t, l.Deadline().After(deadline))
		require.NoError(t, l.Unlock(bg))
		require.ErrorIs(t, l.Extend(bg, time.Hour), lock.ErrReleased)
	})
}

func TestExtensionConfirmedAfterTheOldDeadlineIsNone(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex(lock.WithoutWatchdog()))
		synctest.Wait()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 100*time.Millisecond) })
		time.Sleep(time.Until(l.Deadline()) - 50*time.Millisecond)
		require.ErrorIs(t, l.Extend(bg, time.Hour), lock.ErrLost, "there was a gap")
		time.Sleep(time.Second)
		requireHolder(t, "", w.nodes)
	})
}

func TestCancelledExtendLeavesTheLeaseAsItWas(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex(lock.WithoutWatchdog()))
		deadline := l.Deadline()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 100*time.Millisecond) })
		ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, l.Extend(ctx, time.Hour), context.DeadlineExceeded)
		require.Equal(t, deadline, l.Deadline())
		time.Sleep(time.Second)
		require.NoError(t, l.Unlock(bg))
		require.Equal(t, deadline, l.Deadline())
	})
}

// What a caller asked for who has left may have been done. A node that was cut off before it
// could confirm the release is asked for as long as it may have the key: for the TTL that
// was asked for last, and not for the hold's.
func TestReleaseIsRepeatedForAsLongAsAnyTTLThatWasAskedFor(t *testing.T) {
	for what, ask := range map[string]func(ctx context.Context, p *process, l *lock.Lease) error{
		"Extend": func(ctx context.Context, _ *process, l *lock.Lease) error { return l.Extend(ctx, time.Minute) },
		"re-entry": func(ctx context.Context, p *process, _ *lock.Lease) error {
			_, err := p.mutex(lock.WithTTL(time.Minute)).Lock(ctx)
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				const trip = 20 * time.Millisecond
				p := w.process()
				l := w.lock(p.mutex(lock.WithTTL(5*time.Second), lock.WithoutWatchdog()))
				each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, trip) })
				ctx, cancel := context.WithTimeout(l.Context(bg), trip/2)
				defer cancel()
				require.ErrorIs(t, ask(ctx, p, l), context.DeadlineExceeded)
				time.Sleep(trip)
				far := w.nodes[0]
				_, ttl := far.Holder(keys.Lock)
				require.Greater(t, ttl, 50*time.Second, "it was done")
				far.Silence(true)
				require.NoError(t, l.Unlock(bg))
				time.Sleep(30 * time.Second)
				requireHolder(t, l.ID(), w.nodes[:1])
				far.Silence(false)
				time.Sleep(5 * time.Second)
				requireHolder(t, "", w.nodes)
			})
		})
	}
}
