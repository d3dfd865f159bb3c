// Package overhead measures what a lock costs its process, without a network and without a
// server: every node answers each script with 1 at once. The module bench has what it
// costs with both.
package overhead

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/echo"
	"github.com/holdfast-go/holdfast/lock"
)

// Make makes a lock of the kind that is measured.
type Make func(locks *lock.Client, name string) lock.Locker

var bg = context.Background()

func echoes(tb testing.TB, n int, opts ...lock.ClientOption) *lock.Client {
	tb.Helper()
	// Whatever else the machine does, a node has the time to answer.
	locks, err := lock.NewClient(echo.Nodes(tb, n), append([]lock.ClientOption{lock.WithNodeTimeout(10 * time.Second)}, opts...)...)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = locks.Close() })
	return locks
}

// pair locks and unlocks m.
func pair(ctx context.Context, tb testing.TB, m lock.Locker) {
	lease, err := m.Lock(ctx)
	if err == nil {
		err = lease.Unlock(ctx)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// LockAndUnlock measures a lock that nobody else wants.
func LockAndUnlock(b *testing.B, of Make) {
	for _, n := range []int{1, 3, 5} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			m := of(echoes(b, n), "orders")
			b.ReportAllocs()
			for b.Loop() {
				pair(bg, b, m)
			}
		})
	}
}

// LockAndUnlockInParallel measures many locks at once.
func LockAndUnlockInParallel(b *testing.B, of Make) {
	for _, n := range []int{1, 5} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			locks := echoes(b, n)
			b.ReportAllocs()
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				m := of(locks, fmt.Sprintf("name %p", pb))
				for pb.Next() {
					pair(bg, b, m)
				}
			})
		})
	}
}

// Reenter measures a lock within a lock.
func Reenter(b *testing.B, of Make) {
	m := of(echoes(b, 1), "orders")
	outer, err := m.Lock(bg)
	require.NoError(b, err)
	ctx := outer.Context(bg)
	b.ReportAllocs()
	for b.Loop() {
		pair(ctx, b, m)
	}
}

// Bounds are the most allocations that a lock and its unlock may cost. They are a little
// above what was measured: lower them when it has become less.
type Bounds struct {
	One, Five float64 // nodes
	Nested    float64 // on one node
}

// Allocations tests that a round on the hot path does not come to allocate more unnoticed.
func Allocations(t *testing.T, of Make, most Bounds) {
	for _, c := range []struct {
		name   string
		nodes  int
		nested bool
		most   float64
	}{
		{"one node", 1, false, most.One},
		{"five nodes", 5, false, most.Five},
		{"nested", 1, true, most.Nested},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, ctx := of(echoes(t, c.nodes), "orders"), bg
			if c.nested {
				outer, err := m.Lock(bg)
				require.NoError(t, err)
				ctx = outer.Context(bg)
			}
			got := testing.AllocsPerRun(500, func() { pair(ctx, t, m) })
			t.Logf("%.0f allocations to lock and unlock", got)
			require.LessOrEqual(t, got, c.most)
		})
	}
}

// Observed tests that an observer costs no allocation: neither one that wants nothing, nor one that is told of all
// that happens on the caller's goroutine.
func Observed(t *testing.T, of Make) {
	idle := lock.Observer{
		Began:     func(ctx context.Context, _ lock.Acquisition) context.Context { return ctx },
		Waits:     func(context.Context, lock.Acquisition) {},
		Ended:     func(context.Context, lock.Acquisition) {},
		HoldEnded: func(context.Context, lock.HoldEnd) {},
	}
	for _, nested := range []bool{false, true} {
		allocations := func(opts ...lock.ClientOption) float64 {
			m, ctx := of(echoes(t, 1, opts...), "orders"), bg
			if nested {
				outer, err := m.Lock(bg)
				require.NoError(t, err)
				ctx = outer.Context(bg)
			}
			return median(func() { pair(ctx, t, m) })
		}
		none := allocations()
		require.Equal(t, none, allocations(lock.WithObserver(lock.Observer{})), "wants nothing, nested: %t", nested)
		require.Equal(t, none, allocations(lock.WithObserver(idle)), "is told, nested: %t", nested)
		require.Equal(t, none, allocations(lock.WithObserver(idle), lock.WithObserver(idle)), "two are told, nested: %t", nested)
	}
}

// median is what most calls of f allocate. A mean depends on how busy the machine is: who does not run for a while has
// given its kept connection back, and takes another one; and a pool loses some of what is put into it to the garbage
// collector, and on purpose under the race detector.
func median(f func()) float64 {
	calls := make([]float64, 201)
	for i := range calls {
		calls[i] = testing.AllocsPerRun(1, f)
	}
	slices.Sort(calls)
	return calls[len(calls)/2]
}

// HandOver tests what it costs to pass a name on from one goroutine of a process to the next. An observer that is
// told of holds adds one allocation, for the hold's id.
func HandOver(t *testing.T, of Make, most float64) {
	calls := lock.Observer{
		Began: func(ctx context.Context, _ lock.Acquisition) context.Context { return ctx },
		Waits: func(context.Context, lock.Acquisition) {},
		Ended: func(context.Context, lock.Acquisition) {},
	}
	holds := lock.Observer{HoldEnded: func(context.Context, lock.HoldEnd) {}}
	t.Run("unobserved", func(t *testing.T) { handOver(t, of(echoes(t, 1), "orders"), most) })
	t.Run("calls are observed", func(t *testing.T) {
		handOver(t, of(echoes(t, 1, lock.WithObserver(calls)), "orders"), most)
	})
	t.Run("holds are observed", func(t *testing.T) {
		handOver(t, of(echoes(t, 1, lock.WithObserver(holds)), "orders"), most+1)
	})
}

func handOver(t *testing.T, m lock.Locker, most float64) {
	const goroutines, times = 8, 200
	var passed atomic.Int64
	got := testing.AllocsPerRun(5, func() {
		passed.Store(0)
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() {
				for range times {
					lease, err := m.Lock(bg)
					if err != nil {
						t.Error(err)
						return
					}
					if strings.Contains(lease.ID(), ".") {
						passed.Add(1)
					}
					// The others want it meanwhile; and there is a token for each microsecond only.
					for began := time.Now(); time.Since(began) < 5*time.Microsecond; {
						runtime.Gosched()
					}
					if err := lease.Unlock(bg); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	}) / (goroutines * times)
	t.Logf("%.1f allocations for each of %d pairs, %d of which were passed on", got, goroutines*times, passed.Load())
	require.Greater(t, passed.Load(), int64(goroutines*times*3/4))
	require.LessOrEqual(t, got, most)
}
