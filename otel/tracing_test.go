package otelholdfast_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	otelholdfast "github.com/holdfast-go/holdfast/otel"
	"github.com/holdfast-go/holdfast/reentrant"
)

// called returns the acquisitions that have ended under the span of ctx.
func (r *rig) called(ctx context.Context) []sdktrace.ReadOnlySpan {
	var all []sdktrace.ReadOnlySpan
	for _, s := range r.spans.Ended() {
		if s.Name() == "lock acquire" && s.Parent().SpanID() == trace.SpanFromContext(ctx).SpanContext().SpanID() {
			all = append(all, s)
		}
	}
	return all
}

func attrs(list []attribute.KeyValue) map[string]any {
	m := make(map[string]any)
	for _, kv := range list {
		m[string(kv.Key)] = kv.Value.AsInterface()
	}
	return m
}

func events(s sdktrace.ReadOnlySpan) []string {
	var names []string
	for _, e := range s.Events() {
		names = append(names, e.Name)
	}
	return names
}

func TestAnAcquisitionIsASpan(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	ctx, program := r.tracer.Start(bg, "ship")
	defer program.End()
	l, err := reentrant.New(r.client(), "orders:42").Lock(ctx)
	require.NoError(t, err)
	spans := r.called(ctx)
	require.Len(t, spans, 1)
	s := spans[0]
	require.Equal(t, trace.SpanKindInternal, s.SpanKind())
	require.Equal(t, codes.Unset, s.Status().Code)
	require.Empty(t, s.Events())
	require.Equal(t, map[string]any{
		"holdfast.lock.kind": "reentrant", "holdfast.try": false, "holdfast.outcome": "acquired", "holdfast.handover": "free",
		"holdfast.hold": l.ID(), "holdfast.token": l.Token(),
	}, attrs(s.Attributes()), "and no name")
	require.Less(t, s.EndTime().Sub(s.StartTime()), long)
	require.NoError(t, l.Unlock(bg))
	require.Len(t, r.called(ctx), 1)
	require.Empty(t, events(program.(sdktrace.ReadOnlySpan)), "no loss")
}

func TestASpanTellsOfContention(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, otelholdfast.WithNameAttribute(func(name string) string { return name[:6] }))
	m := reentrant.New(r.client(), "orders:42")
	l := r.lock(m)
	ctx, program := r.tracer.Start(bg, "ship")
	defer program.End()
	next := wait(ctx, m)
	r.becomes(1, "holdfast.waiters")
	r.exceeds(0.01, "holdfast.waiting.oldest")
	require.Empty(t, r.called(ctx), "it goes on")
	require.NoError(t, l.Unlock(bg))
	require.NoError(t, r.await(next))
	s := r.called(ctx)[0]
	require.Equal(t, []string{"holdfast.contended", "holdfast.passed_on"}, events(s))
	require.Equal(t, "orders", attrs(s.Attributes())["holdfast.lock.name"])
	require.Equal(t, "passed", attrs(s.Attributes())["holdfast.handover"])
	require.Greater(t, s.EndTime().Sub(s.StartTime()), 10*time.Millisecond, "the wait is in it")
}

func TestASpanTellsOfFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	m := reentrant.New(r.client(), "orders")
	l := r.lock(reentrant.New(r.client(), "orders"))
	ctx, program := r.tracer.Start(bg, "ship")
	defer program.End()
	_, err := m.TryLock(ctx)
	require.ErrorIs(t, err, lock.ErrLocked)
	s := r.called(ctx)[0]
	require.Equal(t, codes.Unset, s.Status().Code, "it did what it was to do")
	require.Equal(t, "locked", attrs(s.Attributes())["holdfast.outcome"])
	require.Equal(t, true, attrs(s.Attributes())["holdfast.try"])

	late := overdue{ctx, make(chan struct{})}
	waits := wait(late, m)
	r.becomes(1, "holdfast.waiters")
	close(late.over)
	require.ErrorIs(t, r.await(waits), context.DeadlineExceeded)
	s = r.called(ctx)[1]
	require.Equal(t, sdktrace.Status{Code: codes.Error, Description: "timeout"}, s.Status())
	require.Equal(t, "timeout", attrs(s.Attributes())["error.type"])
	require.Contains(t, events(s), "exception")
	require.Contains(t, attrs(s.Events()[len(s.Events())-1].Attributes)["exception.message"], l.ID(), "who has it")
	require.NoError(t, l.Unlock(bg))
}

