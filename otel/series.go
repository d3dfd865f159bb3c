package otelholdfast

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-go/holdfast/lock"
)

const (
	kindKey     = attribute.Key("holdfast.lock.kind")
	modeKey     = attribute.Key("holdfast.lock.mode")
	nameKey     = attribute.Key("holdfast.lock.name")
	outcomeKey  = attribute.Key("holdfast.outcome")
	handoverKey = attribute.Key("holdfast.handover")
	reasonKey   = attribute.Key("holdfast.reason")
	nodeKey     = attribute.Key("holdfast.node")
	commandKey  = attribute.Key("holdfast.command")
	errorKey    = attribute.Key("error.type")
)

// other is recorded in place of what is too much.
const other = "other"

// What is known beforehand. What a later version of package lock adds is recorded too, only slower.
var (
	outcomes  = []string{"acquired", "locked", "timeout", "canceled", "no_quorum", "closed", "error"}
	handovers = []lock.Handover{lock.HandoverFree, lock.HandoverReentry, lock.HandoverPassed, lock.HandoverMessage, lock.HandoverPoll}
	losses    = []lock.Reason{
		lock.ReasonNotRenewed, lock.ReasonGone, lock.ReasonForced, lock.ReasonExpired, lock.ReasonMaxHold, lock.ReasonAbandoned,
	}
)

// A series is what is recorded of the locks with one label.
type series struct {
	// Immutable.
	attrs             []attribute.KeyValue
	plain             measurement
	confirmed, failed measurement // renewals
	outcomes          map[string]measurement
	handovers         map[lock.Handover]measurement
	losses            map[lock.Reason]measurement
	ends              map[lock.Reason]measurement
	started           trace.SpanStartEventOption

	waiting *waits
}

func (m *metrics) newSeries(l label) *series {
	s := &series{attrs: []attribute.KeyValue{kindKey.String(l.kind)}, waiting: newWaits()}
	if l.mode != "" {
		s.attrs = append(s.attrs, modeKey.String(l.mode))
	}
	if m.name != nil {
		s.attrs = append(s.attrs, nameKey.String(l.name))
	}
	s.plain, s.started = s.with(), trace.WithAttributes(s.attrs...)
	s.confirmed, s.failed = s.with(outcomeKey.String("confirmed")), s.with(outcomeKey.String("failed"))
	s.outcomes = prepare(outcomes, s.newOutcome)
	s.handovers = prepare(handovers, s.newHandover)
	s.losses = prepare(losses, s.newLoss)
	s.ends = prepare(append([]lock.Reason{lock.ReasonUnlocked, lock.ReasonClosed}, losses...), s.newEnd)
	for _, loss := range s.losses {
		// A rate sees the first loss only if there was a zero before it.
		m.losses.Add(context.Background(), 0, loss.add...)
	}
	return s
}

func prepare[K comparable](known []K, of func(K) measurement) map[K]measurement {
	all := make(map[K]measurement, len(known))
	for _, k := range known {
		all[k] = of(k)
	}
	return all
}

// with has the attributes of the series and more.
func (s *series) with(more ...attribute.KeyValue) measurement {
	return measure(slices.Concat(s.attrs, more)...)
}

func (s *series) outcome(o string) measurement         { return get(s.outcomes, o, s.newOutcome) }
func (s *series) handover(h lock.Handover) measurement { return get(s.handovers, h, s.newHandover) }
func (s *series) loss(r lock.Reason) measurement       { return get(s.losses, r, s.newLoss) }
func (s *series) end(r lock.Reason) measurement        { return get(s.ends, r, s.newEnd) }

func get[K comparable](known map[K]measurement, k K, of func(K) measurement) measurement {
	if m, ok := known[k]; ok {
		return m
	}
	return of(k)
}

func (s *series) newOutcome(outcome string) measurement {
	attrs := []attribute.KeyValue{outcomeKey.String(outcome)}
	if isFailure(outcome) {
		attrs = append(attrs, errorKey.String(outcome))
	}
	return s.with(attrs...)
}

// isFailure is false of a TryLock whose lock others have: it has done what it was called for.
func isFailure(outcome string) bool { return outcome != "acquired" && outcome != "locked" }

func (s *series) newHandover(h lock.Handover) measurement {
	return s.with(handoverKey.String(h.String()))
}

func (s *series) newLoss(r lock.Reason) measurement { return s.with(reasonKey.String(r.Code())) }

func (s *series) newEnd(r lock.Reason) measurement {
	if isLoss(r) {
		return s.with(outcomeKey.String("lost"), errorKey.String(r.Code()))
	}
	return s.with(outcomeKey.String(r.Code()))
}
