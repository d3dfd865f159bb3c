package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// The goroutines of one process pass permits of a semaphore on to each other: when a permit is
// given back, the first waiter here gets the tenure with its slots, without a command, if it wants
// as many with the same settings.
//
// That is done only as long as nobody of another process stands in the queue on the nodes. Once
// such a waiter is known, the order over all processes counts: a tenure ends with its hold, and the
// nodes decide. The nodes are asked for that along with tokens, at least every maxReign of passing
// on. So nobody elsewhere is overtaken for longer than that and a round trip: what the nodes say
// counts from when it is heard, or all of it would be too old if they are far away, and nothing
// would be passed on. Within the process, a permit is passed only to the first waiter. If that one
// wants another number, nobody gets it, so that no small request overtakes a big one.
//
// If the first waiter has a request in flight, it is passed the permit all the same, and waits no
// longer for the answer: the request takes a round trip, in which hundreds might overtake it. What the
// nodes may grant it is given back, as when a waiter gives up. But the nodes may have free permits, as many as
// this process does not have. The first requests in flight may be for those, and are left to the nodes: a waiter
// that was passed another one would leave the free one to the next, who might fare no better, and it would stay
// free for as long as permits are passed on faster than nodes answer. Then the waiters behind may be passed a permit
// meanwhile. If they had all to wait for answers, as when a crowd comes at once, every permit would go back to the
// nodes.
//
// Why no slot has two holders (I1): the nodes know the tenure, which stays, and within it the next hold begins
// after the one before has ended (U1), while the tenure is valid (U2). Why each token is of one hold, and greater than all
// before it on its slots (I3): permit_reserve.lua.
//
// As long as this process has all permits and passes them on, a new caller need not queue on the
// nodes, because none is free there. It waits here for maxHere, and then takes its place. As soon
// as a permit is given back, one waiter asks for it, and if others are known to wait, all do. Whoever
// takes a place does so after all who came before: their requests are put to the nodes in order of
// arrival, or a later one would be served before them, and a small request before a big one.

const (
	// maxHere is how long a caller waits without a place on the nodes.
	maxHere = 50 * time.Millisecond
	// lively is how long after a permit was passed on permits count as being passed on.
	lively = 5 * time.Millisecond
	// aloof is how long, beside two round trips, nothing is passed on after others were seen to wait:
	// asking again with each release would cost a round trip.
	aloof = 2 * maxReign
	// maxRefusals is how often a tenure asks again for a reserve whose tokens were granted to
	// others, before it ends.
	maxRefusals = 3
)

// pause reports whether the nodes must decide, because others wait or did a moment ago.
func (r *relay) pause(now time.Time) bool {
	return !r.others.IsZero() && now.Sub(r.others) < aloof+2*r.trip
}

// passPermit is pass for a tenure of a semaphore.
func (ct *contest) passPermit(t *tenure) (does service) {
	if t.ended {
		return service{passing: ended}
	}
	now := time.Now()
	r := &t.reserve
	next := ct.nextQueuer(t)
	t.vacant = false
	switch {
	case next == nil, ct.has(t.id) != t, ct.client.drains(), !t.suits(&next.call.engine.set, now), r.failed,
		ct.relay.pause(now):
		t.ended, t.reason = true, ReasonUnlocked
		return service{passing: ends}
	case r.last == r.top || r.stale(now):
		t.vacant = true
		return service{passing: waits, asks: r.begin(t, now)}
	}
	r.last++
	t.holds++
	q := next.call
	h := &hold{tenure: t, slot: q.slot.claim(), number: t.holds, token: r.last, began: now}
	next.lease = h.lease(q.engine, now, t.validity)
	t.begin(h)
	h.slot.set(h)
	t.schedule()
	ct.take(next)
	ct.relay.passed = now
	does.passing = passed
	if r.low(now) {
		does.asks = r.begin(t, now)
	}
	return does
}

// nextQueuer returns the first waiter here for as many permits as t has; nil: there is none, or the
// first wants another number. Called with mu held.
func (ct *contest) nextQueuer(t *tenure) *place {
	free := t.engine.permits - ct.relay.slots // which this process does not have: at the nodes there are no more
	for _, p := range ct.queue {
		switch q := p.call; {
		case q.engine.mark() != t.engine.mark():
			return nil
		case p.granted, p.attempts && free > 0:
			free -= q.engine.wants // it has what was free at the nodes, or is about to: nobody else here could get that before it
			continue
		case (ending{q.ctx}).Err() != nil, q.slot.held() != nil:
			continue // it gives up, or is about to re-enter
		}
		return p
	}
	return nil
}

// settles records the outcome of the request of p: won if a quorum has granted it. It reports whether p has been passed
// the lock, or permits, meanwhile, and needs nothing of the nodes.
func (p *place) settles(won bool) (passed bool) {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	p.ballot = nil
	if p.lease != nil {
		p.stir(false) // the signal may have come before it asked, and be gone
		return true
	}
	p.granted = won
	return false
}

// stays returns how long p waits here without a place on the nodes; 0: it takes one, maybe after
// others, as follows tells. Called by its own caller.
func (p *place) stays() (left time.Duration) {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	q, r, now := p.call, p.contest.relay, time.Now()
	if p.sent || q.engine.numbered == nil {
		return 0
	}
	left = maxHere - now.Sub(q.began)
	p.unplaced = left > 0 && now.Sub(r.passed) < lively && !r.pause(now) && r.hasAll(q.engine)
	if !p.unplaced {
		p.contest.sends(p)
		return 0
	}
	return left
}

// reservePermits asks the nodes for the tokens up to last, and whether others wait.
func (t *tenure) reservePermits(last int64) redlock.Motion {
	t.mu.Lock()
	after := t.after
	t.mu.Unlock()
	return redlock.Motion{
		Name: "reserve",
		Call: t.engine.numbered.Reserve(t.numbered(), after, last),
		Yes: func(reply any) (bool, error) {
			r, err := lua.ParsePermitReserved(reply)
			return r.Alone, err
		},
	}
}

// reservedPermits heeds the nodes' answers about the tokens up to last, and about waiters.
func (t *tenure) reservedPermits(b *redlock.Ballot, last int64) (does service) {
	c := t.engine.client
	var gone absence
	others, known, refused := false, int64(0), false
	for i := range c.group.Size() {
		a := b.Answer(i)
		r, err := lua.ParsePermitReserved(a.Reply)
		switch {
		case a.Vote == redlock.Pending || err != nil:
		case r.Gone:
			gone.count(r.Forced)
		default:
			others, known, refused = others || r.Others, max(known, r.Counter), refused || !r.Alone
		}
	}
	absent := gone.decides(c.group)
	if absent && t.vanished(gone.forced) {
		return service{passing: waits}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	r, ct, after := &t.reserve, t.contest, t.after
	r.asking = false
	ct.relay.token = max(ct.relay.token, known)
	if others {
		ct.relay.others = time.Now()
		ct.relay.trip = ct.relay.others.Sub(b.Start())
		ct.disperse(len(ct.queue))
	}
	if b.Won() {
		r.last, r.top, r.heard, t.refusals = after, last, time.Now(), 0
	} else if t.refusals++; absent || !refused || t.refusals >= maxRefusals {
		r.failed = true // only later tokens help against a refusal, and nothing against absence or silence
	}
	if !t.vacant {
		return service{passing: passed}
	}
	return ct.passPermit(t)
}
