package lock

import (
	"context"
	"runtime"

	"github.com/holdfast-go/holdfast/redlock"
)

// A parting is one of several Unlocks that are made together, step by step like a trial. If it has
// to wait for anything but the answers (for the slot's turn, for a renewal in flight, for what the
// nodes say about a loss), a separate goroutine does that.
//
// As in a single Unlock, the release is sent after the renewal in flight: no renewal may follow a
// release (trap 21).
//
// A drafted release keeps the turn of its slot until it is decided, and nothing that waits for a turn
// comes before that: the rest of another parting, of this call or of another call of the same owner,
// may wait for this very turn.
type parting struct {
	lease *Lease
	err   *error

	rest   func(context.Context) // what is left to be done; nil: nothing
	ballot *redlock.Ballot       // of the release; nil: it was not drafted
	told   bool                  // waiters here know of the end, and the turn is given up
	left   bool                  // the client must be left
	reason Reason                // why the hold is over, if observers have to be told
}

// part runs partings, and returns when all of them are over. ctx never ends.
func part(ctx context.Context, partings []parting) {
	ballots := make([]*redlock.Ballot, 0, len(partings))
	var rest []func(context.Context)
	told := false
	for i := range partings {
		p := &partings[i]
		p.begin()
		switch {
		case p.rest != nil:
			rest = append(rest, p.rest)
			p.rest = nil
		case p.ballot != nil:
			ballots = append(ballots, p.ballot)
			told = told || p.told
		}
	}
	if told {
		runtime.Gosched() // let the next ones come along
	}
	if len(ballots) > 0 {
		rest = append(rest, func(ctx context.Context) {
			redlock.SendTogether(ctx, ballots...)
			for i := range partings {
				if p := &partings[i]; p.ballot != nil {
					p.conclude(ctx)
				}
			}
		})
	}
	redlock.Together(ctx, rest...)
	rest = nil
	for i := range partings {
		if p := &partings[i]; p.rest != nil {
			rest = append(rest, p.rest)
		}
	}
	redlock.Together(ctx, rest...)
	for i := range partings {
		p := &partings[i]
		if p.left {
			p.lease.hold.engine.client.leave()
		}
	}
	for i := range partings {
		partings[i].lease.hold.tellOver(partings[i].reason)
	}
}

// begin ends the lease, and drafts the release if one is needed.
func (p *parting) begin() {
	h := p.lease.hold
	next, err := p.lease.unlock()
	*p.err = err
	switch next {
	case unlocked:
		return
	case downgrades:
		p.rest = func(ctx context.Context) { *p.err = h.downgrade(ctx) }
		return
	}
	if !h.slot.takeNow() {
		p.rest = func(ctx context.Context) { *p.err = h.release(ctx) }
		return
	}
	p.left = true
	if last, err := h.finish(); !last {
		*p.err = err
		return
	}
	last, d, reason, err := h.resign()
	switch {
	case !last:
		p.reason, *p.err = reason, err
	case d.renewing != nil:
		p.rest = func(ctx context.Context) { p.reason, *p.err = h.giveUp(ctx, d) }
	default:
		p.draft(d)
	}
}

// draft queues the release, or its substitute. As in handOver, a waiter of this process may ask
// right after it.
func (p *parting) draft(d departure) {
	h := p.lease.hold
	c := h.engine.client
	left := h.stays()
	if left > 0 {
		p.ballot = c.group.Draft(h.keeping(left))
		p.ballot.Prepare()
		return
	}
	p.ballot = h.draftVacation(d.named)
	p.ballot.Prepare()
	if p.told = d.waited; p.told {
		h.slot.give()
		c.over(h.tenure, d.successor)
	}
}

// conclude reads the result of the release.
func (p *parting) conclude(ctx context.Context) {
	h, b := p.lease.hold, p.ballot
	_ = b.Wait(ctx) // it is decided within the node timeout, once it is sent
	if !p.told {
		h.slot.give()
		h.engine.client.over(h.tenure, nil)
	}
	if missed(h.engine, b, nil) {
		p.rest = func(context.Context) { p.reason, *p.err = h.released(b) }
		return
	}
	p.reason, *p.err = h.released(b)
}
