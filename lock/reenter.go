package lock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// reenter adds a lease to a hold of the same owner. The owner is in this process, so as long as the
// hold is valid no node needs to be asked, and nothing can fail. The new lease shares the hold's
// validity; the nodes learn the count with the next renewal.
//
// Only a TTL that the hold's renewal does not keep is requested from the nodes. If they do not
// answer, the lease has the hold's validity.
//
// reenter has the slot's turn, so the hold's release has not begun, or is over. If the caller's
// context ends meanwhile, the denial says what was known of the nodes: nobody else has the lock.
//
// An owner that reads cannot write as well, because it would wait for itself: it is refused. An
// owner that writes can read.
func (e *engine) reenter(ctx context.Context, h *hold) (*Lease, *denial, error) {
	if err := e.suits(h); err != nil {
		return nil, nothing, err
	}
	start := time.Now()
	wanted := e.client.group.Validity(start, e.set.ttl)
	h.mu.Lock()
	kept := e.set.renew && e.set.ttl <= h.ttl && h.renewed(start)
	asks := h.over == nil && !kept && h.validity.Before(wanted)
	h.mu.Unlock()
	if asks {
		_, err := h.extend(ctx, e.set.ttl)
		var cut *cutError
		silent := errors.Is(err, redlock.ErrNoQuorum) || errors.As(err, &cut)
		switch {
		case silent && errors.Is(context.Cause(ctx), errTryOver):
			// A TryLock waits for the nodes no longer than its time limit.
		case cut != nil:
			return nil, &denial{cut: cut.votes}, cut.error
		case ctx.Err() != nil:
			return nil, &denial{cut: cmp.Or(err, errTooLate)}, contextError(ctx)
		case err != nil && !silent:
			return nil, nothing, h.wrap("re-enter", err)
		}
	}

	h.mu.Lock()
	over, reason, valid := h.over, h.reason, time.Now().Before(h.validity)
	upgrade := e.upgrades(h) // its leases to write may have expired meanwhile
	var l *Lease
	if over == nil && valid && !upgrade {
		deadline := h.validity
		if !e.set.renew && wanted.Before(deadline) {
			deadline = wanted
		}
		l = h.lease(e, start, deadline)
		if asks || e.set.renew && h.dates.renewAt.IsZero() && h.renewing == nil ||
			h.dates.endAt.IsZero() || deadline.Before(h.dates.endAt) {
			h.schedule() // it may be the first that is renewed, or the only one
		}
	}
	h.mu.Unlock()
	switch {
	case over != nil:
		// A lock taken now would not be the one that the owner believes it holds (trap 5). Its lost
		// lease has to be unlocked first.
		return nil, nothing, h.fail("re-enter", reason)
	case !valid:
		if after := h.expire(); after != nil {
			after()
		}
		return nil, nothing, h.fail("re-enter", h.lose(ReasonNotRenewed)) // unless it has been
	case upgrade:
		return nil, nothing, ErrUpgrade
	}
	return l, nothing, nil
}

// suits returns an error if the owner of h, which is not over, must not re-enter by e.
func (e *engine) suits(h *hold) error {
	h.mu.Lock()
	over, upgrade := h.over != nil, e.upgrades(h)
	h.mu.Unlock()
	switch {
	case over:
		return nil // which is what it is told
	case h.engine.kind.Family() != e.kind.Family():
		return e.mistaken(h.engine.kind.Family())
	case upgrade:
		return ErrUpgrade
	case e.numbered != nil:
		if has, wants := permits(h.engine), permits(e); has != wants {
			return fmt.Errorf("the owner already has %d of its permits, and asks for %d", has, wants)
		}
	}
	return e.client.checkKey(h.engine.set.extended(e.set.ttl)) // the hold has its first lock's rest
}

// upgrades reports whether e writes, and the owner of h only reads. Called with h.mu held.
func (e *engine) upgrades(h *hold) bool { return e.shared != nil && !e.reads() && h.reader }

// permits returns how many slots a hold of a semaphore has.
func permits(e *engine) int {
	n, _, _ := lua.ParsePermitMark(e.mark())
	return n
}
