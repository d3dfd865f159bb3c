package semaphore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

func TestWhatCannotBeAskedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	c := r.client(t)
	for _, bad := range []struct {
		permits, n int
		says       string
	}{
		{3, 0, "asked for 0 permits"},
		{3, -1, "asked for -1 permits"},
		{3, 4, "asked for 4 permits, and there are only 3"},
		{0, 1, "it has 0 permits"},
		{-1, 1, "it has -1 permits"},
		{semaphore.MaxPermits + 1, 1, "the maximum is 10000"},
	} {
		s := semaphore.New(c, r.name, bad.permits)
		_, err := s.TryAcquire(bg, bad.n) // it does not wait
		require.ErrorContains(t, err, bad.says)
		_, err = s.Acquire(bg, bad.n)
		require.ErrorContains(t, err, bad.says)
		require.ErrorContains(t, s.Do(bg, bad.n, nil), bad.says)
	}
	_, err := semaphore.New(c, r.name, 0).Inspect(bg)
	require.ErrorContains(t, err, "it has 0 permits")
	_, err = semaphore.New(c, "", 1).Acquire(bg, 1)
	require.ErrorContains(t, err, "empty")
	_, err = semaphore.New(nil, r.name, 1).Acquire(bg, 1)
	require.ErrorContains(t, err, "nil")
	require.ErrorContains(t, semaphore.New(c, r.name, 3).Do(bg, 1, nil), "no function")
	require.Empty(t, r.servers[0].Keys(t), "nothing was touched")
}

func TestReleasedTwice(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		s := r.semaphore(t, 2)
		p, q := take(t, s, 1), take(t, s, 1)
		require.NoError(t, p.Err())
		release(t, p)
		require.ErrorIs(t, p.Err(), lock.ErrReleased)
		again := take(t, s, 1)
		require.Equal(t, p.Slots(), again.Slots())
		require.ErrorIs(t, p.Release(bg), lock.ErrReleased, "it gives back nothing of the next one's")
		require.ErrorIs(t, p.Extend(bg, time.Minute), lock.ErrReleased)
		_, err := s.TryAcquire(bg, 1)
		require.ErrorIs(t, err, lock.ErrLocked)
		release(t, q, again)
	})
}

func TestReleasedAfterALoss(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		s := r.semaphore(t, 2)
		p := take(t, r.semaphore(t, 2, lock.WithTTL(short), lock.WithoutWatchdog()), 2)
		ctx := p.Context(bg)
		<-p.Done()
		require.ErrorIs(t, context.Cause(ctx), lock.ErrLost)
		require.ErrorIs(t, p.Err(), lock.ErrLost)
		next := take(t, s, 2)
		require.ErrorIs(t, p.Release(bg), lock.ErrLost)
		require.NoError(t, next.Err())
		state, err := s.Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, 2, state.InUse)
		release(t, next)
		r.requireNoKeys(t)
	})
}

func TestTheZeroPermitIsOver(t *testing.T) {
	t.Parallel()
	var p semaphore.Permit
	require.ErrorIs(t, p.Err(), lock.ErrNotHeld)
	require.ErrorIs(t, p.Release(bg), lock.ErrNotHeld)
	require.Empty(t, p.Slots())
	<-p.Done()
}

// Kinds of other families find the name taken, and say by what; and so does the semaphore.
func TestOneNameOneKind(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		c, d := r.client(t), r.client(t)
		s := semaphore.New(c, r.name, 3, calm)
		others := map[string]lock.Locker{
			"reentrant": reentrant.New(d, r.name), "fair": fair.New(d, r.name, calm),
			"writer": readwrite.New(d, r.name, calm), "reader": readwrite.New(d, r.name, calm).RLocker(),
		}
		for name, other := range others {
			p := take(t, s, 1)
			_, err := other.TryLock(bg)
			require.ErrorIs(t, err, lock.ErrKind, name)
			require.ErrorContains(t, err, "semaphore", name)
			_, err = other.Lock(bg)
			require.ErrorIs(t, err, lock.ErrKind, name)
			require.NoError(t, p.Err(), name)
			release(t, p)
			l, err := other.TryLock(bg)
			require.NoError(t, err, name)
			_, err = s.TryAcquire(bg, 1)
			require.ErrorIs(t, err, lock.ErrKind, name)
			require.ErrorContains(t, err, "semaphore", name)
			_, err = s.Acquire(bg, 2)
			require.ErrorIs(t, err, lock.ErrKind, name)
			require.NoError(t, l.Unlock(bg), name)
		}
		r.requireNoKeys(t)
	})
}

func TestAnOwnerDoesNotReenterPermits(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	s := r.semaphore(t, 2)
	ctx := lock.WithOwner(bg)
	p, err := s.TryAcquire(ctx, 1)
	require.NoError(t, err)
	q, err := s.TryAcquire(ctx, 1)
	require.NoError(t, err)
	require.NotEqual(t, p.Slots(), q.Slots())
	_, err = s.TryAcquire(ctx, 1)
	require.ErrorIs(t, err, lock.ErrLocked)
	release(t, p, q)
}

func TestDo(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	s := r.semaphore(t, 2)
	failed := errors.New("failed")
	require.Same(t, failed, s.Do(bg, 2, func(ctx context.Context) error {
		_, err := s.TryAcquire(ctx, 1)
		require.ErrorIs(t, err, lock.ErrLocked, "permits are not re-entered")
		return failed
	}), "itself, and not joined with nothing")
	require.Panics(t, func() { _ = s.Do(bg, 1, func(context.Context) error { panic("x") }) })
	r.requireNoKeys(t)
}

// Work under a permit goes on to be the work of the lock's owner under which it was taken.
func TestAPermitIsNoOwner(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	c := r.client(t)
	m, s := reentrant.New(c, "orders"), semaphore.New(c, r.name, 1)
	require.NoError(t, m.Do(bg, func(ctx context.Context) error {
		return s.Do(ctx, 1, func(ctx context.Context) error {
			l, err := m.TryLock(ctx)
			require.NoError(t, err)
			require.Equal(t, 2, l.Count())
			return l.Unlock(ctx)
		})
	}))
}
