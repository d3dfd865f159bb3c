package lock

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// A Lease is one acquisition of a lock: what Lock returns and [Lease.Unlock] ends. It
// is safe for concurrent use and must not be copied. The zero value is a lease of
// nothing: it is over, with [ErrNotHeld].
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
	unlocked   bool // Unlock was called
}

// Name is the name of the lock.
func (l *Lease) Name() string {
	if l.hold == nil {
		return ""
	}
	return l.hold.engine.name
}

// ID is the hold's id, as it stands in Redis and as Inspect shows it. All leases of
// one hold have the same; no other hold ever has it. That of a hold which another goroutine of
// this process has passed the lock on to ends with a dot and a number that Redis does not know.
func (l *Lease) ID() string {
	if l.hold == nil {
		return ""
	}
	return l.hold.name()
}

// Token is the fencing token: greater than that of every earlier hold of this name,
// and the same for every re-entry of one hold. A resource that remembers the greatest
// token it has seen, and refuses lesser ones, is safe from a holder that was paused
// and does not know yet that it has lost the lock.
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

// Err is nil while the lease is held; then it is a [*LeaseError], always the same one, that
// wraps [ErrLost] or [ErrReleased] and has the reason. It looks at the clock: a process that
// was paused learns of its loss from its first call. While the lease is held it costs no
// memory.
func (l *Lease) Err() error {
	if l.hold == nil {
		return ErrNotHeld
	}
	h := l.hold
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.reason == ReasonNone && !time.Now().Before(l.deadline) {
		h.mu.Unlock()
		if after := h.expire(); after != nil {
			after()
		}
		h.mu.Lock()
	}
	return l.failure()
}

