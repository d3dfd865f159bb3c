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
	known := *a.known(d)
	a.quit()
	switch {
	case known.tells():
	case d.cut != nil:
		known = denial{holder: d.holder, ttl: d.ttl, about: d.about, err: d.cut}
	default:
		if known = *a.engine.known(); known.cut != nil {
			known.err = known.cut
		} else if !known.tells() {
			known.err = errNotAsked
		}
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

// known returns the last certain reason why the lock was not available: from the last attempt that
// was not cut off, by a itself or, for a waiter, by others in its contest.
func (a *acquisition) known(d *denial) *denial {
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
