package promholdfast

import (
	"context"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-go/holdfast/lock"
)

type settings struct {
	name    func(string) string
	kinds   []string
	buckets []float64
}

// An Option configures [New].
type Option interface{ apply(*settings) }

type option func(*settings)

func (o option) apply(s *settings) { o(s) }

// WithNameLabel adds the label name. Its value is what of returns for the name of a lock, such as
// "orders" for "orders:42". Without this option, there is no such label: programs lock "orders:42"
// and "user:ann", and each name would have time series of its own, which are never removed and may
// reveal personal data.
//
// The function must be safe for concurrent use, and always return the same for a name. After two
// hundred different results, all new ones are counted as "other"; kinds and modes do not count. As
// names are not known beforehand, series begin with the first call for a name.
func WithNameLabel(of func(name string) string) Option {
	return option(func(s *settings) { s.name = of })
}

// WithKinds sets which kinds of locks have series before they are used. The default is "reentrant",
// "fair", "readwrite" and "semaphore". A kind has about two hundred series, "readwrite" twice as
// many.
func WithKinds(kinds ...string) Option {
	return option(func(s *settings) { s.kinds = kinds })
}

// WithBuckets sets the upper bounds, in seconds and in ascending order, of the buckets of the
// histograms for the durations of calls and holds. The default is from 100 µs to 5 minutes, two per
// decade.
func WithBuckets(bounds ...float64) Option {
	return option(func(s *settings) { s.buckets = bounds })
}

// A Collector counts what locks do. It is safe for concurrent use, and must be created by [New].
type Collector struct {
	name func(string) string // immutable; nil: there is no such label

	acquire, hold, validity, trips                     *prometheus.HistogramVec
	waiters, leases                                    *prometheus.GaugeVec
	contentions, handovers, losses, renewals, requests *prometheus.CounterVec
	oldest                                             *prometheus.Desc

	names  table[string, string] // that are counted as they are
	series table[label, *series]
	nodes  table[request, answer]
	ways   table[trip, prometheus.Observer]
}

var _ prometheus.Collector = (*Collector)(nil)

// New returns a collector. Register it once, and give its Observer to any number of clients. It panics
// if an option is nil, or if buckets are out of order.
func New(opts ...Option) *Collector {
	s := settings{
		kinds:   []string{"reentrant", "fair", "readwrite", "semaphore"},
		buckets: []float64{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300},
	}
	for _, o := range opts {
		if o == nil {
			panic("promholdfast: New: an option is nil")
		}
		o.apply(&s)
	}
	// It panics if buckets are out of order, as the first lock would otherwise, and only the log would tell.
	prometheus.NewHistogram(prometheus.HistogramOpts{Buckets: s.buckets})
	c := &Collector{name: s.name}
	c.series.make, c.series.rest, c.series.most = c.newSeries, label{kind: other, name: other}, maxLabels
	c.names.make, c.names.rest, c.names.most = func(name string) string { return name }, other, maxNames
	c.nodes.make = func(r request) answer {
		return answer{c.requests.WithLabelValues(r.node, r.command, r.outcome), c.ways.of(trip{r.node, r.outcome})}
	}
	c.nodes.rest, c.nodes.most = request{other, other, other}, maxRequests
	c.ways.make = func(w trip) prometheus.Observer { return c.trips.WithLabelValues(w.node, w.outcome) }
	c.ways.rest, c.ways.most = trip{other, other}, maxTrips

	labels := []string{"kind", "mode"}
	if c.name != nil {
		labels = append(labels, "name")
	}
	histogram := func(name, help string, buckets []float64, more ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, slices.Concat(labels, more))
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	c.acquire = histogram("holdfast_acquire_duration_seconds", "How long calls that acquire a lock took.", s.buckets, "outcome")
	c.hold = histogram("holdfast_hold_duration_seconds", "How long locks were held.", s.buckets, "outcome")
	// Two thirds of a TTL are left as a rule.
	c.validity = histogram("holdfast_validity_remaining_seconds", "Validity that a lease had left when its renewal was decided.",
		[]float64{0, 0.1, 0.3, 1, 2, 3, 5, 7, 10, 15, 20, 30, 60, 120, 300})
	// More than a node timeout is a node that was not heard.
	c.trips = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "holdfast_node_duration_seconds", Help: "How long nodes took to answer, or were waited for.",
		Buckets: []float64{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10},
	}, []string{"node", "outcome"})
	c.waiters = gauge("holdfast_waiters", "Calls that wait for a lock.")
	c.leases = gauge("holdfast_leases", "Locks that are held, re-entries not counted.")
	c.oldest = prometheus.NewDesc("holdfast_waiting_oldest_seconds", "For how long the call that has waited longest waits by now.", labels, nil)
	c.contentions = counter("holdfast_contentions_total", "Calls that had to wait for a lock.", labels...)
	c.handovers = counter("holdfast_handovers_total", "Locks that were acquired, by how they came.", slices.Concat(labels, []string{"handover"})...)
	c.losses = counter("holdfast_losses_total", "Locks that were lost while they were held.", slices.Concat(labels, []string{"reason"})...)
	c.renewals = counter("holdfast_renewals_total", "Rounds of renewals.", slices.Concat(labels, []string{"outcome"})...)
	c.requests = counter("holdfast_node_requests_total", "Commands that nodes have answered, or not.", "node", "command", "outcome")

	if c.name == nil {
		for _, kind := range s.kinds {
			if kind == "readwrite" {
				c.series.of(label{kind: kind, mode: "read"})
				c.series.of(label{kind: kind, mode: "write"})
				continue
			}
			c.series.of(label{kind: kind})
		}
	}
	return c
}

