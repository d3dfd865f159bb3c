package multi_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/reentrant"
)

// How programs make one, and what it is.
var (
	_ func(...lock.Locker) *multi.Mutex          = multi.New
	_ func(context.Context) (*multi.Lease, bool) = multi.FromContext

	_ interface {
		Lock(ctx context.Context) (*multi.Lease, error)
		TryLock(ctx context.Context) (*multi.Lease, error)
		Do(ctx context.Context, fn func(context.Context) error) error
	} = (*multi.Mutex)(nil)
)

// A fake is a lock that must not be asked for.
type fake struct {
	lock.Locker
	t *testing.T
}

func (f fake) Name() string { return "fake" }

func (f fake) Lock(context.Context) (*lock.Lease, error) {
	f.t.Error("it is asked for")
	return nil, lock.ErrClosed
}

func (f fake) TryLock(ctx context.Context) (*lock.Lease, error) { return f.Lock(ctx) }

func TestMutexOfNothingOrOfNilFails(t *testing.T) {
	f := fake{t: t}
	for want, m := range map[string]*multi.Mutex{
		"multi: there is no lock to take":   multi.New(),
		"multi: there is no lock to take ":  new(multi.Mutex),
		"multi: lock 1 of 1 is nil":         multi.New(nil),
		"multi: lock 2 of 3 is nil":         multi.New(f, nil, f),
		"multi: lock 3 of 3 is nil":         multi.New(f, f, lock.Locker(nil)),
		"multi: there is no lock to take  ": multi.New([]lock.Locker{}...),
	} {
		for _, take := range []func(context.Context) (*multi.Lease, error){m.Lock, m.TryLock} {
			l, err := take(bg)
			require.Nil(t, l)
			require.ErrorContains(t, err, want[:len("multi: lock 1 of 1 is nil")])
		}
		require.Error(t, m.Do(bg, func(context.Context) error { t.Error("it runs"); return nil }))
	}
}

// A hollow lock answers with a lease of nothing, as a fake may: at once, or when it is waited for.
type hollow struct {
	lock.Locker
	lease *lock.Lease
	busy  bool
}

func (h hollow) Name() string                              { return "hollow" }
func (h hollow) Lock(context.Context) (*lock.Lease, error) { return h.lease, nil }

func (h hollow) TryLock(context.Context) (*lock.Lease, error) {
	if h.busy {
		return nil, lock.ErrLocked
	}
	return h.lease, nil
}

func TestALeaseOfNothingIsAnError(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		c := w.client()
		for _, h := range []hollow{{}, {busy: true}, {lease: new(lock.Lease)}, {lease: new(lock.Lease), busy: true}} {
			m := multi.New(append(of(c, "a", "z"), h)...)
			takes := []func() error{
				func() error { _, err := m.Lock(bg); return err },
				func() error { return m.Do(bg, func(context.Context) error { t.Error("it runs"); return nil }) },
			}
			if !h.busy {
				takes = append(takes, func() error { _, err := m.TryLock(bg); return err })
			}
			for _, take := range takes {
				require.EqualError(t, take(), `multi: lock "hollow", a multi_test.hollow, has returned neither a lease that is held nor an error`)
				w.requireFree("a", "z")
			}
		}
	})
}

func TestZeroLeaseIsOneOfNothing(t *testing.T) {
	var l multi.Lease
	require.Empty(t, l.Leases())
	require.True(t, l.Deadline().IsZero())
	require.Equal(t, lock.ErrNotHeld, l.Err())
	<-l.Done()
	ctx := l.Context(bg)
	<-ctx.Done()
	require.Equal(t, lock.ErrNotHeld, context.Cause(ctx))
	require.Equal(t, lock.ErrNotHeld, l.Unlock(bg))
}

func TestNewCopiesItsArguments(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		locks := of(w.client(), "b", "a")
		m := multi.New(locks...)
		locks[0] = reentrant.New(w.client(), "c")
		l := tryAll(bg, t, m)
		require.Equal(t, "b", l.Leases()[0].Name())
		l.Leases()[0] = nil
		require.NotNil(t, l.Leases()[0])
		require.NoError(t, l.Unlock(bg))
	})
}