func TestTheCallersSpanTellsOfALoss(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	m := reentrant.New(r.client(), "orders")
	ctx, program := r.tracer.Start(bg, "ship")
	l, err := m.Lock(ctx)
	require.NoError(t, err)
	require.NoError(t, r.servers[0].Client(t).FlushAll(bg).Err())
	require.ErrorIs(t, l.Extend(bg, time.Minute), lock.ErrLost)
	span := program.(sdktrace.ReadOnlySpan)
	redistest.Eventually(t, long, func() bool { return len(span.Events()) == 1 }, "the span tells of the loss")
	e := span.Events()[0]
	require.Equal(t, "holdfast.lost", e.Name)
	require.Equal(t, map[string]any{
		"holdfast.lock.kind": "reentrant", "holdfast.reason": "gone", "holdfast.hold": l.ID(), "holdfast.token": l.Token(),
	}, attrs(e.Attributes))
	require.True(t, program.IsRecording(), "it is the program that ends it")
	program.End()

	// After the end of the program's span there is nobody to tell.
	ctx, program = r.tracer.Start(bg, "ship")
	l, err = m.Lock(ctx)
	require.NoError(t, err)
	program.End()
	require.NoError(t, r.servers[0].Client(t).FlushAll(bg).Err())
	require.ErrorIs(t, l.Extend(bg, time.Minute), lock.ErrLost)
	r.becomes(2, "holdfast.losses", reason, "gone")
	require.Empty(t, program.(sdktrace.ReadOnlySpan).Events())
}

// A sampler may leave the acquisitions out, and keep the program's spans.
func TestWhatIsNotSampledLeavesTheCallersSpanAlone(t *testing.T) {
	t.Parallel()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
	r := newRig(t, 1, otelholdfast.WithTracerProvider(tracers))
	m := reentrant.New(r.client(), "orders")
	ctx, program := r.tracer.Start(bg, "ship")
	defer program.End()
	l, err := m.Lock(ctx)
	require.NoError(t, err)
	next := wait(ctx, m)
	r.becomes(1, "holdfast.waiters")
	require.NoError(t, r.servers[0].Client(t).FlushAll(bg).Err())
	require.ErrorIs(t, l.Extend(bg, time.Minute), lock.ErrLost)
	r.becomes(1, "holdfast.losses", reason, "gone")
	_ = l.Unlock(bg)
	require.NoError(t, r.await(next))
	require.True(t, program.IsRecording())
	redistest.Eventually(t, long, func() bool {
		return len(events(program.(sdktrace.ReadOnlySpan))) == 1
	}, "it is told of the loss only, but %v", events(program.(sdktrace.ReadOnlySpan)))
	require.Len(t, attrs(program.(sdktrace.ReadOnlySpan).Attributes()), 0)

	none := context.WithoutCancel(bg)
	l, err = m.Lock(none)
	require.NoError(t, err, "nobody records")
	require.NoError(t, l.Unlock(bg))
	r.over()
}

// An observer may be told late. The span is as long as the call took.
func TestASpanIsAsLongAsItsCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0)
	parent, program := r.tracer.Start(bg, "ship")
	defer program.End()
	a := lock.Acquisition{LockKind: lock.LockKind{Kind: "fair"}, Name: "orders", Start: time.Now().Add(-time.Hour)}
	ctx := r.observer.Began(parent, a)
	a.Waited, a.Err = time.Second, lock.ErrLocked
	r.observer.Ended(ctx, a)
	spans := r.called(parent)
	require.Len(t, spans, 1)
	require.Equal(t, time.Second, spans[0].EndTime().Sub(spans[0].StartTime()))
}
