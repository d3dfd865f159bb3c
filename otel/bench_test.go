package otelholdfast_test

import (
	"context"
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/holdfast-go/holdfast/internal/echo"
	"github.com/holdfast-go/holdfast/lock"
	otelholdfast "github.com/holdfast-go/holdfast/otel"
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
		for with, opts := range map[string][]lock.ClientOption{
			"none":        nil,
			"empty":       {lock.WithObserver(lock.Observer{})},
			"metrics":     {lock.WithObserver(observer(b, tracenoop.NewTracerProvider()))},
			"sampled out": {lock.WithObserver(observer(b, sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))))},
			"spans":       {lock.WithObserver(observer(b, sdktrace.NewTracerProvider()))},
		} {
			b.Run(name+"/"+with, func(b *testing.B) {
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

func observer(b *testing.B, tracers trace.TracerProvider) lock.Observer {
	o, err := otelholdfast.New(
		otelholdfast.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))),
		otelholdfast.WithTracerProvider(tracers),
	)
	if err != nil {
		b.Fatal(err)
	}
	return o
}
