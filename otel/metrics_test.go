package otelholdfast_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	otelholdfast "github.com/holdfast-go/holdfast/otel"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

const (
	kind     = "holdfast.lock.kind"
	mode     = "holdfast.lock.mode"
	outcome  = "holdfast.outcome"
	handover = "holdfast.handover"
	reason   = "holdfast.reason"
)

func TestHowLocksCame(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	m := reentrant.New(r.client(), "orders:42")
	l := r.lock(m)
	again, err := m.Lock(l.Context(bg))
	require.NoError(t, err)
	require.EqualValues(t, 1, r.sum("holdfast.leases", kind, "reentrant"), "a re-entry is none")
	require.NoError(t, again.Unlock(bg))
	next := wait(bg, m)
	r.becomes(1, "holdfast.waiters", kind, "reentrant")
	require.NoError(t, l.Unlock(bg))
	require.NoError(t, r.await(next))

	at := func(how string) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Attributes: attribute.NewSet(attribute.String(kind, "reentrant"), attribute.String(handover, how)), Value: 1}
	}
	metricdatatest.AssertEqual(t, metricdata.Metrics{
		Name:        "holdfast.handovers",
		Description: "Locks that were acquired, by how they came.",
		Unit:        "{handover}",
		Data: metricdata.Sum[int64]{
			DataPoints:  []metricdata.DataPoint[int64]{at("free"), at("reentry"), at("passed")},
			Temporality: metricdata.CumulativeTemporality, IsMonotonic: true,
		},
	}, r.metrics()["holdfast.handovers"], metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	require.EqualValues(t, 3, r.sum("holdfast.acquire.duration", kind, "reentrant", outcome, "acquired"))
	require.EqualValues(t, 2, r.sum("holdfast.hold.duration", outcome, "unlocked"))
	require.EqualValues(t, 1, r.sum("holdfast.contentions"))
	require.Zero(t, r.sum("holdfast.losses"), "an Unlock is none")
	r.over()
}

func TestEachKindHasItsSeries(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	locks := r.client()
	rw := readwrite.New(locks, "config")
	for _, m := range []lock.Locker{reentrant.New(locks, "a"), fair.New(locks, "b"), rw, rw.RLocker()} {
		require.NoError(t, r.lock(m).Unlock(bg))
	}
	require.NoError(t, semaphore.New(locks, "s", 2).Do(bg, 1, func(context.Context) error { return nil }))
	for _, of := range [][]string{
		{kind, "reentrant"}, {kind, "fair"}, {kind, "semaphore"}, {kind, "readwrite", mode, "read"}, {kind, "readwrite", mode, "write"},
	} {
		require.EqualValues(t, 1, r.sum("holdfast.acquire.duration", append(of, outcome, "acquired")...), of)
		require.EqualValues(t, 1, r.sum("holdfast.hold.duration", append(of, outcome, "unlocked")...), of)
	}
	for _, p := range points(r.metrics()["holdfast.acquire.duration"]) {
		require.Equal(t, has(p.attrs, kind, "readwrite"), p.attrs.HasValue(mode), "the others have no mode")
		require.False(t, p.attrs.HasValue("error.type"))
	}
	r.over()
}

// A writer that reads on afterwards has one hold, which is counted as one that writes until its end.
func TestADowngradeIsCountedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	m := readwrite.New(r.client(), "config")
	l := r.lock(m)
	reads, err := m.RLocker().Lock(l.Context(bg))
	require.NoError(t, err)
	require.NoError(t, l.Unlock(bg))
	require.EqualValues(t, 1, r.sum("holdfast.leases", mode, "write"))
	require.NoError(t, reads.Unlock(bg))
	r.over()
}

func TestFailuresAreOfAType(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	locks := r.client()
	m := reentrant.New(locks, "orders")
	l := r.lock(reentrant.New(r.client(), "orders"))

	_, err := m.TryLock(bg)
	require.ErrorIs(t, err, lock.ErrLocked)
	late := overdue{bg, make(chan struct{})}
	waits := wait(late, m)
	r.becomes(1, "holdfast.waiters")
	close(late.over)
	require.ErrorIs(t, r.await(waits), context.DeadlineExceeded)
	gone, cancel := context.WithCancel(bg)
	waits = wait(gone, m)
	r.becomes(1, "holdfast.waiters")
	cancel()
	require.ErrorIs(t, r.await(waits), context.Canceled)
	waits = wait(bg, m)
	r.becomes(1, "holdfast.waiters")
	require.NoError(t, locks.Close())
	require.ErrorIs(t, r.await(waits), lock.ErrClosed)

	for _, o := range []string{"timeout", "canceled", "closed"} {
		require.EqualValues(t, 1, r.sum("holdfast.acquire.duration", outcome, o, "error.type", o), o)
	}
	require.EqualValues(t, 1, r.sum("holdfast.acquire.duration", outcome, "locked"))
	require.Zero(t, r.sum("holdfast.acquire.duration", "error.type", "locked"), "it did what it was to do")
	require.EqualValues(t, 3, r.sum("holdfast.contentions"))
	require.NoError(t, l.Unlock(bg))
	r.over()
}

func TestTheOldestWaitIsSeenWhileItGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	m := fair.New(r.client(), "orders")
	l := r.lock(m)
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	first := wait(ctx, m)
	r.exceeds(0.1, "holdfast.waiting.oldest", kind, "fair")
	then := time.Now()
	second := wait(bg, m)
	r.becomes(2, "holdfast.waiters", kind, "fair")
	require.Greater(t, r.sum("holdfast.waiting.oldest", kind, "fair"), 0.1)
	cancel()
	require.ErrorIs(t, r.await(first), context.Canceled)
	oldest := r.sum("holdfast.waiting.oldest", kind, "fair")
	require.Positive(t, oldest)
	require.Less(t, oldest, time.Since(then).Seconds(), "it is the second one's")
	require.NoError(t, l.Unlock(bg))
	require.NoError(t, r.await(second))
	r.over()
}

func TestLossesHaveAReason(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	locks := r.client()
	m := reentrant.New(locks, "orders")
	lose := func(code string, how func()) {
		t.Helper()
		l := r.lock(m)
		require.Zero(t, r.sum("holdfast.losses", reason, code))
		found := false
		for _, p := range points(r.metrics()["holdfast.losses"]) {
			found = found || has(p.attrs, kind, "reentrant", reason, code)
		}
		require.True(t, found, "there is a zero before the first loss: %s", code)
		how()
		require.ErrorIs(t, l.Extend(bg, time.Minute), lock.ErrLost)
		r.becomes(1, "holdfast.losses", kind, "reentrant", reason, code)
		r.becomes(1, "holdfast.hold.duration", outcome, "lost", "error.type", code)
		require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
		r.over()
	}
	lose("gone", func() { require.NoError(t, r.servers[0].Client(t).FlushAll(bg).Err()) })
	lose("forced", func() {
		had, err := reentrant.New(r.client(), "orders").ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, had)
	})
	require.EqualValues(t, 2, r.sum("holdfast.losses"), "Unlock of what is lost is none")
}

func TestHowLongNodesTookIsToldByNodeAndOutcome(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0)
	for i, command := range []string{"acquire", "extend", "release"} {
		r.observer.Answered(lock.NodeAnswer{Node: "a:1", Command: command, Outcome: "yes", Took: time.Duration(i+1) * time.Second})
	}
	data := r.metrics()["holdfast.node.duration"].Data.(metricdata.Histogram[float64]).DataPoints
	require.Len(t, data, 1, "of all commands")
	require.EqualValues(t, 3, data[0].Count)
	require.InDelta(t, 6, data[0].Sum, 0)
	require.True(t, has(data[0].Attributes, "holdfast.node", "a:1", outcome, "yes"))

	// A program whose nodes come and go does not fill the database.
	for i := range 1000 {
		r.observer.Answered(lock.NodeAnswer{Node: fmt.Sprint(i), Command: "acquire", Outcome: "yes"})
	}
	require.InDelta(t, 801, r.sum("holdfast.node.duration", "holdfast.node", "other", outcome, "other"), 0)
}

func TestANodeThatDoesNotAnswerIsAFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0)
	for _, o := range []string{"yes", "no", "timeout", "error"} {
		r.observer.Answered(lock.NodeAnswer{Node: "a:1", Command: "acquire", Outcome: o, Took: time.Second})
	}
	for _, name := range []string{"holdfast.node.duration", "holdfast.node.requests"} {
		for o, failures := range map[string]float64{"yes": 0, "no": 0, "timeout": 1, "error": 1} {
			require.InDelta(t, failures, r.sum(name, outcome, o, "error.type", o), 0, "%s: %s", name, o)
		}
	}
}

