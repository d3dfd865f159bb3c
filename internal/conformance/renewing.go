package conformance

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// What the watchdog does while the work lasts.
var renewing = rules{
	"WatchdogKeepsALockForManyTTLs": func(t *stage) {
		l := t.locker(lock.WithTTL(shortTTL))
		lease := t.acquire(bg, l)
		until := time.Now().Add(3 * shortTTL)
		t.eventually(func() bool { return lease.Deadline().After(until) || lease.Err() != nil }, "it is renewed for three TTLs")
		require.NoError(t, lease.Err())
		t.requireTaken(t.locker(), lease)
		t.unlock(lease)
	},

	"RenewalMovesTheDeadlineAndTheKeys": func(t *stage) {
		const drift = 3 * time.Second
		l := t.on(t.client(lock.WithTTL(3*drift), lock.WithClockDrift(0, drift)))
		lease := t.acquire(bg, l)
		first := lease.Deadline()
		t.eventually(func() bool { return lease.Deadline().After(first) || lease.Err() != nil }, "the deadline moves")
		require.NoError(t, lease.Err())
		t.requireCount(l, 1)
		t.requireKeysOutlive(lease, drift)
		t.unlock(lease)
	},

	"RenewalKeepsEveryLeaseOfTheHold": func(t *stage) {
		l := t.locker(lock.WithTTL(shortTTL))
		outer := t.acquire(bg, l)
		inner := t.acquire(outer.Context(bg), l)
		first := inner.Deadline()
		t.eventually(func() bool {
			return outer.Deadline().After(first) && inner.Deadline().After(first) || inner.Err() != nil
		}, "both move")
		require.NoError(t, inner.Err())
		t.unlock(outer)
		second := inner.Deadline()
		t.eventually(func() bool { return inner.Deadline().After(second) || inner.Err() != nil }, "the one that is left moves on")
		require.NoError(t, inner.Err())
		t.unlock(inner)
	},

	"ALeaseWithoutAContextIsRenewed": func(t *stage) {
		l := t.locker(lock.WithTTL(shortTTL))
		ctx, cancel := context.WithCancel(bg)
		lease := t.acquire(ctx, l)
		cancel()
		first := lease.Deadline()
		t.eventually(func() bool { return lease.Deadline().After(first) || lease.Err() != nil }, "it is renewed")
		require.NoError(t, lease.Err())
		t.unlock(lease)
	},

	"AbandonedWorkLetsItsLockLapse": func(t *stage) {
		l := t.locker(lock.WithTTL(shortTTL))
		parent, cancel := context.WithCancel(bg)
		lease := t.acquire(bg, l)
		ctx := lease.Context(parent)
		next := t.asleep(bg, t.locker())
		cancel()
		t.requireEnded(ctx, context.Canceled)
		t.requireLost(lease)
		t.unlock(next.granted(t))
	},

	"OneLivingParentKeepsTheLock": func(t *stage) {
		l := t.locker(lock.WithTTL(shortTTL))
		lease := t.acquire(bg, l)
		short, end := context.WithCancel(bg)
		long, abandon := context.WithCancel(bg)
		lease.Context(short)
		ctx := lease.Context(long)
		end()
		until := time.Now().Add(2 * shortTTL)
		t.eventually(func() bool { return lease.Deadline().After(until) || lease.Err() != nil }, "it is renewed")
		require.NoError(t, ctx.Err())
		abandon()
		t.requireLost(lease)
	},

	"LaterParentHasItRenewedAgain": func(t *stage) {
		l := t.locker(lock.WithTTL(shortTTL))
		lease := t.acquire(bg, l)
		parent, cancel := context.WithCancel(bg)
		first := lease.Context(parent)
		cancel()
		<-first.Done()
		ctx := lease.Context(bg)
		until := time.Now().Add(2 * shortTTL)
		t.eventually(func() bool { return lease.Deadline().After(until) || lease.Err() != nil }, "it is renewed")
		require.NoError(t, lease.Err())
		require.NoError(t, ctx.Err())
		t.unlock(lease)
	},
}
