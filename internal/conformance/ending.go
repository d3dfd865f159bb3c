package conformance

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// When a lease ends by itself, and what Extend does about it.
var ending = rules{
	"DeadlineIsTheTTLLessClockDriftAfterTheAttemptBegan": func(t *stage) {
		const ttl = 20 * time.Second
		validity := ttl - ttl/100 - 2*time.Millisecond // by default
		l := t.locker(lock.WithTTL(ttl))
		before := time.Now()
		lease := t.acquire(bg, l)
		require.WithinRange(t, lease.Deadline(), before.Add(validity), time.Now().Add(validity))
		inner := t.acquire(lease.Context(bg), l)
		require.Equal(t, lease.Deadline(), inner.Deadline(), "they share the hold")
		t.unlock(inner, lease)
	},

	"KeysOutliveTheDeadline": func(t *stage) {
		const ttl = 20 * time.Second
		const drift = 4 * time.Second
		l := t.on(t.client(lock.WithTTL(ttl), lock.WithClockDrift(0, drift)))
		lease := t.acquire(bg, l)
		t.requireCount(l, 1)
		t.requireKeysOutlive(lease, drift)
		t.unlock(t.acquire(lease.Context(bg), l))
		t.requireCount(l, 1)
		t.requireKeysOutlive(lease, drift)
		require.NoError(t, lease.Extend(bg, ttl))
		t.requireCount(l, 1) // by now, every node has extended it
		t.requireKeysOutlive(lease, drift)
		t.unlock(lease)
	},

	"FixedLeaseEndsAfterItsTTL": func(t *stage) {
		l, others := t.locker(lock.WithTTL(time.Second), lock.WithoutWatchdog()), t.locker()
		lease := t.acquire(bg, l)
		deadline := lease.Deadline()
		next := start(bg, others)
		t.await(lease.Done(), "the end of the lease")
		require.False(t, time.Now().Before(deadline), "it is not cut short")
		require.Equal(t, deadline, lease.Deadline(), "and was not renewed")
		t.requireLost(lease)
		got := next.granted(t)
		require.Greater(t, got.Token(), lease.Token())
		t.unlock(got)
	},

	"MaxHoldEndsRenewalForGood": func(t *stage) {
		const maxHold = shortTTL
		l := t.locker(lock.WithTTL(shortTTL), lock.WithMaxHold(maxHold))
		before := time.Now()
		lease := t.acquire(bg, l)
		began := time.Now()
		first := lease.Deadline()
		ctx := lease.Context(bg)
		t.requireEnded(ctx, lock.ErrLost)
		require.True(t, lease.Deadline().After(first), "it was renewed until then")
		require.Greater(t, time.Since(before), maxHold)
		require.Less(t, lease.Deadline().Sub(began), maxHold+shortTTL+promptly)
		t.requireLost(lease)
		t.unlock(t.acquire(bg, l))
	},

	"ExtendMovesDeadlineAndTTL": func(t *stage) {
		l := t.locker(lock.WithTTL(10*time.Second), lock.WithoutWatchdog())
		lease := t.acquire(bg, l)
		validity := time.Minute - time.Minute/100 - 2*time.Millisecond
		before := time.Now()
		require.NoError(t, lease.Extend(bg, time.Minute))
		require.WithinRange(t, lease.Deadline(), before.Add(validity), time.Now().Add(validity))
		require.Greater(t, t.inspect(l).TTL, 40*time.Second)
		t.unlock(lease)
	},

	"ExtendKeepsAFixedLeaseAlive": func(t *stage) {
		l := t.locker(lock.WithTTL(shortTTL), lock.WithoutWatchdog())
		lease := t.acquire(bg, l)
		until := lease.Deadline().Add(shortTTL)
		t.eventually(func() bool {
			return lease.Extend(bg, shortTTL) != nil || lease.Deadline().After(until)
		}, "it outlives its TTL")
		require.NoError(t, lease.Err())
		t.requireTaken(t.locker(), lease)
		t.unlock(lease)
	},

	"ExtendNeverShortens": func(t *stage) {
		l := t.locker(lock.WithTTL(time.Minute))
		lease := t.acquire(bg, l)
		deadline := lease.Deadline()
		require.NoError(t, lease.Extend(bg, time.Second))
		require.Equal(t, deadline, lease.Deadline())
		require.Greater(t, t.inspect(l).TTL, 40*time.Second)
		t.unlock(lease)
	},

	"ReentryWithAShorterTTLDoesNotShortenTheHold": func(t *stage) {
		c := t.client()
		outer := t.acquire(bg, t.on(c, lock.WithTTL(time.Minute)))
		inner := t.acquire(outer.Context(bg), t.on(c, lock.WithTTL(shortTTL), lock.WithoutWatchdog()))
		require.True(t, inner.Deadline().Before(outer.Deadline()))
		require.Greater(t, t.inspect(t.on(c)).TTL, 40*time.Second)
		t.requireLost(inner)
		require.NoError(t, outer.Err())
		t.requireTaken(t.on(c), outer)
		t.unlock(outer)
	},

	"ExtendOfAReleasedLeaseIsRefused": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		t.unlock(lease)
		require.ErrorIs(t, lease.Extend(bg, time.Minute), lock.ErrReleased)
		t.requireClean()
	},

	"ExtendUnderADoneContextKeepsTheLease": func(t *stage) {
		lease := t.acquire(bg, t.locker(lock.WithoutWatchdog()))
		deadline := lease.Deadline()
		ctx, cancel := context.WithCancel(bg)
		cancel()
		err := lease.Extend(ctx, time.Minute)
		if err == nil {
			require.True(t, lease.Deadline().After(deadline), "or it was faster")
		} else {
			require.ErrorIs(t, err, context.Canceled)
			require.NotErrorIs(t, err, lock.ErrLost)
		}
		require.NoError(t, lease.Err())
		t.unlock(lease)
	},

	"ExtendByAnInvalidTTLIsRefused": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		for _, ttl := range []time.Duration{-time.Second, 0, 2 * time.Millisecond, 48 * time.Hour} {
			deadline := lease.Deadline()
			require.ErrorContains(t, lease.Extend(bg, ttl), ttl.String())
			require.Equal(t, deadline, lease.Deadline())
		}
		require.NoError(t, lease.Err())
		t.unlock(lease)
	},
}