func TestAServerThatStopsIsSeenInRenewalsBeforeTheLoss(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	m := reentrant.New(r.client(lock.WithTTL(4*time.Second), lock.WithNodeTimeout(200*time.Millisecond)), "orders")
	l := r.lock(m)
	redistest.Eventually(t, long, func() bool {
		if l.Err() != nil { // the machine is very busy
			_ = l.Unlock(bg)
			l = r.lock(m)
		}
		return r.sum("holdfast.renewals", outcome, "confirmed") > 0
	}, "a renewal is confirmed")
	r.exceeds(0, "holdfast.validity.remaining", kind, "reentrant")
	r.exceeds(0, "holdfast.node.requests", "holdfast.node", r.servers[0].Addr(), "holdfast.command", "acquire", outcome, "yes")
	r.servers[0].Pause()
	defer r.servers[0].Resume()
	r.exceeds(0, "holdfast.renewals", outcome, "failed")
	r.exceeds(0, "holdfast.node.requests", "holdfast.node", r.servers[0].Addr(), outcome, "timeout", "error.type", "timeout")
	r.exceeds(0, "holdfast.node.duration", "holdfast.node", r.servers[0].Addr(), outcome, "timeout", "error.type", "timeout")
	r.lost(l)
	r.exceeds(0, "holdfast.losses", reason, "not_renewed")
	ctx, cancel := context.WithCancel(bg)
	waits := wait(ctx, m)
	r.becomes(1, "holdfast.waiters")
	cancel()
	require.Error(t, r.await(waits))
	_ = l.Unlock(bg)
	r.over()
}

// Whatever becomes of calls and holds, what goes up comes down.
func TestNamesThatAreTooManyAreOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0, otelholdfast.WithNameAttribute(func(name string) string { return name }))
	kinds := []lock.LockKind{{Kind: "fair"}, {Kind: "readwrite", Mode: "read"}, {Kind: "readwrite", Mode: "write"}}
	for i := range 210 {
		for _, k := range kinds {
			r.observer.Renewed(lock.Renewal{LockKind: k, Name: fmt.Sprint(i)})
		}
	}
	const name = "holdfast.lock.name"
	require.Len(t, points(r.metrics()["holdfast.renewals"]), 201*len(kinds), "names are counted, and not the kinds that each is used with")
	require.EqualValues(t, len(kinds), r.sum("holdfast.renewals", name, "199"))
	for _, k := range kinds {
		attrs := []string{kind, k.Kind, name, "other"}
		if k.Mode != "" {
			attrs = append(attrs, mode, k.Mode)
		}
		require.EqualValues(t, 10, r.sum("holdfast.renewals", attrs...))
	}
}

func TestARoundThatWasDecidedTooLateLeavesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0)
	of := lock.LockKind{Kind: "reentrant"}
	r.observer.Renewed(lock.Renewal{LockKind: of, Name: "orders", Left: 20 * time.Second, Confirmed: true})
	r.observer.Renewed(lock.Renewal{LockKind: of, Name: "orders", Left: -140 * time.Millisecond})
	left := r.metrics()["holdfast.validity.remaining"].Data.(metricdata.Histogram[float64]).DataPoints[0]
	require.EqualValues(t, 2, left.Count)
	require.EqualValues(t, 20, left.Sum, "a sum never falls, or it is taken for a counter that was reset")
	require.EqualValues(t, 1, left.BucketCounts[0], "in the bucket of what is over")
}