// Extend makes the lease valid for at least ttl from now; it never shortens it. It
// works on fixed leases too, and while the watchdog renews. The error wraps [ErrLost]
// or [ErrReleased] if the lease is over, and [ErrNoQuorum] if too few nodes
// answered: then it is valid until its old Deadline, and trying again is worth while.
func (l *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	if l.hold == nil {
		return ErrNotHeld
	}
	h := l.hold
	c := h.engine.client
	if err := l.Err(); err != nil {
		return h.wrap("extend", err)
	}
	if err := c.checkTTL(ttl); err != nil {
		return h.wrap("extend", err)
	}
	if err := c.checkKey(h.engine.set.extended(ttl)); err != nil {
		return h.wrap("extend", err)
	}
	if err := c.enter(); err != nil {
		return h.wrap("extend", err)
	}
	defer c.leave()
	validity, err := h.extend(ctx, ttl)
	var cut *cutError
	if errors.As(err, &cut) {
		err = cut.error
	}
	if err != nil {
		return h.wrap("extend", err)
	}
	if err := l.Err(); err != nil { // the old deadline may have passed meanwhile
		return h.wrap("extend", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.valid(time.Now()) && validity.After(l.deadline) {
		l.deadline = validity
		h.schedule()
	}
	return nil
}

// Unlock ends the lease; with the last lease of a hold the lock is free. Before the last one
// no node is told, and it fails only if the lease is over. It ignores ctx's cancellation, so
// that a cancelled request still gives its lock back, and takes no longer than a few node
// timeouts.
//
// If another goroutine of this process waits for the lock, that one usually has it next, and no
// node is told. Otherwise Unlock returns nil if a quorum of nodes confirmed. The error wraps
// [ErrLost] if the lease was lost before, [ErrReleased] on a second call, and [ErrNoQuorum] if
// too few nodes confirmed: then the release is tried again in the background, and the lock ends
// with its TTL at the latest. In any case the lease is over.
func (l *Lease) Unlock(ctx context.Context) error {
	if l.hold == nil {
		return ErrNotHeld
	}
	ctx = endless(ctx)
	switch next, err := l.unlock(); next {
	case downgrades:
		return l.hold.downgrade(ctx)
	case releases:
		return l.hold.release(ctx)
	default:
		return err
	}
}

// endless is ctx without its end, for what gives a lock back.
func endless(ctx context.Context) context.Context {
	switch {
	case ctx == nil:
		return context.Background() // a lock that is not given back would be held for ever
	case ctx.Done() != nil:
		return context.WithoutCancel(ctx)
	default:
		return ctx
	}
}

// An unlocking is what the end of a lease leaves to be done.
type unlocking uint8

const (
	unlocked   unlocking = iota // nothing
	downgrades                  // its hold goes on, and only reads
	releases                    // its hold is to end; whoever does that leaves the client
)

// unlock ends the lease in this process, and tells what is to be done then.
func (l *Lease) unlock() (unlocking, error) {
	h := l.hold
	err := l.Err() // notices a deadline that has passed
	h.mu.Lock()
	again := l.unlocked
	if !again {
		l.unlocked = true
		h.pending--
	}
	settled := h.pending == 0
	if l.reason == ReasonNone {
		l.end(ReasonUnlocked)
	} else {
		err = l.failure()
	}
	// Who inspects the nodes learns of the count with the next renewal.
	inner := len(h.leases) > 0
	downgrade := inner && err == nil && !l.reads && h.writes == 0 && h.engine.shared != nil
	h.mu.Unlock()
	l.cancel()
	switch {
	case downgrade:
		return downgrades, nil
	case inner && err == nil:
		return unlocked, nil
	case err != nil:
		if settled && h.isOver() {
			h.slot.clear(h)
		}
		return unlocked, h.wrap("unlock", err)
	case h.engine.client.enter() != nil:
		return unlocked, h.fail("unlock", ReasonClosed) // Close releases it, or has
	}
	return releases, nil
}

// extend has the nodes extend the hold by ttl, and tells until when that is valid.
func (h *hold) extend(ctx context.Context, ttl time.Duration) (validity time.Time, err error) {
	g := h.engine.client.group
	h.mu.Lock()
	over, reason := h.over, h.reason
	h.longest = max(h.longest, ttl) // a node may have it whatever the others say
	h.mu.Unlock()
	if over != nil {
		return validity, h.fail("extend", reason) // the release does not know of this TTL
	}
	b, err := g.Decide(ctx, h.extension(ttl))
	if err != nil {
		return validity, cutShort(ctx, b)
	}
	found := judge(g, b, false)
	if found == restorable {
		if b, err = g.Decide(ctx, h.restoration(ttl)); err != nil {
			return validity, cutShort(ctx, b)
		}
		found = judge(g, b, true)
	}
	switch found {
	case gone:
		return validity, h.fail("extend", h.lose(h.whyGone(b)))
	case undecided:
		return validity, b.Err()
	}
	validity = g.Validity(b.Start(), ttl)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.confirm(validity)
	return validity, nil
}

// extension asks every node to extend the hold by ttl.
func (t *tenure) extension(ttl time.Duration) redlock.Motion {
	t.mu.Lock()
	count, token, noted, reads := t.count(), t.reserve.top, !t.written.IsZero(), t.reads
	t.mu.Unlock()
	e := lua.Extend{
		Keys:      t.keys(),
		Hold:      t.id,
		Count:     count,
		TTL:       t.engine.set.extended(ttl),
		Token:     token,
		Retention: t.engine.client.retention,
		Queued:    t.engine.order == queued,
		Noted:     noted,
	}
	m := redlock.Motion{
		Name: "extend",
		Yes: func(reply any) (bool, error) {
			// Only where the hold still was: an extension that created the key anew
			// would paper over a gap in which another may have had it (trap 20).
			e, err := lua.ParseExtended(reply)
			return e == lua.ExtendDone, unlessFree(e, err)
		},
	}
	if k := t.engine.shared; k != nil {
		m.Call = k.Extend(t.numbered(), e, reads)
		return m
	}
	m.Call = e.Call()
	// The counter lives for long after its last use, and the move will not.
	m.Narrow = func() lua.Call {
		narrow := e
		narrow.Narrow = true
		return narrow.Call()
	}
	return m
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

// valid tells whether the lease can still be relied on, and so whether its deadline
// may move: one that has passed never does (I2). Called with hold.mu held.
func (l *Lease) valid(now time.Time) bool { return l.reason == ReasonNone && now.Before(l.deadline) }

// wantsRenewal tells whether the watchdog should renew for this lease. Called with
// hold.mu held.
func (l *Lease) wantsRenewal(now time.Time) bool {
	return l.renew &&
		(l.renewUntil == nil || now.Before(*l.renewUntil)) &&
		!l.work.abandoned()
}

// lapsed tells why the lease's deadline could pass: what has kept the watchdog from moving
// it. Called with hold.mu held.
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
