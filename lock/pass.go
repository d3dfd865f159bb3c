package lock

import (
	"context"
	"runtime"
	"time"

	"github.com/holdfast-go/holdfast/redlock"
)

// comebacks is how often a hold that ends lets other goroutines run, in case one of them is about to come back
// for the name.
const comebacks = 16

// A passing is what happens to a tenure when a hold within it has ended.
type passing uint8

const (
	ends   passing = iota // the nodes are to be told
	passed                // the next hold has begun
	waits                 // the next one, for what the nodes are asked
	ended                 // by somebody else
)

// A departure is what the release of a tenure has to look at, as it was when the tenure ended.
type departure struct {
	renewing  <-chan struct{} // closed when the renewal in flight is decided; nil: none is
	successor *place          // the queuer here that is probably next; nil: none is known
	waited    bool            // somebody here waits
}

// pass ends h, which is over, within its tenure. If the tenure ends, its release must follow.
func (h *hold) pass() (p passing, d departure) {
	c := h.engine.client
	h.linger()
	c.mu.Lock()
	h.mu.Lock()
	var does service
	if h.serving != nil && !h.reads {
		does = h.contest.serve(h.tenure, true)
	} else {
		does.passing, does.asks = h.contest.pass(h.tenure)
	}
	if does.passing == ends {
		d.renewing = h.renewing
		d.successor, d.waited = h.contest.expects(h.tenure)
		h.schedule()
	}
	h.mu.Unlock()
	c.mu.Unlock()
	h.carryOut(does)
	return does.passing, d
}

// departs is the departure of t, which has ended, with nothing in flight.
func (t *tenure) departs() (d departure) {
	c := t.engine.client
	c.mu.Lock()
	defer c.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	d.successor, d.waited = t.contest.expects(t)
	return d
}

// linger lets goroutines run that are about to come back for a name that is passed on all the time:
// if the last of them ended the tenure, they would all have to ask the nodes.
func (h *hold) linger() {
	if h == &h.first && h.engine.joinable == nil {
		return
	}
	for range comebacks {
		if h.contest.wanted() || h.isJoined() {
			return
		}
		runtime.Gosched()
	}
}

// pass lets the next hold of t begin, if a goroutine here is next and the nodes need not be asked.
// asks is the last token to ask for, if any. Called with mu and t.mu held, when no hold is in
// progress.
//
// Why the next hold may begin: the one before has ended, in program order; the tenure is valid
// for long enough, by what a quorum has confirmed (U2); and the token is greater than all that
// were given out, and less than all that will be (U3, reserve.go).
func (ct *contest) pass(t *tenure) (p passing, asks int64) {
	if t.engine.numbered != nil {
		return ct.passPermit(t)
	}
	if t.ended {
		return ended, 0
	}
	next, r := ct.follower(t), &t.reserve
	usurped := ct.has(t.id) != t // an attempt of this process has found the name free
	t.vacant = false
	switch {
	case len(t.present) > 0:
		return passed, 0 // others that read within it have come meanwhile
	case next == nil, usurped, ct.client.drains():
		t.stop(ReasonUnlocked)
		return ends, 0
	}
	now := time.Now()
	switch {
	case t.due(now), !t.suits(&next.call.engine.set, now), r.failed:
		t.stop(ReasonUnlocked)
		return ends, 0
	case r.last == r.top || r.stale(now):
		t.vacant = true
		return waits, r.begin(t, now)
	}
	r.last++
	t.holds++
	h := &hold{tenure: t, slot: next.call.slot.claim(), number: t.numberOf(next), token: r.last, began: now}
	next.lease = h.lease(next.call.engine, now, t.validity)
	t.begin(h)
	h.slot.set(h)
	t.schedule()
	ct.take(next)
	if r.low(now) {
		asks = r.begin(t, now)
	}
	return passed, asks
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

// handOver releases the whole tenure and lets the next one try. It gives up the turn of s.
//
// A contender of this process need not wait for the answers: its attempt is behind the release in
// every lane, and is sent with it if it comes at once.
//
// Among queuers, the one here that is probably next is the release's successor: a node that has it
// at the head wakes nobody. If it leaves instead, its leave wakes the next one. If its request is
// lost, or overtakes the release, it must ask again. A tenure that reads has no successor: the
// successor could not tell that it has come too early, because it would find other readers.
//
// ctx never ends.
func (t *tenure) handOver(ctx context.Context, s *slot, d departure) *redlock.Ballot {
	c := t.engine.client
	if !d.waited {
		b := t.draftVacation(nil)
		_ = b.Decide(ctx)
		s.give()
		c.over(t, nil)
		return b
	}
	b := t.draftVacation(d.successor)
	b.Prepare()
	s.give()
	c.over(t, d.successor)
	runtime.Gosched() // let the next one come along
	b.Send(ctx)
	_ = b.Wait(ctx) // it is decided within the node timeout, once it is sent
	return b
}
