package lock

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/redlock"
)

// release ends the hold, whose last lease has been unlocked, and leaves the client. Observers are told outside of
// what Close waits for, as they may call it.
func (h *hold) release(ctx context.Context) error {
	c := h.engine.client
	reason, err := h.end(ctx)
	c.leave()
	if reason != ReasonNone {
		c.audience.over(h, reason)
		c.tasks.end(h)
	}
	return err
}

// end ends the hold. It returns why it is over, unless that was known before or it is not.
func (h *hold) end(ctx context.Context) (Reason, error) {
	h.slot.takeBack()
	h.mu.Lock()
	left := len(h.leases)
	over, reason := h.over, h.reason
	if left == 0 && over == nil {
		h.over, h.reason = ErrReleased, ReasonUnlocked
		h.leave(h)
	}
	h.mu.Unlock()

	switch {
	case over != nil:
		// Another lease's end, or Close, has released the hold meanwhile; or it was lost.
		h.slot.give()
		if errors.Is(over, ErrLost) {
			h.settle()
			return ReasonNone, h.fail("unlock", reason)
		}
		return ReasonNone, nil
	case left > 0:
		h.slot.give() // re-entered meanwhile
		return ReasonNone, nil
	}
	h.slot.clear(h)
	return h.giveUp(ctx)
}

// giveUp passes the lock on, or releases it. It returns why the hold is over: it may turn out that it
// was lost before.
func (h *hold) giveUp(ctx context.Context) (Reason, error) {
	switch p, renewing := h.pass(); p {
	case passed, waits:
		h.slot.give()
		return ReasonUnlocked, nil
	case ended:
		h.slot.give()
		if reason := h.tenure.reason; errors.Is(reason.end(), ErrLost) {
			return reason, h.fail("unlock", reason)
		}
		return ReasonUnlocked, nil
	case ends:
		if renewing != nil {
			await(h.engine.client.group.NodeTimeout(), renewing)
		}
	}
	var b *redlock.Ballot
	if left := h.stays(); left > 0 {
		b = h.keep(ctx, h.slot, left)
	} else {
		b = h.handOver(ctx, h.slot)
	}
	if missed(h.engine, b) {
		reason := h.askWhyGone()
		h.engine.client.journal.lost(h, reason)
		return reason, h.fail("unlock", reason)
	}
	if err := b.Err(); err != nil {
		return ReasonUnlocked, h.wrap("unlock", err)
	}
	return ReasonUnlocked, nil
}

// settle lets the owner take the lock again once every lease of a lost hold is unlocked.
func (h *hold) settle() {
	h.mu.Lock()
	settled := h.pending == 0
	h.mu.Unlock()
	if settled {
		h.slot.clear(h)
	}
}

// missed tells whether, when it came to the release, so many nodes did not have the
// hold that no quorum had it: it had been lost before. Where the number of nodes is odd,
// another may have had the lock since.
//
// A hold of a bare quorum is one of those once one of its nodes has forgotten it: that node and
// those that never had it are a quorum that another may have had. They could vouch that it
// had not, but only before the release: after it, the next holder's token is greater.
func missed(e *engine, b *redlock.Ballot) bool {
	without := 0
	for i := range e.client.group.Size() {
		a := b.Answer(i)
		if a.Vote != redlock.Yes {
			continue
		}
		// No reply at all: the node never had it, and was not asked.
		if found, _ := e.kind.Released(a.Reply); !found {
			without++
		}
	}
	return without > e.client.group.Size()-e.client.group.Quorum()
}
