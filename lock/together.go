package lock

import (
	"context"
	"fmt"
	"runtime/trace"
	"slices"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/redlock"
)

// Together runs all calls at once, and returns when all have returned. Each call should take or
// release one lock under the context that it is given. Their commands are sent to the nodes
// together, so that several free locks cost one round trip, not one each. The last of the calls
// runs on the caller's goroutine.
//
// It says nothing of the order in which the locks are taken. Use package multi to take several
// locks: it waits for them in an order that has no circle. [TryTogether] and [UnlockTogether] do
// the same with less effort, for locks of this module.
func Together(ctx context.Context, calls ...func(context.Context)) {
	redlock.Together(ctx, calls...)
}

// TryTogether calls TryLock of all locks at once, and returns when all have returned. leases[i] and
// errs[i] are the results of locks[i]. The commands are sent to the nodes together, so that several
// free locks cost one round trip. A lock for which it only has to send a command and read the
// answer needs no goroutine; any other lock gets one.
//
// It says nothing of the order in which the locks are taken, and gives nothing back if some of
// them are refused. Use package multi to take several locks, all or nothing. If one of them is nil, none
// is taken.
func TryTogether(ctx context.Context, locks ...Locker) (leases []*Lease, errs []error) {
	leases, errs = make([]*Lease, len(locks)), make([]error, len(locks))
	if i := slices.Index(locks, nil); i >= 0 {
		for j := range errs {
			errs[j] = fmt.Errorf("lock: lock %d of %d is nil", i+1, len(locks))
		}
		return leases, errs
	}
	if len(locks) == 1 {
		leases[0], errs[0] = locks[0].TryLock(ctx)
		return leases, errs
	}
	trials := make([]trial, 0, len(locks))
	var calls []func(context.Context)
	for i, l := range locks {
		// A region of a trace must end on the goroutine that began it.
		if e, ok := kind.Unwrap(l).(*engine); ok && e.err == nil && !trace.IsEnabled() {
			trials = append(trials, trial{acquisition: acquisition{call: call{engine: e}}, lease: &leases[i], err: &errs[i]})
		} else {
			calls = append(calls, func(ctx context.Context) { leases[i], errs[i] = l.TryLock(ctx) })
		}
	}
	if len(trials) > 0 {
		calls = append(calls, func(ctx context.Context) { try(ctx, trials) })
	}
	Together(ctx, calls...)
	return leases, errs
}

// UnlockTogether calls Unlock of all leases at once, and returns when all have returned. errs[i] is
// the result of leases[i], which may be nil: then there is nothing to unlock. The commands are sent
// to the nodes together, as with [TryTogether].
func UnlockTogether(ctx context.Context, leases ...*Lease) (errs []error) {
	errs = make([]error, len(leases))
	partings := make([]parting, 0, len(leases))
	ctx = endless(ctx)
	for i, l := range leases {
		switch {
		case l == nil:
		case l.hold == nil:
			errs[i] = ErrNotHeld
		default:
			partings = append(partings, parting{lease: l, err: &errs[i]})
		}
	}
	part(ctx, partings)
	return errs
}
