package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/lock"
)

// A candidacy is one call of Run of an election. For the checkers each of its terms is a lease:
// granted when lead is called, and unlocked when lead has returned, which is before the
// leadership may be given back.
type candidacy struct {
	w    *worker
	plan plan

	op       atomic.Int64 // of the term that it is a candidate for, or leads in
	off      atomic.Int64 // when its context ended; 0: it has not
	term     *holding     // the last one; nil: there was none
	returned int64        // when lead returned from it
}

// campaign is a candidate for the election that p names until the context ends or it resigns.
func (w *worker) campaign(wait context.Context, p plan, final bool) {
	ctx, cancel := context.WithTimeout(wait, p.wait)
	defer cancel()
	c := &candidacy{w: w, plan: p}
	c.op.Store(w.ops.Add(1))
	if final {
		w.rec.note(Event{Kind: evFinal, Op: c.op.Load()})
	}
	c.stand(0)
	defer context.AfterFunc(ctx, func() {
		c.off.Store(now())
		w.rec.note(Event{At: c.off.Load(), Kind: evOff, Op: c.op.Load()})
	})()
	err := election.New(w.client, p.lock, w.cfg.proc()).Run(ctx, c.lead)
	switch {
	case c.term == nil:
		c.denied(ctx, err)
	case errors.Is(err, lock.ErrLocked), errors.As(err, new(*lock.AcquireError)):
		c.over(nil) // it was a candidate again
		c.again()
		c.denied(ctx, err)
	default:
		c.over(err)
	}
}

// stand writes down that it is a candidate, since a moment; 0: from now on.
func (c *candidacy) stand(at int64) {
	c.w.rec.note(Event{At: at, Kind: evLock, Op: c.op.Load(), Name: c.plan.lock, Blocks: true, TTL: int64(c.w.cfg.TTL)})
}

// again writes down, afterwards, that it was a candidate again when lead had returned.
func (c *candidacy) again() {
	c.op.Store(c.w.ops.Add(1))
	c.stand(c.returned)
	if off := c.off.Load(); off > 0 {
		c.w.rec.note(Event{At: off, Kind: evOff, Op: c.op.Load()})
	}
}

func (c *candidacy) denied(ctx context.Context, err error) {
	e := Event{Kind: evDenied, Op: c.op.Load(), Refused: errors.Is(err, lock.ErrNoQuorum) && ctx.Err() == nil}
	if err != nil {
		e.Err = err.Error()
	}
	c.w.rec.note(e)
}

// lead is what the leader does: it works for a while and resigns, or works until its
// context ends, and then goes on for a while as if it had not noticed.
func (c *candidacy) lead(ctx context.Context, term election.Term) error {
	at := now()
	if c.term != nil {
		c.over(nil)
		c.again()
	}
	lease, ok := lock.FromContext(ctx)
	if !ok {
		panic("a leader's context has no lease")
	}
	h := &holding{w: c.w, op: c.op.Load(), name: c.plan.lock, lease: lease, ctx: ctx}
	c.term = h
	c.w.rec.note(Event{
		At: at, Kind: evGranted, Op: h.op, Hold: term.Hold, Token: term.Token, Count: lease.Count(), Deadline: moment(lease.Deadline()),
	})
	h.holds()
	if c.plan.outstay {
		h.watch(ctx.Done(), 2*c.w.cfg.TTL)
	} else if ctx.Err() == nil {
		h.update(c.plan.hold)
	}
	if ctx.Err() != nil {
		h.watch(nil, c.plan.clean)
	}
	h.holds()
	c.w.rec.note(Event{Kind: evUnlock, Op: h.op, Deadline: moment(lease.Deadline())})
	h.ended = true
	c.returned = now()
	return nil
}

// watch asks the lease again and again whether it is held, until done is closed or d has passed.
func (h *holding) watch(done <-chan struct{}, d time.Duration) {
	end := time.After(d)
	for {
		select {
		case <-done:
			return
		case <-end:
			return
		case <-time.After(50 * time.Millisecond):
			h.holds()
		}
	}
}

// over writes down that the last term is, and what Run said of that, unless it went on.
func (c *candidacy) over(err error) {
	lease := c.term.lease
	e := Event{Kind: evUnlocked, Op: c.term.op, Why: why(lease.Err())}
	switch {
	case errors.Is(lease.Err(), lock.ErrLost):
		e.Err = lease.Err().Error()
	case err != nil:
		e.Err = err.Error()
	}
	c.w.rec.note(e)
	if lease.Err() == nil || !closed(lease.Done()) || !closed(c.term.ctx.Done()) {
		c.w.rec.note(Event{Kind: evSilent, Op: c.term.op})
	}
}
