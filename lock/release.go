package lock

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/holdfast-go/holdfast/redlock"
)

// longHold is from when on a hold leaves the processors nothing to do but to wait for its end. With shorter ones, the next
// goroutine soon runs anyway, and to yield would cost more.
const longHold = 100 * time.Microsecond

// release ends the hold, whose last lease has been unlocked, and leaves the client. Observers are
// told after Close no longer waits for this call, because they may call Close.
func (h *hold) release(ctx context.Context) error {
	reason, err := h.end(ctx)
	h.engine.client.leave()
	h.tellOver(reason)
	return err
}

// tellOver reports to observers that the hold is over for reason, if there is one.
func (h *hold) tellOver(reason Reason) {
	if c := h.engine.client; reason != ReasonNone {
		c.audience.over(h, reason)
		c.tasks.end(h)
	}
}

// end ends the hold. It returns why the hold is over, unless that was known before or it is not
// over.
func (h *hold) end(ctx context.Context) (Reason, error) {
	h.slot.takeBack()
	if last, err := h.finish(); !last {
		return ReasonNone, err
	}
	last, d, reason, err := h.resign()
	if !last {
		return reason, err
	}
	return h.giveUp(ctx, d)
}

// finish marks the hold as over, and reports whether it did so now. Otherwise it gives up the turn.
func (h *hold) finish() (last bool, err error) {
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
		// The end of another lease, or Close, has released the hold meanwhile; or it was lost.
		h.slot.give()
		if errors.Is(over, ErrLost) {
			h.settle()
			return false, h.fail("unlock", reason)
		}
		if reason == ReasonClosed { // whose release tells Close, and not this call, how it ends
			return false, h.fail("unlock", reason)
		}
		return false, nil
	case left > 0:
		h.slot.give() // re-entered meanwhile
		return false, nil
	}
	h.slot.clear(h)
	return true, nil
}

// resign passes the lock on, or reports that it must be released. Unless it must be, resign returns
// why the hold is over, and gives up the turn.
func (h *hold) resign() (last bool, d departure, reason Reason, err error) {
	p, d := h.pass()
	if p == ends {
		return true, d, ReasonNone, nil
	}
	h.slot.give()
	if p == passed && time.Since(h.began) >= longHold {
		runtime.Gosched() // to the one that it was passed to, which would run only when this goroutine pauses, or an idle processor wakes
	}
	if p != ended {
		return false, d, ReasonUnlocked, nil // the tenure continues, and its reason is for another call to read
	}
	if reason := h.tenure.reason; reason == ReasonClosed || errors.Is(reason.end(), ErrLost) {
		return false, d, reason, h.fail("unlock", reason)
	}
	return false, d, ReasonUnlocked, nil
}

// giveUp releases the lock, after the renewal in flight. It returns why the hold is over: the release
// may show that it was lost before.
func (h *hold) giveUp(ctx context.Context, d departure) (Reason, error) {
	if d.renewing != nil {
		await(h.engine.client.group.NodeTimeout(), d.renewing) // none may follow a release (trap 21)
		d = h.departs()                                        // others may have come and gone
	}
	var b *redlock.Ballot
	if left := h.stays(); left > 0 {
		b = h.keep(ctx, h.slot, left)
	} else {
		b = h.handOver(ctx, h.slot, d)
	}
	return h.released(b)
}

// released returns why a hold is over whose release had the result b.
func (h *hold) released(b *redlock.Ballot) (Reason, error) {
	if missed(h.engine, b, nil) {
		if reason, asked := h.askWhyGone(); reason == ReasonForced || missed(h.engine, b, asked) {
			h.engine.client.journal.lost(h, reason)
			return reason, h.fail("unlock", reason)
		}
	}
	if err := b.Err(); err != nil {
		return ReasonUnlocked, h.wrap("unlock", err)
	}
	return ReasonUnlocked, nil
}

// settle lets the owner take the lock again once every lease of a lost hold has been unlocked.
func (h *hold) settle() {
	h.mu.Lock()
	settled := h.pending == 0
	h.mu.Unlock()
	if settled {
		h.slot.clear(h)
	}
}

// missed reports whether the hold had been lost before the release: so many nodes did not have it
// that no quorum had it. If the number of nodes is odd, another owner may have had the lock since.
//
// A hold of a bare quorum counts as missed once one of its nodes has forgotten it: that node and
// those that never had the hold are a quorum that another owner may have had. They could vouch that
// nobody had, but only before the release: after it, the next holder's token is greater. A node that the restart guard
// keeps out need not vouch: whatever it forgot by its restart, it has granted nobody anything since. The nodes' answers
// about that are in asked, which is nil if they were not asked.
func missed(e *engine, b, asked *redlock.Ballot) bool {
	without := 0
	for i := range e.client.group.Size() {
		a := b.Answer(i)
		if a.Vote != redlock.Yes {
			continue
		}
		if !e.had(a.Reply) && (asked == nil || !errors.Is(asked.Answer(i).Err, ErrRestarted)) {
			without++
		}
	}
	return without > e.client.group.Size()-e.client.group.Quorum()
}

// keep ends the tenure but lets the lock stay taken for d. It gives up the turn of s. ctx never
// ends.
func (t *tenure) keep(ctx context.Context, s *slot, d time.Duration) *redlock.Ballot {
	b, _ := t.engine.client.group.Decide(ctx, t.keeping(d))
	s.give()
	t.engine.client.over(t, nil)
	return b
}
