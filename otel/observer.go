package otelholdfast

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-go/holdfast/lock"
)

// scope is what the meter and the tracer are called.
const scope = "github.com/holdfast-go/holdfast/otel"

type settings struct {
	meters  metric.MeterProvider
	tracers trace.TracerProvider
	name    func(string) string
}

// An Option configures [New].
type Option interface{ apply(*settings) }

type option func(*settings)

func (o option) apply(s *settings) { o(s) }

// WithMeterProvider sets the provider for metrics. The default is the global provider. The provider
// of package go.opentelemetry.io/otel/metric/noop turns metrics off.
func WithMeterProvider(p metric.MeterProvider) Option {
	return option(func(s *settings) { s.meters = p })
}

// WithTracerProvider sets the provider for spans. The default is the global provider. The provider
// of package go.opentelemetry.io/otel/trace/noop turns spans off.
func WithTracerProvider(p trace.TracerProvider) Option {
	return option(func(s *settings) { s.tracers = p })
}

// WithNameAttribute adds the attribute holdfast.lock.name to metrics and spans. Its value is what
// of returns for the name of a lock, such as "orders" for "orders:42". Without this option, there
// is no such attribute: programs lock "orders:42" and "user:ann", and each name would have time
// series of its own, which are never removed and may reveal personal data.
//
// The function must be safe for concurrent use, and always return the same for a name. After two
// hundred different results, all new ones are recorded as "other"; kinds and modes do not count.
func WithNameAttribute(of func(name string) string) Option {
	return option(func(s *settings) { s.name = of })
}

// New returns an observer for [lock.WithObserver]. Create one for the program, and give it to each
// of its clients: two observers would overwrite each other's oldest wait. An option or a provider
// that is nil is an error.
func New(opts ...Option) (lock.Observer, error) {
	s := settings{meters: otel.GetMeterProvider(), tracers: otel.GetTracerProvider()}
	for _, o := range opts {
		if o == nil {
			return lock.Observer{}, errors.New("otelholdfast: an option is nil")
		}
		o.apply(&s)
	}
	switch {
	case s.meters == nil:
		return lock.Observer{}, errors.New("otelholdfast: the MeterProvider is nil; package metric/noop has one that turns metrics off")
	case s.tracers == nil:
		return lock.Observer{}, errors.New("otelholdfast: the TracerProvider is nil; package trace/noop has one that turns spans off")
	}
	m, err := newMetrics(s.meters.Meter(scope), s.name)
	if err != nil {
		return lock.Observer{}, err
	}
	t := &tracing{tracer: s.tracers.Tracer(scope), metrics: m}
	return lock.Observer{
		Began: t.began,
		Waits: func(ctx context.Context, a lock.Acquisition) {
			m.waits(ctx, a)
			t.waits(ctx)
		},
		Ended: func(ctx context.Context, a lock.Acquisition) {
			m.ended(ctx, a)
			t.ended(ctx, a)
		},
		HoldEnded: func(ctx context.Context, h lock.HoldEnd) {
			m.holdEnded(ctx, h)
			t.holdEnded(ctx, h)
		},
		Renewed:  m.renewed,
		Answered: m.answered,
	}, nil
}