// vectors are all metrics but the oldest wait.
func (c *Collector) vectors() []prometheus.Collector {
	return []prometheus.Collector{
		c.acquire, c.hold, c.validity, c.waiters, c.leases, c.contentions, c.handovers, c.losses, c.renewals, c.requests, c.trips,
	}
}

// Describe is part of [prometheus.Collector].
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, v := range c.vectors() {
		v.Describe(to)
	}
	to <- c.oldest
}

// Collect is part of [prometheus.Collector].
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	for _, v := range c.vectors() {
		v.Collect(to)
	}
	for l, s := range c.series.values() {
		to <- prometheus.MustNewConstMetric(c.oldest, prometheus.GaugeValue, s.waiting.oldest().Seconds(), c.values(l)...)
	}
}

// Observer returns the observer for [lock.WithObserver].
func (c *Collector) Observer() lock.Observer {
	return lock.Observer{
		Waits:     c.waits,
		Ended:     c.ended,
		HoldEnded: c.holdEnded,
		Renewed:   c.renewed,
		Answered:  c.answered,
	}
}

func (c *Collector) waits(_ context.Context, a lock.Acquisition) {
	s := c.of(a.LockKind, a.Name)
	s.waiting.begin(a.Start)
	s.waiters.Inc()
	s.contentions.Inc()
}

func (c *Collector) ended(_ context.Context, a lock.Acquisition) {
	s := c.of(a.LockKind, a.Name)
	if a.Contended {
		s.waiting.end(a.Start)
		s.waiters.Dec()
	}
	s.acquire.of(a.Outcome()).Observe(a.Waited.Seconds())
	if a.Lease == nil {
		return
	}
	s.handovers.of(a.Handover.String()).Inc()
	if a.Handover != lock.HandoverReentry {
		s.leases.Inc()
	}
}

func (c *Collector) holdEnded(_ context.Context, h lock.HoldEnd) {
	s := c.of(h.LockKind, h.Name)
	s.leases.Dec()
	outcome := h.Reason.Code()
	if h.Reason != lock.ReasonUnlocked && h.Reason != lock.ReasonClosed {
		s.losses.of(outcome).Inc()
		outcome = "lost"
	}
	s.hold.of(outcome).Observe(h.Held.Seconds())
}

func (c *Collector) renewed(r lock.Renewal) {
	s := c.of(r.LockKind, r.Name)
	s.validity.Observe(max(0, r.Left.Seconds())) // a sum that falls is a counter that was reset
	if r.Confirmed {
		s.renewals.of("confirmed").Inc()
	} else {
		s.renewals.of("failed").Inc()
	}
}

func (c *Collector) answered(a lock.NodeAnswer) {
	n := c.nodes.of(request{a.Node, a.Command, a.Outcome})
	n.requests.Inc()
	n.duration.Observe(a.Took.Seconds())
}
