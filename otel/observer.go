package otelholdfast

import (
	"context"

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

// An Option changes what New makes.
type Option interface{ apply(*settings) }

type option func(*settings)

func (o option) apply(s *settings) { o(s) }

// WithMeterProvider sets where metrics go. The default is the global provider; one of package
// go.opentelemetry.io/otel/metric/noop turns them off.
func WithMeterProvider(p metric.MeterProvider) Option {
	return option(func(s *settings) { s.meters = p })
}

// WithTracerProvider sets where spans go. The default is the global provider; one of package
// go.opentelemetry.io/otel/trace/noop turns them off.
func WithTracerProvider(p trace.TracerProvider) Option {
	return option(func(s *settings) { s.tracers = p })
}

// WithNameAttribute adds the attribute holdfast.lock.name to metrics and spans, with what of makes of
// the name of a lock, such as "orders" of "orders:42". Without it there is none: programs lock
// "orders:42" and "user:ann", and each name would have time series of its own, which are never
// removed and may tell of people.
//
// The function must be safe for concurrent use, and always say the same of a name. After two
// hundred different answers, all new ones are recorded as "other"; kinds and modes do not count.
func WithNameAttribute(of func(name string) string) Option {
	return option(func(s *settings) { s.name = of })
}

// New makes an observer for [lock.WithObserver]. Make one for the program, and give it to each of
// its clients: what two of them report as the oldest wait would overwrite each other.
func New(opts ...Option) (lock.Observer, error) {
	s := settings{meters: otel.GetMeterProvider(), tracers: otel.GetTracerProvider()}
	for _, o := range opts {
		o.apply(&s)
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
