package promholdfast_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	promholdfast "github.com/holdfast-go/holdfast/prometheus"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

func TestEverythingIsZeroBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0)
	const of5 = 5 // kinds and modes
	for name, n := range map[string]int{
		"holdfast_acquire_duration_seconds": 7 * of5, "holdfast_hold_duration_seconds": 3 * of5, "holdfast_validity_remaining_seconds": of5,
		"holdfast_waiters": of5, "holdfast_leases": of5, "holdfast_waiting_oldest_seconds": of5, "holdfast_contentions_total": of5,
		"holdfast_handovers_total": 5 * of5, "holdfast_losses_total": 6 * of5, "holdfast_renewals_total": 2 * of5,
	} {
		require.Len(t, r.series(name), n, name)
		require.Zero(t, r.sum(name), name)
	}
	require.Len(t, newRig(t, 0, promholdfast.WithKinds("fair")).series("holdfast_leases"), 1)
}

// Nothing that package lock says may be missing beforehand.
func TestNothingThatIsKnownIsMissing(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0)
	for reason := lock.ReasonNotRenewed; !strings.HasPrefix(reason.Code(), "reason_"); reason++ {
		r.sum("holdfast_losses_total", "kind", "fair", "reason", reason.Code())
	}
	for _, reason := range []lock.Reason{lock.ReasonNone, lock.ReasonUnlocked, lock.ReasonClosed} {
		for _, m := range r.series("holdfast_losses_total") {
			require.False(t, has(m, "reason", reason.Code()), "%v is no loss", reason)
		}
	}
	for h := lock.HandoverFree; !strings.HasPrefix(h.String(), "handover "); h++ {
		r.sum("holdfast_handovers_total", "kind", "fair", "handover", h.String())
	}
	for _, err := range []error{
		nil, lock.ErrClosed, context.Canceled, lock.ErrNoQuorum, context.DeadlineExceeded, lock.ErrLocked, lock.ErrUpgrade,
	} {
		r.sum("holdfast_acquire_duration_seconds", "kind", "fair", "outcome", lock.Acquisition{Err: err}.Outcome())
	}
}

func TestNamesAreAsPrometheusWantsThem(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, promholdfast.WithNameLabel(func(name string) string { return name }))
	require.NoError(t, r.lock(reentrant.New(r.client(), "orders")).Unlock(bg))
	r.exceeds(0, "holdfast_node_requests_total")
	problems, err := testutil.GatherAndLint(r.registry)
	require.NoError(t, err)
	require.Empty(t, problems)
}

func TestHowLocksCame(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, promholdfast.WithKinds("reentrant"))
	m := reentrant.New(r.client(), "orders:42")
	l := r.lock(m)
	again, err := m.Lock(l.Context(bg))
	require.NoError(t, err)
	require.EqualValues(t, 1, r.sum("holdfast_leases"), "a re-entry is none")
	require.NoError(t, again.Unlock(bg))
	next := wait(bg, m)
	r.becomes(1, "holdfast_waiters")
	require.NoError(t, l.Unlock(bg))
	require.NoError(t, r.await(next))
	require.NoError(t, testutil.GatherAndCompare(r.registry, strings.NewReader(`
# HELP holdfast_contentions_total Calls that had to wait for a lock.
# TYPE holdfast_contentions_total counter
holdfast_contentions_total{kind="reentrant",mode=""} 1
# HELP holdfast_handovers_total Locks that were acquired, by how they came.
# TYPE holdfast_handovers_total counter
holdfast_handovers_total{handover="free",kind="reentrant",mode=""} 1
holdfast_handovers_total{handover="message",kind="reentrant",mode=""} 0
holdfast_handovers_total{handover="passed",kind="reentrant",mode=""} 1
holdfast_handovers_total{handover="poll",kind="reentrant",mode=""} 0
holdfast_handovers_total{handover="reentry",kind="reentrant",mode=""} 1
# HELP holdfast_leases Locks that are held, re-entries not counted.
# TYPE holdfast_leases gauge
holdfast_leases{kind="reentrant",mode=""} 0
# HELP holdfast_waiters Calls that wait for a lock.
# TYPE holdfast_waiters gauge
holdfast_waiters{kind="reentrant",mode=""} 0
# HELP holdfast_waiting_oldest_seconds For how long the call that has waited longest waits by now.
# TYPE holdfast_waiting_oldest_seconds gauge
holdfast_waiting_oldest_seconds{kind="reentrant",mode=""} 0
`), "holdfast_contentions_total", "holdfast_handovers_total", "holdfast_leases", "holdfast_waiters", "holdfast_waiting_oldest_seconds"))
	require.EqualValues(t, 3, r.sum("holdfast_acquire_duration_seconds", "outcome", "acquired"))
	require.EqualValues(t, 2, r.sum("holdfast_hold_duration_seconds", "outcome", "unlocked"))
	require.Zero(t, r.sum("holdfast_losses_total"), "an Unlock is none")
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
		{"kind", "reentrant"}, {"kind", "fair"}, {"kind", "semaphore"},
		{"kind", "readwrite", "mode", "read"}, {"kind", "readwrite", "mode", "write"},
	} {
		require.EqualValues(t, 1, r.sum("holdfast_acquire_duration_seconds", append(of, "outcome", "acquired")...), of)
		require.EqualValues(t, 1, r.sum("holdfast_hold_duration_seconds", append(of, "outcome", "unlocked")...), of)
	}
	require.Len(t, r.series("holdfast_leases"), 5, "each was there before")
	r.over()
}

func TestFailuresAreCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	locks := r.client()
	m := reentrant.New(locks, "orders")
	l := r.lock(reentrant.New(r.client(), "orders"))
	_, err := m.TryLock(bg)
	require.ErrorIs(t, err, lock.ErrLocked)
	late := overdue{bg, make(chan struct{})}
	waits := wait(late, m)
	r.becomes(1, "holdfast_waiters", "kind", "reentrant")
	close(late.over)
	require.ErrorIs(t, r.await(waits), context.DeadlineExceeded)
	gone, cancel := context.WithCancel(bg)
	waits = wait(gone, m)
	r.becomes(1, "holdfast_waiters", "kind", "reentrant")
	cancel()
	require.ErrorIs(t, r.await(waits), context.Canceled)
	waits = wait(bg, m)
	r.becomes(1, "holdfast_waiters", "kind", "reentrant")
	require.NoError(t, locks.Close())
	require.ErrorIs(t, r.await(waits), lock.ErrClosed)
	for _, o := range []string{"locked", "timeout", "canceled", "closed"} {
		require.EqualValues(t, 1, r.sum("holdfast_acquire_duration_seconds", "kind", "reentrant", "outcome", o), o)
	}
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
	r.exceeds(0.1, "holdfast_waiting_oldest_seconds", "kind", "fair")
	then := time.Now()
	second := wait(bg, fair.New(r.client(), "orders")) // another client, the same collector
	r.becomes(2, "holdfast_waiters", "kind", "fair")
	require.Greater(t, r.sum("holdfast_waiting_oldest_seconds", "kind", "fair"), 0.1)
	cancel()
	require.ErrorIs(t, r.await(first), context.Canceled)
	oldest := r.sum("holdfast_waiting_oldest_seconds", "kind", "fair")
	require.Positive(t, oldest)
	require.Less(t, oldest, time.Since(then).Seconds(), "it is the second one's")
	require.NoError(t, l.Unlock(bg))
	require.NoError(t, r.await(second))
	r.over()
}

func TestLossesHaveAReason(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	m := reentrant.New(r.client(), "orders")
	lose := func(code string, how func()) {
		t.Helper()
		l := r.lock(m)
		require.Zero(t, r.sum("holdfast_losses_total", "kind", "reentrant", "reason", code))
		how()
		require.ErrorIs(t, l.Extend(bg, time.Minute), lock.ErrLost)
		r.becomes(1, "holdfast_losses_total", "kind", "reentrant", "reason", code)
		require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
	}
	lose("gone", func() { require.NoError(t, r.servers[0].Client(t).FlushAll(bg).Err()) })
	lose("forced", func() {
		had, err := reentrant.New(r.client(), "orders").ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, had)
	})
	require.EqualValues(t, 2, r.sum("holdfast_losses_total"), "Unlock of what is lost is none")
	r.becomes(2, "holdfast_hold_duration_seconds", "outcome", "lost")
	r.over()
}

