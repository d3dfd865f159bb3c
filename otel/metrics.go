package otelholdfast

import (
	"context"
	"errors"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/holdfast-go/holdfast/lock"
)

var (
	// Locks are acquired within a process in microseconds, and waited for through a deployment.
	durations = []float64{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300}
	// More than a node timeout is a node that was not heard.
	trips = []float64{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10}
	// Of validity, two thirds of a TTL are left as a rule.
	validities = []float64{0, 0.1, 0.3, 1, 2, 3, 5, 7, 10, 15, 20, 30, 60, 120, 300}
)

// metrics are the instruments, and the attributes by which they are told apart.
type metrics struct {
	name func(string) string // immutable; nil: names are no attributes

	acquire, hold, validity, trip                      metric.Float64Histogram
	waiters, leases                                    metric.Int64UpDownCounter
	contentions, handovers, losses, renewals, requests metric.Int64Counter

	names  table[string, string] // that are recorded as they are
	series table[label, *series]
	nodes  table[request, answer]
	ways   table[trip, measurement]
}

// A label is what tells the metrics of some locks from those of others.
type label struct{ kind, mode, name string }

// A request is what tells the commands to nodes apart.
type request struct{ node, command, outcome string }

// A trip is what tells apart how long commands to nodes take.
type trip struct{ node, outcome string }

// An answer is what is recorded when a node has answered, or not.
type answer struct{ request, trip measurement }

func newMetrics(m metric.Meter, name func(string) string) (*metrics, error) {
	s := &metrics{name: name}
	s.series.make, s.series.rest, s.series.most = s.newSeries, label{kind: other, name: other}, maxLabels
	s.names.make, s.names.rest, s.names.most = func(name string) string { return name }, other, maxNames
	s.nodes.make, s.nodes.rest, s.nodes.most = s.newAnswer, request{other, other, other}, maxRequests
	s.ways.make, s.ways.rest, s.ways.most = newTrip, trip{other, other}, maxTrips

	var errs []error
	histogram := func(to *metric.Float64Histogram, name, about string, bounds []float64) {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(about), metric.WithExplicitBucketBoundaries(bounds...))
		*to, errs = h, append(errs, err)
	}
	gauge := func(to *metric.Int64UpDownCounter, name, unit, about string) {
		c, err := m.Int64UpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(about))
		*to, errs = c, append(errs, err)
	}
	counter := func(to *metric.Int64Counter, name, unit, about string) {
		c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(about))
		*to, errs = c, append(errs, err)
	}
	histogram(&s.acquire, "holdfast.acquire.duration", "How long calls that acquire a lock took.", durations)
	histogram(&s.hold, "holdfast.hold.duration", "How long locks were held.", durations)
	histogram(&s.validity, "holdfast.validity.remaining", "Validity that a lease had left when its renewal was decided.", validities)
	histogram(&s.trip, "holdfast.node.duration", "How long nodes took to answer, or were waited for.", trips)
	gauge(&s.waiters, "holdfast.waiters", "{call}", "Calls that wait for a lock.")
	gauge(&s.leases, "holdfast.leases", "{lease}", "Locks that are held, re-entries not counted.")
	counter(&s.contentions, "holdfast.contentions", "{call}", "Calls that had to wait for a lock.")
	counter(&s.handovers, "holdfast.handovers", "{handover}", "Locks that were acquired, by how they came.")
	counter(&s.losses, "holdfast.losses", "{lease}", "Locks that were lost while they were held.")
	counter(&s.renewals, "holdfast.renewals", "{renewal}", "Rounds of renewals.")
	counter(&s.requests, "holdfast.node.requests", "{request}", "Commands that nodes have answered, or not.")
	_, err := m.Float64ObservableGauge("holdfast.waiting.oldest", metric.WithUnit("s"),
		metric.WithDescription("For how long the call that has waited longest waits by now."),
		metric.WithFloat64Callback(s.oldest))
	return s, errors.Join(append(errs, err)...)
}

