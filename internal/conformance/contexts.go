package conformance

import (
	"context"
	"errors"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// What Lease.Context carries, and when it ends.
var contexts = rules{
	"ContextEndsWithUnlock": func(t *stage) {
		l := t.locker()
		lease := t.acquire(bg, l)
		ctx := lease.Context(bg)
		require.NoError(t, ctx.Err())
		t.unlock(lease)
		t.requireEnded(ctx, lock.ErrReleased)
		_, err := l.Lock(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, lock.ErrReleased)
	},

	"ContextGivenAfterUnlockHasEnded": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		t.unlock(lease)
		t.requireEnded(lease.Context(bg), lock.ErrReleased)
	},

	"ContextEndsWithItsParent": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		cause := errors.New("the client hung up")
		parent, cancel := context.WithCancelCause(bg)
		ctx, other := lease.Context(parent), lease.Context(bg)
		cancel(cause)
		t.requireEnded(ctx, cause)
		require.NoError(t, other.Err())
		require.NoError(t, lease.Err(), "the lease is still held")
		t.unlock(lease)
	},

	"ContextHasTheDeadlineOfItsParent": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		parent, cancel := context.WithTimeout(bg, within)
		defer cancel()
		want, _ := parent.Deadline()
		got, ok := lease.Context(parent).Deadline()
		require.True(t, ok)
		require.Equal(t, want, got)
		_, ok = lease.Context(bg).Deadline()
		require.False(t, ok, "a lease is renewed: its deadline is none of the work's")
		t.unlock(lease)
	},

	"ContextOfALostLeaseEndsWithErrLost": func(t *stage) {
		l := t.locker(lock.WithTTL(shortTTL))
		lease := t.acquire(bg, l)
		ctx, cancel := context.WithCancel(lease.Context(bg))
		defer cancel()
		t.lose()
		t.requireEnded(ctx, lock.ErrLost)
		t.requireEnded(lease.Context(bg), lock.ErrLost)
		_, err := l.Lock(ctx)
		require.ErrorIs(t, err, lock.ErrLost)
		require.ErrorIs(t, lease.Unlock(bg), lock.ErrLost)
		t.requireEnded(lease.Context(bg), lock.ErrLost)
	},

	"WorkUnderTheContextHearsOfALossDeepDown": func(t *stage) {
		l := t.locker(lock.WithTTL(shortTTL))
		lease := t.acquire(bg, l)
		heard := make(chan error)
		ctx, cancel := context.WithTimeout(lease.Context(bg), within)
		defer cancel()
		context.AfterFunc(ctx, func() { heard <- context.Cause(ctx) })
		t.lose()
		require.ErrorIs(t, <-heard, lock.ErrLost)
		t.requireLost(lease)
	},
}
