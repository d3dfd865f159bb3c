package promholdfast_test

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast/internal/echo"
	"github.com/holdfast-go/holdfast/lock"
	promholdfast "github.com/holdfast-go/holdfast/prometheus"
	"github.com/holdfast-go/holdfast/reentrant"
)

// BenchmarkPair measures Lock and Unlock without a server, and what an observer adds: docs/observing.md
// has the ratios.
func BenchmarkPair(b *testing.B) {
	for name, run := range map[string]func(*testing.B, *reentrant.Mutex){
		"free": func(b *testing.B, m *reentrant.Mutex) {
			for b.Loop() {
				pair(bg, b, m)
			}
		},
		"reentry": func(b *testing.B, m *reentrant.Mutex) {
			l, err := m.Lock(bg)
			if err != nil {
				b.Fatal(err)
			}
			ctx := l.Context(bg)
			for b.Loop() {
				pair(ctx, b, m)
			}
		},
		"passed": func(b *testing.B, m *reentrant.Mutex) {
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					pair(bg, b, m)
				}
			})
		},
	} {
		for observer, opts := range map[string][]lock.ClientOption{
			"none":       nil,
			"empty":      {lock.WithObserver(lock.Observer{})},
			"prometheus": {lock.WithObserver(promholdfast.New().Observer())},
		} {
			b.Run(name+"/"+observer, func(b *testing.B) {
				locks, err := lock.NewClient(echo.Nodes(b, 1), opts...)
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { _ = locks.Close() })
				b.ReportAllocs()
				run(b, reentrant.New(locks, "orders"))
			})
		}
	}
}

func pair(ctx context.Context, b *testing.B, m *reentrant.Mutex) {
	l, err := m.Lock(ctx)
	if err == nil {
		err = l.Unlock(ctx)
	}
	if err != nil {
		b.Error(err)
	}
}