func (m *metrics) oldest(_ context.Context, o metric.Float64Observer) error {
	for _, s := range m.series.values() {
		o.Observe(s.waiting.oldest().Seconds(), s.plain.option)
	}
	return nil
}

// of returns what is recorded of a lock.
func (m *metrics) of(k lock.LockKind, name string) *series {
	l := label{kind: k.Kind, mode: k.Mode}
	if m.name != nil {
		// Names are any bytes, and text is what metrics are made of.
		l.name = m.names.of(strings.ToValidUTF8(m.name(name), "\uFFFD"))
	}
	return m.series.of(l)
}

func (m *metrics) waits(ctx context.Context, a lock.Acquisition) {
	s := m.of(a.LockKind, a.Name)
	s.waiting.begin(a.Start)
	m.waiters.Add(ctx, 1, s.plain.add...)
	m.contentions.Add(ctx, 1, s.plain.add...)
}

func (m *metrics) ended(ctx context.Context, a lock.Acquisition) {
	s := m.of(a.LockKind, a.Name)
	if a.Contended {
		s.waiting.end(a.Start)
		m.waiters.Add(ctx, -1, s.plain.add...)
	}
	outcome := a.Outcome()
	m.acquire.Record(ctx, a.Waited.Seconds(), s.outcome(outcome).record...)
	if a.Lease == nil {
		return
	}
	m.handovers.Add(ctx, 1, s.handover(a.Handover).add...)
	if a.Handover != lock.HandoverReentry {
		m.leases.Add(ctx, 1, s.plain.add...)
	}
}

func (m *metrics) holdEnded(ctx context.Context, h lock.HoldEnd) {
	s := m.of(h.LockKind, h.Name)
	m.leases.Add(ctx, -1, s.plain.add...)
	m.hold.Record(ctx, h.Held.Seconds(), s.end(h.Reason).record...)
	if isLoss(h.Reason) {
		m.losses.Add(ctx, 1, s.loss(h.Reason).add...)
	}
}

func isLoss(r lock.Reason) bool { return r != lock.ReasonUnlocked && r != lock.ReasonClosed }

func (m *metrics) renewed(r lock.Renewal) {
	ctx, s := context.Background(), m.of(r.LockKind, r.Name)
	m.validity.Record(ctx, max(0, r.Left.Seconds()), s.plain.record...) // a sum that falls is a counter that was reset
	which := s.failed
	if r.Confirmed {
		which = s.confirmed
	}
	m.renewals.Add(ctx, 1, which.add...)
}

func (m *metrics) answered(a lock.NodeAnswer) {
	ctx, n := context.Background(), m.nodes.of(request{a.Node, a.Command, a.Outcome})
	m.requests.Add(ctx, 1, n.request.add...)
	m.trip.Record(ctx, a.Took.Seconds(), n.trip.record...)
}

// A measurement is a set of attributes, ready to be recorded without an allocation.
type measurement struct {
	option metric.MeasurementOption
	add    []metric.AddOption
	record []metric.RecordOption
}

func measure(attrs ...attribute.KeyValue) measurement {
	o := metric.WithAttributeSet(attribute.NewSet(attrs...))
	return measurement{o, []metric.AddOption{o}, []metric.RecordOption{o}}
}

func (m *metrics) newAnswer(r request) answer {
	return answer{
		measure(failed(r.outcome, nodeKey.String(r.node), commandKey.String(r.command), outcomeKey.String(r.outcome))...),
		m.ways.of(trip{r.node, r.outcome}),
	}
}

func newTrip(w trip) measurement {
	return measure(failed(w.outcome, nodeKey.String(w.node), outcomeKey.String(w.outcome))...)
}

// failed adds that it is a failure, if it is.
func failed(outcome string, attrs ...attribute.KeyValue) []attribute.KeyValue {
	if outcome == "timeout" || outcome == "error" {
		attrs = append(attrs, errorKey.String(outcome))
	}
	return attrs
}
