package promholdfast_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	promholdfast "github.com/holdfast-go/holdfast/prometheus"
)

var bg = context.Background()

// long is more than anything takes on a machine that is very busy.
const long = time.Minute

func TestMain(m *testing.M) { redistest.Main(m, redistest.IgnoreRedials()) }

// A rig is servers, and a collector that can be looked at.
type rig struct {
	t         *testing.T
	servers   []*redistest.Server
	collector *promholdfast.Collector
	registry  *prometheus.Registry
}

func newRig(t *testing.T, nodes int, opts ...promholdfast.Option) *rig {
	t.Helper()
	r := &rig{t: t, collector: promholdfast.New(opts...), registry: prometheus.NewPedanticRegistry()}
	if nodes > 0 {
		r.servers = redistest.StartN(t, nodes)
	}
	require.NoError(t, r.registry.Register(r.collector))
	return r
}

// client is one more client, as of another process.
func (r *rig) client(opts ...lock.ClientOption) *lock.Client {
	r.t.Helper()
	locks, err := lock.NewClient(redistest.Clients(r.t, r.servers), append([]lock.ClientOption{
		lock.WithNodeTimeout(time.Second), // a busy machine must not count as a node that is down
		lock.WithObserver(r.collector.Observer()),
	}, opts...)...)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = locks.Close() })
	return locks
}

// series are those of one metric.
func (r *rig) series(name string) []*dto.Metric {
	families, err := r.registry.Gather()
	require.NoError(r.t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()
		}
	}
	return nil
}

// value is that of one series: of a histogram how many values it has.
func value(m *dto.Metric) float64 {
	return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
}

func has(m *dto.Metric, labels ...string) bool {
	for i := 0; i < len(labels); i += 2 {
		found := false
		for _, l := range m.GetLabel() {
			found = found || l.GetName() == labels[i] && l.GetValue() == labels[i+1]
		}
		if !found {
			return false
		}
	}
	return true
}

// sum adds up the series of a metric that have these labels: name, value, name, value. There must be one.
func (r *rig) sum(name string, labels ...string) float64 {
	total, found := 0.0, false
	for _, m := range r.series(name) {
		if has(m, labels...) {
			total += value(m)
			found = true
		}
	}
	require.True(r.t, found || strings.HasPrefix(name, "holdfast_node_"), "no %s %v", name, labels)
	return total
}

// metric is the series of a metric that has these labels.
func (r *rig) metric(name string, labels ...string) *dto.Metric {
	r.t.Helper()
	for _, m := range r.series(name) {
		if has(m, labels...) {
			return m
		}
	}
	r.t.Fatalf("no %s %v", name, labels)
	return nil
}

// becomes waits until sum is want.
func (r *rig) becomes(want float64, name string, labels ...string) {
	r.t.Helper()
	redistest.Eventually(r.t, long, func() bool { return r.sum(name, labels...) == want }, "%s %v is %v", name, labels, want)
}

// exceeds waits until sum is more than bound.
func (r *rig) exceeds(bound float64, name string, labels ...string) {
	r.t.Helper()
	redistest.Eventually(r.t, long, func() bool { return r.sum(name, labels...) > bound }, "%s %v is more than %v", name, labels, bound)
}

// over holds that nothing is left of what goes up and down.
func (r *rig) over() {
	r.t.Helper()
	for _, name := range []string{"holdfast_leases", "holdfast_waiters", "holdfast_waiting_oldest_seconds"} {
		for _, m := range r.series(name) {
			require.Zero(r.t, value(m), "%s %v", name, m)
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
