package lock

import (
	"context"
	"runtime"

	"github.com/holdfast-go/holdfast/redlock"
)

// comebacks is how often a hold that ends lets other goroutines run, in case one of them is about to come back
// for the name.
const comebacks = 16

// A departure is what the release of a tenure has to look at, as it was when the tenure ended.
type departure struct {
	renewing  <-chan struct{} // closed when the renewal in flight is decided; nil: none is
	successor *place          // the queuer here that is probably next; nil: none is known
	named     string          // its id, which it may leave to another meanwhile; "": none is known
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
		does = h.contest.pass(h.tenure)
	}
	if does.passing == ends {
		d.renewing = h.renewing
		d.expect(h.tenure)
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
	d.expect(t)
	return d
}

// expect records who waits here for t to end. Called with the client's mu and t.mu held.
func (d *departure) expect(t *tenure) {
	if d.successor, d.waited = t.contest.expects(t); d.successor != nil {
		d.named = d.successor.id
	}
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
		b := t.draftVacation("")
		_ = b.Decide(ctx)
		s.give()
		c.over(t, nil)
		return b
	}
	b := t.draftVacation(d.named)
	b.Prepare()
	s.give()
	c.over(t, d.successor)
	runtime.Gosched() // let the next one come along
	b.Send(ctx)
	_ = b.Wait(ctx) // it is decided within the node timeout, once it is sent
	return b
}
