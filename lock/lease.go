package lock

import (
	"context"
	"time"
)

// A Lease is one acquisition of a lock: Lock returns it and [Lease.Unlock] ends it. It is safe for
// concurrent use and must not be copied. The zero value is a lease of nothing: it is over, with
// [ErrNotHeld].
type Lease struct {
	hold   *hold
	count  int32
	index  int32           // in hold.leases, while it is not over; guarded by hold.mu
	waited context.Context // that Lock was called with; nil: it cannot end

	// Guarded by hold.mu.
	deadline   time.Time
	renewUntil *time.Time    // max hold; nil: no cap
	done       chan struct{} // nil: nobody has asked for it
	failed     *LeaseError   // of reason; nil: nobody has asked for it
	work       *work         // under the lease's contexts; nil: Context was not called, or the lease is over
	reason     Reason        // why it is over
	renew      bool
	reads      bool // immutable
	aliased    bool // it re-entered by the other name of the key; immutable
	unlocked   bool // Unlock was called
}

// Name is the name with which the lock was made that the lease was taken by. "orders" and "{orders}"
// are one lock, and the leases of one hold may be of either name.
func (l *Lease) Name() string {
	switch {
	case l.hold == nil:
		return ""
	case l.aliased:
		return l.hold.by.alias()
	}
	return l.hold.by.name
}

// ID is the hold id, as it stands in Redis and as Inspect shows it. All leases of one hold have the
// same id; no other hold ever has it. If another goroutine of this process passed the lock on to
// this hold, the id ends with a dot and a number that Redis does not know. For a fair lock, and for a read-write lock if it
// has waited for longer, it is what the id ended with that stood in the queue.
func (l *Lease) ID() string {
	if l.hold == nil {
		return ""
	}
	return l.hold.name()
}

// Token is the fencing token: greater than that of every earlier hold of this name, and the same
// for every re-entry of one hold. A hold that only reads has the last writer's token instead; see
// package readwrite. A resource that remembers the greatest token it has seen, and
// refuses smaller ones, is safe from a holder that was paused and does not yet know that it has
// lost the lock.
func (l *Lease) Token() int64 {
	if l.hold == nil {
		return 0
	}
	return l.hold.token
}

// Count is the owner's hold count after this acquisition: 1, or more for a re-entry.
func (l *Lease) Count() int { return int(l.count) }

// Deadline is the end of validity as known now. It moves with each renewal. Compare
// it with time.Now: it is on the monotonic clock.
func (l *Lease) Deadline() time.Time {
	if l.hold == nil {
		return time.Time{}
	}
	l.hold.mu.Lock()
	defer l.hold.mu.Unlock()
	return l.deadline
}

// Done is closed once the lease is over: lost or released.
func (l *Lease) Done() <-chan struct{} {
	if l.hold == nil {
		return closed
	}
	l.hold.mu.Lock()
	defer l.hold.mu.Unlock()
	switch {
	case l.reason != ReasonNone:
		return closed
	case l.done == nil:
		l.done = make(chan struct{})
	}
	return l.done
}

// end marks the lease as over for reason and takes it out of its hold. Called with hold.mu
// held; cancel must follow without it.
func (l *Lease) end(reason Reason) {
	l.reason = reason
	if !l.reads {
		l.hold.writes--
	}
	if l.done != nil {
		close(l.done)
	}
	leases := l.hold.leases
	if int(l.index) >= len(leases) || leases[l.index] != l {
		return // all of them have ended
	}
	last := len(leases) - 1
	leases[l.index] = leases[last]
	leases[l.index].index = l.index
	leases[last] = nil
	l.hold.leases = leases[:last]
}

// valid reports whether the lease can still be relied on, and so whether its deadline may move: a
// deadline that has passed never moves (I2). Called with hold.mu held.
func (l *Lease) valid(now time.Time) bool { return l.reason == ReasonNone && now.Before(l.deadline) }

// wantsRenewal reports whether the watchdog should renew for this lease. Called with hold.mu held.
func (l *Lease) wantsRenewal(now time.Time) bool {
	return l.renew &&
		(l.renewUntil == nil || now.Before(*l.renewUntil)) &&
		!l.work.abandoned()
}

// lapsed returns why the lease's deadline could pass: what has kept the watchdog from moving it.
// Called with hold.mu held.
func (l *Lease) lapsed() Reason {
	switch {
	case !l.renew:
		return ReasonExpired
	case l.renewUntil != nil && !l.deadline.Before(*l.renewUntil):
		return ReasonMaxHold
	case l.work.abandoned():
		return ReasonAbandoned
	default:
		return ReasonNotRenewed
	}
}
