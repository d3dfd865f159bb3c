package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// pass lets the next hold of t begin, if a goroutine here is next and the nodes need not be asked.
// Called with mu and t.mu held, when no hold is in progress.
//
// Why the next hold may begin: the one before has ended, in program order; the tenure is valid
// for long enough, by what a quorum has confirmed (U2); and the token is greater than all that
// were given out, and less than all that will be (U3, reserve.go).
func (ct *contest) pass(t *tenure) (does service) {
	if t.engine.numbered != nil {
		return ct.passPermit(t)
	}
	if t.ended {
		return service{passing: ended}
	}
	next, r := ct.follower(t), &t.reserve
	usurped := ct.has(t.id) != t // an attempt of this process has found the name free
	t.vacant = false
	switch {
	case len(t.present) > 0:
		return service{passing: passed} // others that read within it have come meanwhile
	case next == nil, usurped, ct.client.drains():
		t.stop(ReasonUnlocked)
		return service{passing: ends}
	}
	now := time.Now()
	switch {
	case t.due(now), !t.suits(&next.call.engine.set, now), r.failed:
		t.stop(ReasonUnlocked)
		return service{passing: ends}
	case r.last == r.top || r.stale(now):
		t.vacant = true
		return service{passing: waits, asks: r.begin(t, now)}
	}
	r.last++
	t.holds++
	number, mark := t.numberOf(next)
	h := &hold{tenure: t, slot: next.call.slot.claim(), number: number, mark: mark, token: r.last, began: now}
	next.lease = h.lease(next.call.engine, now, t.validity)
	t.begin(h)
	h.slot.set(h)
	t.schedule()
	ct.take(next)
	does.passing = passed
	if r.low(now) {
		does.asks = r.begin(t, now)
	}
	return does
}

// follower returns whose turn within t is next; nil: nobody's. Called with mu and t.mu held.
func (ct *contest) follower(t *tenure) *place {
	if ct.key.order == unordered {
		return ct.nextContender()
	}
	return t.nextInRun()
}

// nextContender returns the next goroutine here; nil: none. A goroutine with an attempt in progress
// asks the nodes for itself. A goroutine whose owner already has the name is about to re-enter.
// Called with mu held.
func (ct *contest) nextContender() *place {
	for _, p := range ct.queue {
		if c := p.call; !p.attempts && (ending{c.ctx}).Err() == nil && c.slot.held() == nil {
			return p
		}
	}
	return nil
}

// finish ends a tenure without a hold in progress.
func (t *tenure) finish() {
	t.vacate(false)
	t.engine.client.over(t, nil)
}

// reserveTokens asks the nodes for the tokens up to last, and whether others wait.
func (t *tenure) reserveTokens(last int64) redlock.Motion {
	c := t.engine.client
	return redlock.Motion{
		Name: "reserve",
		Call: lua.Reserve{
			Keys:      t.keys(),
			Hold:      t.id,
			Last:      last,
			Retention: c.retention,
			Unasked:   !c.alone,
		}.Call(),
		Yes: func(reply any) (bool, error) {
			r, err := lua.ParseReserved(reply)
			return !r.Gone, err
		},
	}
}

// reservedTokens heeds the nodes' answers about the tokens up to last, and about waiters.
func (t *tenure) reservedTokens(b *redlock.Ballot, last int64) (does service) {
	c := t.engine.client
	var gone absence
	listeners, deaf := 0, false
	var far map[string]lua.FarMark // by client; nil: none, as a rule
	for i := range c.group.Size() {
		a := b.Answer(i)
		r, err := lua.ParseReserved(a.Reply)
		deaf = deaf || r.Deaf
		far = distants(far, r.Far, c.id)
		switch {
		case a.Vote == redlock.Pending || err != nil:
		case r.Gone:
			gone.count(r.Forced)
		case r.Listeners < 0:
			listeners = 2
		default:
			listeners = max(listeners, r.Listeners)
		}
	}
	if gone.decides(c.group) && t.vanished(gone.forced) {
		return service{passing: waits}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	r := &t.reserve
	r.asking, r.failed = false, !b.Won()
	if b.Won() {
		r.top, r.heard = max(r.top, last), time.Now()
		waits := listeners > t.contest.listens() || deaf && t.contest.key.order == queued // nobody is left a chance by those
		t.contest.elsewhere = elsewhere{waits: waits, deaf: deaf, trip: r.heard.Sub(r.asked)}
		t.contest.told(far)
	}
	if !t.vacant {
		return service{passing: passed}
	}
	return t.contest.pass(t)
}