func TestHowLongNodesTookIsToldByNodeAndOutcome(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0)
	o := r.collector.Observer()
	for i, command := range []string{"acquire", "extend", "release"} {
		o.Answered(lock.NodeAnswer{Node: "a:1", Command: command, Outcome: "yes", Took: time.Duration(i+1) * time.Second})
	}
	o.Answered(lock.NodeAnswer{Node: "b:1", Command: "acquire", Outcome: "no", Took: time.Minute})
	h := r.metric("holdfast_node_duration_seconds", "node", "a:1", "outcome", "yes").GetHistogram()
	require.EqualValues(t, 3, h.GetSampleCount(), "of all commands")
	require.InDelta(t, 6, h.GetSampleSum(), 0)
	h = r.metric("holdfast_node_duration_seconds", "node", "b:1", "outcome", "no").GetHistogram()
	require.EqualValues(t, 0, h.GetBucket()[len(h.GetBucket())-1].GetCumulativeCount(), "it is in none but the last one")

	// A program whose nodes come and go does not fill the database.
	for i := range 1000 {
		o.Answered(lock.NodeAnswer{Node: fmt.Sprint(i), Command: "acquire", Outcome: "yes"})
	}
	require.InDelta(t, 802, r.sum("holdfast_node_duration_seconds", "node", "other", "outcome", "other"), 0)
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
		return r.sum("holdfast_renewals_total", "outcome", "confirmed") > 0
	}, "a renewal is confirmed")
	r.exceeds(0, "holdfast_validity_remaining_seconds", "kind", "reentrant")
	r.exceeds(0, "holdfast_node_requests_total", "node", r.servers[0].Addr(), "command", "acquire", "outcome", "yes")
	r.servers[0].Pause()
	defer r.servers[0].Resume()
	r.exceeds(0, "holdfast_renewals_total", "outcome", "failed")
	r.exceeds(0, "holdfast_node_requests_total", "node", r.servers[0].Addr(), "outcome", "timeout")
	r.exceeds(0, "holdfast_node_duration_seconds", "node", r.servers[0].Addr(), "outcome", "timeout")
	r.lost(l)
	r.exceeds(0, "holdfast_losses_total", "reason", "not_renewed")
	ctx, cancel := context.WithCancel(bg)
	waits := wait(ctx, m)
	r.becomes(1, "holdfast_waiters")
	cancel()
	require.Error(t, r.await(waits))
	_ = l.Unlock(bg)
	r.over()
}

// Names are bytes.
func TestARoundThatWasDecidedTooLateLeavesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0, promholdfast.WithKinds("reentrant"))
	of := lock.LockKind{Kind: "reentrant"}
	r.collector.Observer().Renewed(lock.Renewal{LockKind: of, Name: "orders", Left: 20 * time.Second, Confirmed: true})
	r.collector.Observer().Renewed(lock.Renewal{LockKind: of, Name: "orders", Left: -140 * time.Millisecond})
	left := r.series("holdfast_validity_remaining_seconds")[0].GetHistogram()
	require.EqualValues(t, 2, left.GetSampleCount())
	require.EqualValues(t, 20, left.GetSampleSum(), "a sum never falls, or rate takes it for a counter that was reset")
	require.EqualValues(t, 1, left.GetBucket()[0].GetCumulativeCount(), "in the bucket of what is over")
}

func TestANameThatIsNoTextIsCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, promholdfast.WithNameLabel(func(name string) string { return name }))
	require.NoError(t, r.lock(reentrant.New(r.client(), "orders\xff")).Unlock(bg))
	require.EqualValues(t, 1, r.sum("holdfast_handovers_total", "name", "orders\uFFFD"))
}

// "orders" and "{orders}" are one lock, and each has series of its own.
func TestHoldThatIsPassedOnByTheOtherNameIsOverByThatName(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, promholdfast.WithNameLabel(func(name string) string { return name }))
	locks := r.client()
	l := r.lock(reentrant.New(locks, "orders"))
	next := wait(bg, reentrant.New(locks, "{orders}"))
	redistest.Eventually(t, long, func() bool { return len(r.series("holdfast_waiters")) == 2 }, "it waits")
	require.NoError(t, l.Unlock(bg))
	require.NoError(t, r.await(next))
	require.Len(t, r.series("holdfast_leases"), 2)
	r.over()
}

func TestNamesThatAreTooManyAreOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0, promholdfast.WithNameLabel(func(name string) string { return name }))
	o := r.collector.Observer()
	kinds := []lock.LockKind{{Kind: "fair"}, {Kind: "readwrite", Mode: "read"}, {Kind: "readwrite", Mode: "write"}}
	for i := range 210 {
		for _, k := range kinds {
			o.Waits(bg, lock.Acquisition{LockKind: k, Name: fmt.Sprint(i)})
		}
	}
	require.Len(t, r.series("holdfast_waiters"), 201*len(kinds), "names are counted, and not the kinds that each is used with")
	require.EqualValues(t, len(kinds), r.sum("holdfast_waiters", "name", "199"))
	for _, k := range kinds {
		require.EqualValues(t, 10, r.sum("holdfast_waiters", "kind", k.Kind, "mode", k.Mode, "name", "other"))
	}
	for i := range 210 {
		for _, k := range kinds {
			o.Ended(bg, lock.Acquisition{LockKind: k, Name: fmt.Sprint(i), Contended: true, Err: lock.ErrClosed})
		}
	}
	r.over()
}

// Whatever becomes of calls and holds, what goes up comes down.
func TestNothingIsLeftWhenEverythingIsOver(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3, promholdfast.WithNameLabel(func(name string) string { return strings.TrimRight(name, "0123456789") }))
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
	require.Positive(t, r.sum("holdfast_leases"))
	for _, c := range clients {
		_ = c.Close()
	}
	r.over()
	require.EqualValues(t, calls.Load(), r.sum("holdfast_acquire_duration_seconds"))
	require.Equal(t, r.sum("holdfast_handovers_total")-r.sum("holdfast_handovers_total", "handover", "reentry"), r.sum("holdfast_hold_duration_seconds"))
	require.Equal(t, r.sum("holdfast_losses_total"), r.sum("holdfast_hold_duration_seconds", "outcome", "lost"))
	require.Positive(t, r.sum("holdfast_acquire_duration_seconds", "name", "a"))
}

func TestNilOptionIsNamed(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "promholdfast: New: an option is nil", func() { promholdfast.New(nil) })
}

// What a Close has given back was not lost.
func TestACloseIsNoLoss(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0, promholdfast.WithKinds("reentrant"))
	r.collector.Observer().HoldEnded(bg, lock.HoldEnd{LockKind: lock.LockKind{Kind: "reentrant"}, Name: "orders", Held: time.Second, Reason: lock.ReasonClosed})
	require.Zero(t, r.sum("holdfast_losses_total"))
	require.EqualValues(t, 1, r.sum("holdfast_hold_duration_seconds", "outcome", "closed"))
	require.Zero(t, r.sum("holdfast_hold_duration_seconds", "outcome", "lost"))
}

// A clock is coarse, and a crowd comes at once: two waits may have begun at the same moment.
func TestOneOfTwoWaitsThatBeganTogetherGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0, promholdfast.WithKinds("fair"))
	o := r.collector.Observer()
	a := lock.Acquisition{LockKind: lock.LockKind{Kind: "fair"}, Name: "orders", Start: time.Now().Add(-time.Hour), Contended: true, Err: lock.ErrLocked}
	o.Waits(bg, a)
	o.Waits(bg, a)
	o.Ended(bg, a)
	require.GreaterOrEqual(t, r.sum("holdfast_waiting_oldest_seconds", "kind", "fair"), time.Hour.Seconds())
	o.Ended(bg, a)
	r.over()
}

// Later, nobody would learn of it but the log.
func TestBucketsThatAreOutOfOrderAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for _, with := range []promholdfast.Option{
		promholdfast.WithKinds(), promholdfast.WithNameLabel(strings.ToLower), promholdfast.WithKinds("fair"),
	} {
		require.Panics(t, func() { promholdfast.New(with, promholdfast.WithBuckets(60, 1)) })
	}
}

func TestBucketsAreThoseOfCallsAndOfHolds(t *testing.T) {
	t.Parallel()
	bounds := []float64{0.5, 60, 3600}
	r := newRig(t, 0, promholdfast.WithKinds("reentrant"), promholdfast.WithBuckets(bounds...))
	for _, name := range []string{"holdfast_acquire_duration_seconds", "holdfast_hold_duration_seconds"} {
		var found []float64
		for _, b := range r.series(name)[0].GetHistogram().GetBucket() {
			found = append(found, b.GetUpperBound())
		}
		require.Equal(t, bounds, found, name)
	}
}