func TestNothingIsLeftWhenEverythingIsOver(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3, otelholdfast.WithNameAttribute(func(name string) string { return strings.TrimRight(name, "0123456789") }))
	clients := []*lock.Client{r.client(lock.WithTTL(5 * time.Second)), r.client(lock.WithTTL(5 * time.Second)), r.client()}
	var all sync.WaitGroup
	var calls atomic.Int32
	r.lock(reentrant.New(clients[0], "kept")) // and never unlocked
	calls.Add(1)
	for i := range 240 {
		locks := clients[i%len(clients)]
		m := []lock.Locker{
			reentrant.New(locks, fmt.Sprint("a", i%4)), fair.New(locks, "b"), readwrite.New(locks, "c").RLocker(), readwrite.New(locks, "c"), nil,
		}[i%5]
		all.Go(func() {
			ctx, cancel := context.WithTimeout(bg, time.Duration(i)*5*time.Millisecond)
			defer cancel()
			calls.Add(1)
			if m == nil {
				_ = semaphore.New(locks, "d", 2).Do(ctx, 1, func(ctx context.Context) error { return ctx.Err() })
				return
			}
			l, err := m.Lock(ctx)
			if err != nil {
				return
			}
			if i%7 == 0 {
				calls.Add(1)
				if again, err := m.Lock(l.Context(bg)); err == nil {
					defer func() { _ = again.Unlock(bg) }()
				}
			}
			if i%31 == 0 {
				_, _ = reentrant.New(locks, m.Name()).ForceUnlock(bg)
			}
			if i%41 > 0 {
				_ = l.Unlock(bg)
			}
		})
		if i == 120 {
			require.NoError(t, r.servers[0].Client(t).FlushAll(bg).Err())
			_ = clients[2].Close()
		}
	}
	all.Wait()
	require.Positive(t, r.sum("holdfast.leases"))
	for _, c := range clients {
		_ = c.Close()
	}
	r.over()
	require.EqualValues(t, calls.Load(), r.sum("holdfast.acquire.duration"))
	require.Equal(t, r.sum("holdfast.handovers")-r.sum("holdfast.handovers", handover, "reentry"), r.sum("holdfast.hold.duration"))
	require.Equal(t, r.sum("holdfast.losses"), r.sum("holdfast.hold.duration", outcome, "lost"))
	require.Zero(t, r.sum("holdfast.leases", "holdfast.lock.name", "a1"), "names are mapped")
	require.Positive(t, r.sum("holdfast.acquire.duration", "holdfast.lock.name", "a"))
}

func TestNamesAreNoAttributesUnlessTheyAreMapped(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0)
	tell(bg, r.observer) // of everything that there is to tell, about a lock "orders"
	all := r.metrics()
	require.NotEmpty(t, all)
	for name, m := range all {
		for _, p := range points(m) {
			for _, kv := range p.attrs.ToSlice() {
				require.NotContains(t, kv.Value.String(), "orders", "%s of %s", kv.Key, name)
				require.NotEqual(t, attribute.Key("holdfast.lock.name"), kv.Key, name)
			}
		}
	}
}

// What goes up and down is a sum, so that it can be added up over processes; the oldest wait is not.
func TestWhatGoesUpAndDownIsASum(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0)
	tell(bg, r.observer)
	for _, name := range []string{"holdfast.waiters", "holdfast.leases"} {
		sum, is := r.metrics()[name].Data.(metricdata.Sum[int64])
		require.True(t, is, name)
		require.False(t, sum.IsMonotonic, name)
	}
	require.IsType(t, metricdata.Gauge[float64]{}, r.metrics()["holdfast.waiting.oldest"].Data)
}

func TestWhatIsNilIsRefused(t *testing.T) {
	t.Parallel()
	for says, o := range map[string]otelholdfast.Option{
		"an option is nil":          nil,
		"the MeterProvider is nil":  otelholdfast.WithMeterProvider(nil),
		"the TracerProvider is nil": otelholdfast.WithTracerProvider(nil),
	} {
		_, err := otelholdfast.New(o)
		require.ErrorContains(t, err, says)
	}
}

// What a Close has given back was not lost.
func TestACloseIsNoLoss(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0)
	ctx, program := r.tracer.Start(bg, "ship")
	defer program.End()
	of := lock.LockKind{Kind: "reentrant"}
	ctx = r.observer.Began(ctx, lock.Acquisition{LockKind: of, Name: "orders", Start: time.Now()})
	r.observer.HoldEnded(ctx, lock.HoldEnd{LockKind: of, Name: "orders", Held: time.Second, Reason: lock.ReasonClosed})
	require.Zero(t, r.sum("holdfast.losses"))
	require.EqualValues(t, 1, r.sum("holdfast.hold.duration", outcome, "closed"))
	require.Empty(t, events(program.(sdktrace.ReadOnlySpan)))
}

// A clock is coarse, and a crowd comes at once: two waits may have begun at the same moment.
func TestOneOfTwoWaitsThatBeganTogetherGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0)
	a := lock.Acquisition{LockKind: lock.LockKind{Kind: "fair"}, Name: "orders", Start: time.Now().Add(-time.Hour), Contended: true, Err: lock.ErrLocked}
	r.observer.Waits(bg, a)
	r.observer.Waits(bg, a)
	r.observer.Ended(bg, a)
	require.GreaterOrEqual(t, r.sum("holdfast.waiting.oldest", kind, "fair"), time.Hour.Seconds())
	r.observer.Ended(bg, a)
	r.over()
}
