package otelholdfast

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-go/holdfast/lock"
)

const (
	holdKey  = attribute.Key("holdfast.hold")
	tokenKey = attribute.Key("holdfast.token")
	tryKey   = attribute.Key("holdfast.try")
)

// tracing makes a span of each acquisition. A hold is none: it may last for days, and a span
// that has not ended is not exported.
type tracing struct {
	tracer  trace.Tracer
	metrics *metrics // for attributes
}

// A call is what a context carries from the beginning of an acquisition to the end of the hold. Its
// key is the tracing, as there may be several.
type call struct {
	span   trace.Span // of the acquisition
	caller trace.Span // that the program has made
}

func (t *tracing) began(ctx context.Context, a lock.Acquisition) context.Context {
	caller := trace.SpanFromContext(ctx)
	s := t.metrics.of(a.LockKind, a.Name)
	ctx, span := t.tracer.Start(ctx, "lock acquire",
		trace.WithTimestamp(a.Start), trace.WithSpanKind(trace.SpanKindInternal), s.started)
	if !span.IsRecording() && !caller.IsRecording() {
		return nil
	}
	span.SetAttributes(tryKey.Bool(a.Try))
	return context.WithValue(ctx, t, &call{span, caller})
}

func (t *tracing) waits(ctx context.Context) {
	if c := t.call(ctx); c != nil {
		c.span.AddEvent("holdfast.contended")
	}
}

func (t *tracing) ended(ctx context.Context, a lock.Acquisition) {
	c := t.call(ctx)
	if c == nil || !c.span.IsRecording() {
		return
	}
	outcome := a.Outcome()
	c.span.SetAttributes(outcomeKey.String(outcome))
	if l := a.Lease; l != nil {
		c.span.SetAttributes(handoverKey.String(a.Handover.String()), holdKey.String(l.ID()), tokenKey.Int64(l.Token()))
		if a.Handover == lock.HandoverPassed {
			c.span.AddEvent("holdfast.passed_on")
		}
	}
	if isFailure(outcome) {
		c.span.SetAttributes(errorKey.String(outcome))
		c.span.RecordError(a.Err)
		c.span.SetStatus(codes.Error, outcome)
	}
	c.span.End(trace.WithTimestamp(a.Start.Add(a.Waited)))
}

// holdEnded tells the caller's span of a loss: that of the acquisition has ended.
func (t *tracing) holdEnded(ctx context.Context, h lock.HoldEnd) {
	if c := t.call(ctx); c != nil && isLoss(h.Reason) && c.caller.IsRecording() {
		s := t.metrics.of(h.LockKind, h.Name)
		c.caller.AddEvent("holdfast.lost", s.started,
			trace.WithAttributes(reasonKey.String(h.Reason.Code()), holdKey.String(h.Hold), tokenKey.Int64(h.Token)))
	}
}

// call is nil if nobody records.
func (t *tracing) call(ctx context.Context) *call {
	c, _ := ctx.Value(t).(*call)
	return c
}
