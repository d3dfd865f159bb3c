package lock

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/redlock"
)

// give gives up: it leaves the queue and returns the reason. If the end of the wait cut off an
// attempt, d has what was known then.
func (a *acquisition) give(err error, d *denial) error {
	known := *a.reason(d)
	a.quit()
	if !known.tells() {
		known = a.before(d)
	}
	if errors.Is(err, errTryOver) {
		if err = ErrLocked; known.err != nil {
			err, known.err = known.err, nil
		}
		if errors.Is(err, errTooLate) || errors.Is(err, errNotAsked) || errors.Is(err, errTurn) {
			err = fmt.Errorf("%w: %w", ErrNoQuorum, err) // nodes that were asked in time would have had more to say
		}
	}
	if d.cut != nil {
		known.cut = d.cut
	}
	return a.fail(err, &known)
}

// before is why the lock was not available before the attempt that the end of the wait cut off, which may be another call's
// for which this one waits: it may have been cut off at once. It is what that attempt had found only if that is certain, or
// if nothing was known before.
func (a *acquisition) before(d *denial) denial {
	if d.cut == nil {
		d = a.engine.known()
	}
	known := denial{cut: d.cut}
	switch {
	case d.tells():
		return *d
	case d.cut != nil && (d.sure || a.awaited == nil || a.awaited == taken): // which is over, or known would tell
		return d.soFar()
	case a.awaited == taken:
		known.err = errBehind
	case a.awaited != nil:
		known = *a.awaited
		known.cut = d.cut
	case a.contended && a.blocks:
		known.err = fmt.Errorf("%w: %w", ErrNoQuorum, errNotAsked)
	default:
		known.err = errNotAsked
	}
	return known
}

// reason returns the last certain reason why the lock was not available: from the last attempt that
// was not cut off, by a itself or, for a waiter, by others in its contest.
func (a *acquisition) reason(d *denial) *denial {
	if a.turns != nil {
		if seen := a.turns.seen(); seen.tells() {
			return seen
		}
	}
	if !d.tells() && a.last != nil {
		return a.last
	}
	return d
}

// fail says why the lock was not acquired.
func (a *acquisition) fail(err error, d *denial) error {
	// Close ends the contexts of leases, and their holds, in the same way as it ends this call.
	if c := a.engine.client; errors.Is(err, ErrReleased) && c.drains() {
		err = ErrClosed
		if a.ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", ErrClosed, a.ctx.Err())
		}
	}
	e := &AcquireError{
		Name:   a.engine.name,
		Holder: d.holder,
		Own:    d.holder != "" && a.engine.client.made(d.holder),
		TTL:    d.ttl,
		Waited: time.Since(a.began),
		Err:    err,
		Last:   cmp.Or(d.err, d.split),
	}
	about := d.about
	if e.Own {
		if t := a.engine.client.tenureOf(a.engine.keys.Lock, d.holder); t != nil {
			about = t.description()
			if e.TTL == 0 { // it was not asked about
				e.TTL = t.left()
			}
		}
	}
	e.Label, e.Note, e.HeldFor = about.label, about.note, about.heldFor()
	var votes *redlock.NoQuorumError
	if errors.As(d.cut, &votes) {
		e.Silent = votes.Silent()
	}
	return e
}
