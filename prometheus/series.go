package promholdfast

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-go/holdfast/lock"
)

// other is counted in place of what is too much.
const other = "other"

// What has series from the beginning, so that dashboards show a zero, and a rate sees the first loss.
// What a later version of package lock adds is counted too, from its first time on.
var (
	outcomes  = []string{"acquired", "locked", "timeout", "canceled", "no_quorum", "closed", "error"}
	ends      = []string{"unlocked", "closed", "lost"}
	renewals  = []string{"confirmed", "failed"}
	handovers = []string{"free", "reentry", "passed", "message", "poll"}
	losses    = []string{"not_renewed", "gone", "forced", "expired", "max_hold", "abandoned"}
)

// A label is what tells the metrics of some locks from those of others.
type label struct{ kind, mode, name string }

// A request is what tells the commands to nodes apart.
type request struct{ node, command, outcome string }

// A trip is what tells apart how long commands to nodes take.
type trip struct{ node, outcome string }

// An answer is what is counted when a node has answered, or not.
type answer struct {
	requests prometheus.Counter
	duration prometheus.Observer
}

// A series is what is counted of the locks with one label.
type series struct {
	acquire, hold               family[prometheus.Observer]
	validity                    prometheus.Observer
	waiters, leases             prometheus.Gauge
	contentions                 prometheus.Counter
	handovers, losses, renewals family[prometheus.Counter]
	waiting                     *waits
}

// A family has a metric for each value of one more label.
type family[M any] struct {
	known map[string]M // immutable
	make  func(value string) M
}

func newFamily[M any](of func(...string) M, values, known []string) family[M] {
	f := family[M]{known: make(map[string]M, len(known)), make: func(value string) M {
		return of(append(values[:len(values):len(values)], value)...)
	}}
	for _, v := range known {
		f.known[v] = f.make(v)
	}
	return f
}

func (f family[M]) of(value string) M {
	if m, ok := f.known[value]; ok {
		return m
	}
	return f.make(value)
}

// of returns what is counted of a lock.
func (c *Collector) of(k lock.LockKind, name string) *series {
	l := label{kind: k.Kind, mode: k.Mode}
	if c.name != nil {
		// Names are any bytes, and text is what metrics are made of.
		l.name = c.names.of(strings.ToValidUTF8(c.name(name), "\uFFFD"))
	}
	return c.series.of(l)
}

// values are those of the labels that every series has.
func (c *Collector) values(l label) []string {
	if c.name != nil {
		return []string{l.kind, l.mode, l.name}
	}
	return []string{l.kind, l.mode}
}

func (c *Collector) newSeries(l label) *series {
	v := c.values(l)
	return &series{
		acquire:     newFamily(c.acquire.WithLabelValues, v, outcomes),
		hold:        newFamily(c.hold.WithLabelValues, v, ends),
		validity:    c.validity.WithLabelValues(v...),
		waiters:     c.waiters.WithLabelValues(v...),
		leases:      c.leases.WithLabelValues(v...),
		contentions: c.contentions.WithLabelValues(v...),
		handovers:   newFamily(c.handovers.WithLabelValues, v, handovers),
		losses:      newFamily(c.losses.WithLabelValues, v, losses),
		renewals:    newFamily(c.renewals.WithLabelValues, v, renewals),
		waiting:     newWaits(),
	}
}
