package lock_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// A re-entry asks no node and starts nothing in the background, so that each allocation is the call's own. There are few, and
// none of them for an observer: without one there are as many as with one that is told of every call.
func TestWhoObservesCallsAllocatesNothing(t *testing.T) {
	allocations := func(t *testing.T, opts ...lock.ClientOption) (n float64) {
		inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
			p := w.process(opts...)
			m := p.mutex()
			ctx := w.lock(m).Context(bg)
			n = testing.AllocsPerRun(200, func() {
				l, err := m.Lock(ctx)
				if err == nil {
					err = l.Unlock(ctx)
				}
				if err != nil {
					t.Error(err)
				}
			})
		})
		return n
	}
	calls := 0
	none := allocations(t)
	require.LessOrEqual(t, none, 3.0)
	require.Equal(t, none, allocations(t, lock.WithObserver(lock.Observer{})), "an observer that wants nothing")
	require.Equal(t, none, allocations(t, lock.WithObserver(lock.Observer{
		Began: func(ctx context.Context, _ lock.Acquisition) context.Context { calls++; return ctx },
		Ended: func(context.Context, lock.Acquisition) { calls++ },
	})), "one that is told of calls")
	require.Greater(t, calls, 400)
}
