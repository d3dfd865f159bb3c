package lock

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
)

func init() {
	kind.Awaited = func(ctx context.Context, lock any) bool {
		e, ok := lock.(*engine)
		return ok && e.err == nil && e.isAwaited(ctx)
	}
	kind.Reads = func(lock any) bool {
		e, ok := lock.(*engine)
		return ok && e.reads()
	}
}

// isAwaited reports whether a Lock under ctx would wait for others of this process, or leave others a chance.
func (e *engine) isAwaited(ctx context.Context) bool {
	o, _ := ownerOf(ctx)
	if o.entered(e.client, e.keys.Lock) {
		return false
	}
	c := e.client
	c.mu.Lock()
	defer c.mu.Unlock()
	ct := c.contests[e.contest()]
	return ct != nil && (len(ct.queue) > 0 || ct.later != nil || ct.tenure != nil && e.joinable == nil) // which else it may join
}

// join queues p for key.
func (c *core) join(p *place, key contestKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enqueue(p, key)
}

// enqueue is join with mu held.
func (c *core) enqueue(p *place, key contestKey) {
	ct := c.contest(key)
	p.contest = ct
	if p.queues() {
		if ct.tenure != nil {
			ct.tenure.takes(p)
		}
		switch {
		case ct.relay != nil:
			p.came = time.Now() // stays tells when it takes a place
		case key.order == shared && !p.here:
			p.follow(ct.leads(p, ct.queue))
			p.later = p.leader == nil && slices.ContainsFunc(ct.queue, func(before *place) bool { return before.starting || before.later })
		}
	}
	ct.queue = append(ct.queue, p)
}

// remove takes p out of the queue, and wakes the head behind it. Called with mu held.
func (ct *contest) remove(p *place) {
	if p.inQueue != nil && p.led {
		ct.desert(p)
	}
	switch ct.drop(p) {
	case -1:
		return
	case 0:
		ct.wakeHead(false)
	}
	ct.tidy()
}

// leave gives up the place, and passes the turn to the next one. It returns the lease that p was
// passed meanwhile, which must be given back.
func (p *place) leave() *Lease {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	p.contest.remove(p)
	return p.lease
}

// takes makes p, which is about to join the queue here, wait for its turn within t, if it may. If
// its settings differ, it may not: it asks the nodes, and those behind it wait for it, as next
// shows. Called with the client's mu held.
func (t *tenure) takes(p *place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.isOpen() && p.call.engine.joinable != nil && t.suits(&p.call.engine.set, now) {
		p.here, p.came = true, now
	}
}

// seat makes those that have yet to ask the nodes wait for their turn within t, which begins, if they
// may. Called with mu held.
func (ct *contest) seat(t *tenure) {
	if t.serving == nil {
		return
	}
	for _, p := range ct.queue {
		if p.later {
			t.takes(p)
			p.later = !p.here
		}
	}
}

// everybody selects, for disband, all who wait for a turn within the tenure.
func everybody(int, *place) bool { return true }

// disband makes the selected goroutines that wait for a turn within this process's tenure ask the
// nodes, one after the other, so that their places are in order of arrival. Called with mu held.
func (ct *contest) disband(goes func(int, *place) bool) {
	if ct.key.order != shared {
		return
	}
	for i, p := range ct.queue {
		if p.here && goes(i, p) {
			p.here = false
			p.follow(ct.leads(p, ct.queue[:i]))
			p.later = p.leader == nil
		}
	}
	ct.advance()
}
