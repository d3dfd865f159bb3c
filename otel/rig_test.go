package otelholdfast_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	otelholdfast "github.com/holdfast-go/holdfast/otel"
)

var bg = context.Background()

// long is more than anything takes on a machine that is very busy.
const long = time.Minute

func TestMain(m *testing.M) { redistest.Main(m, redistest.IgnoreRedials()) }

// A rig is servers, and an observer whose metrics and spans can be looked at.
type rig struct {
	t        *testing.T
	servers  []*redistest.Server
	reader   *sdkmetric.ManualReader
	spans    *tracetest.SpanRecorder
	tracer   trace.Tracer // the program's own
	observer lock.Observer
}

func newRig(t *testing.T, nodes int, opts ...otelholdfast.Option) *rig {
	t.Helper()
	r := &rig{t: t, reader: sdkmetric.NewManualReader(), spans: tracetest.NewSpanRecorder()}
	if nodes > 0 {
		r.servers = redistest.StartN(t, nodes)
	}
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r.spans))
	r.tracer = tracers.Tracer("program")
	var err error
	r.observer, err = otelholdfast.New(append([]otelholdfast.Option{
		otelholdfast.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader))),
		otelholdfast.WithTracerProvider(tracers),
	}, opts...)...)
	require.NoError(t, err)
	return r
}

// client is one more client, as of another process.
func (r *rig) client(opts ...lock.ClientOption) *lock.Client {
	r.t.Helper()
	locks, err := lock.NewClient(redistest.Clients(r.t, r.servers), append([]lock.ClientOption{
		lock.WithNodeTimeout(time.Second), // a busy machine must not count as a node that is down
		lock.WithObserver(r.observer),
	}, opts...)...)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = locks.Close() })
	return locks
}

// metrics are all that there are, by name.
func (r *rig) metrics() map[string]metricdata.Metrics {
	var all metricdata.ResourceMetrics
	require.NoError(r.t, r.reader.Collect(bg, &all))
	named := make(map[string]metricdata.Metrics)
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			named[m.Name] = m
		}
	}
	return named
}

// A point is one series of a metric: of a histogram how many values it has.
type point struct {
	attrs attribute.Set
	value float64
}

func points(m metricdata.Metrics) []point {
	var all []point
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			all = append(all, point{p.Attributes, float64(p.Value)})
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			all = append(all, point{p.Attributes, p.Value})
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			all = append(all, point{p.Attributes, float64(p.Count)})
		}
	}
	return all
}

// sum adds up the series of a metric that have these attributes: key, value, key, value.
func (r *rig) sum(name string, attrs ...string) float64 {
	total := 0.0
	for _, p := range points(r.metrics()[name]) {
		if has(p.attrs, attrs...) {
			total += p.value
		}
	}
	return total
}

func has(set attribute.Set, attrs ...string) bool {
	for i := 0; i < len(attrs); i += 2 {
		if v, ok := set.Value(attribute.Key(attrs[i])); !ok || v.String() != attrs[i+1] {
			return false
		}
	}
	return true
}

// becomes waits until sum is want.
func (r *rig) becomes(want float64, name string, attrs ...string) {
	r.t.Helper()
	redistest.Eventually(r.t, long, func() bool { return r.sum(name, attrs...) == want },
		"%s %v is %v, now %v", name, attrs, want, r.metrics()[name])
}

// exceeds waits until sum is more than bound.
func (r *rig) exceeds(bound float64, name string, attrs ...string) {
	r.t.Helper()
	redistest.Eventually(r.t, long, func() bool { return r.sum(name, attrs...) > bound },
		"%s %v is more than %v, now %v", name, attrs, bound, r.metrics()[name])
}

// over holds that nothing is left of what goes up and down.
func (r *rig) over() {
	r.t.Helper()
	for _, name := range []string{"holdfast.leases", "holdfast.waiters", "holdfast.waiting.oldest"} {
		for _, p := range points(r.metrics()[name]) {
			require.Zero(r.t, p.value, "%s %v", name, p.attrs)
		}
	}
}

func (r *rig) lock(m lock.Locker) *lock.Lease {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(bg, long)
	defer cancel()
	l, err := m.Lock(ctx)
	require.NoError(r.t, err)
	return l
}

// wait has m locked, and unlocked at once, on another goroutine.
func wait(ctx context.Context, m lock.Locker) <-chan error {
	done := make(chan error, 1)
	go func() {
		l, err := m.Lock(ctx)
		if err == nil {
			err = l.Unlock(bg)
		}
		done <- err
	}()
	return done
}

func (r *rig) await(done <-chan error) error {
	r.t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(long):
		r.t.Fatal("it still waits")
		return nil
	}
}

// lost waits until l is lost.
func (r *rig) lost(l *lock.Lease) {
	r.t.Helper()
	select {
	case <-l.Done():
	case <-time.After(long):
		r.t.Fatal("it is not lost")
	}
	require.ErrorIs(r.t, l.Err(), lock.ErrLost)
}

// An overdue context has a deadline that is over when the test says so.
type overdue struct {
	context.Context
	over chan struct{}
}

func (o overdue) Done() <-chan struct{} { return o.over }

func (o overdue) Err() error {
	select {
	case <-o.over:
		return context.DeadlineExceeded
	default:
		return o.Context.Err()
	}
}
