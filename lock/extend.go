package lock

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// Extend makes the lease valid for ttl, less what is allowed for clock drift, counted from before the
// request was sent; [Lease.Deadline] tells until when. It never shortens the lease. It also works on
// fixed leases, and while the watchdog renews. The error wraps [ErrLost] or [ErrReleased] if the
// lease is over, and [ErrNoQuorum] if too few nodes answered. In the latter case the lease is valid
// until its old Deadline, and trying again is worthwhile.
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

// extend makes the nodes extend the hold by ttl, and returns until when it is valid.
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
	h.confirm(b.Start(), validity)
	return validity, nil
}

// extension asks every node to extend the hold by ttl.
func (t *tenure) extension(ttl time.Duration) redlock.Motion {
	t.mu.Lock()
	count, token, noted, reads := t.count(), t.reserve.top, t.noting != nil, t.reads
	lasts := t.lasting(ttl)
	t.mu.Unlock()
	e := lua.Extend{
		Keys:      t.keys(),
		Hold:      t.id,
		Count:     count,
		TTL:       lasts,
		Token:     token,
		Retention: t.engine.client.retention,
		Queued:    t.engine.order == queued,
		Round:     t.round,
		Guard:     t.engine.client.guard,
		Noted:     noted,
	}
	m := redlock.Motion{
		Name: "extend",
		Yes: func(reply any) (bool, error) {
			// Only nodes that still had the hold count: an extension that created the key again
			// would hide a gap in which another owner may have had it (trap 20).
			e, err := lua.ParseExtended(reply)
			return e == lua.ExtendDone, unlessFree(e, err)
		},
		Each: t.extended,
	}
	if k := t.engine.shared; k != nil {
		m.Call = k.Extend(t.numbered(), e, reads)
		return m
	}
	m.Call = e.Call()
	// The counter lives for a long time after its last use, and the move of the slot will be over
	// before.
	m.Narrow = func() lua.Call {
		narrow := e
		narrow.Narrow = true
		return narrow.Call()
	}
	return m
}

// remaining is the TTL of a write that must not change how long the leases are valid. Called with
// mu held.
func (t *tenure) remaining() time.Duration {
	if now := time.Now(); !t.renewed(now) {
		return max(time.Millisecond, t.validity.Sub(now)+t.engine.client.group.Drift(t.ttl))
	}
	return t.ttl
}
