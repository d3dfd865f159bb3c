package lock

import (
	"slices"
	"time"
)

// Goroutines of a process that wait to read, one after the other, share a place in the queue on the
// nodes: the first of them leads, and the others follow it. When the leader is granted the lock,
// the followers join its tenure. The leader tells the nodes nothing of its followers, so they cost
// no command. When it leaves, the next one continues to wait in its place.
//
// A goroutine follows under the same rule as it joins (join.go): no writer is known to wait behind
// the place, from a message or in this process, and the place is not older than a message may be
// late if it is lost.

// leads returns the place that p, which is to read, follows, from those before it in the queue;
// nil: none. Called with mu held, before p waits for the nodes: from then on others may follow it.
func (ct *contest) leads(p *place, queue []*place) *place {
	if !p.call.engine.joins() {
		return nil
	}
	now := time.Now()
	for _, before := range slices.Backward(queue) {
		switch {
		case before.writes(), before.here:
			return nil
		case before.leader != nil:
			continue
		case before.closed || !before.opened.IsZero() && now.Sub(before.opened) >= maxUnheard,
			!before.call.engine.set.same(&p.call.engine.set):
			return nil
		}
		return before
	}
	return nil
}

// follows reports whether the place is another one's, or waits for a turn within its process.
func (p *place) follows() bool {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	return p.leader != nil || p.here || p.later
}

// opens records when p began to ask the nodes for its place.
func (p *place) opens() {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.opened.IsZero() {
		p.opened = time.Now()
	}
}

// bring lets the followers of p, which was granted t, read within t. Called with mu held, before
// others know t.
//
// Why they may: they came when no writer was known to wait behind p, and p does not enter before
// its turn.
func (ct *contest) bring(t *tenure, p *place) {
	if !t.joins() || !p.led {
		return
	}
	now := time.Now()
	for _, f := range slices.Clone(ct.queue) {
		if f.leader != p {
			continue
		}
		q := f.call
		if (ending{q.ctx}).Err() != nil || q.slot == p.call.slot || q.slot.held() != nil || !now.Before(t.validity) {
			continue // it gives up, re-enters, or asks for itself
		}
		t.holds++
		h := &hold{tenure: t, slot: q.slot.claim(), number: t.holds, token: t.reserve.last, reader: true, began: now}
		f.lease = h.lease(q.engine, now, t.validity)
		t.begin(h)
		h.slot.set(h)
		ct.take(f)
	}
}

// follow makes p share the place of leader; nil: it has one of its own. Called with mu held.
func (p *place) follow(leader *place) {
	if p.leader = leader; leader != nil {
		leader.led = true
	}
}

// desert separates their followers from leaders that are leaving: of each, the first leads the others. Called with mu
// held.
func (ct *contest) desert(leaders ...*place) {
	if len(leaders) == 0 {
		return // without a look at thousands that wait
	}
	first := make([]*place, len(leaders))
	for _, f := range ct.queue {
		switch i := slices.Index(leaders, f.leader); {
		case i < 0:
		case first[i] == nil:
			p := leaders[i]
			first[i] = f
			f.follow(nil)
			f.opened, f.closed = p.opened, p.closed
			if f.later = p.later; !f.later {
				f.stir(true)
			}
		default:
			f.follow(first[i])
		}
	}
}
