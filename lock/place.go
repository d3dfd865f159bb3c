package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// A place is the position of one blocked Lock in its contest.
type place struct {
	contest *contest
	call    *call         // that waits
	wake    chan struct{} // one slot: it became the head, or has reason to look; see signal

	lease *Lease // that it was passed; nil: none

	attempts bool // its attempt is under way
	look     bool // try, even if this process seems to hold the lock
	again    bool // of a contender: an attempt was made; its own goroutine's
	stuck    bool // of a contender: the same hold has been in the way for a while; its own goroutine's

	*inQueue // of a queuer; nil: of a contender, of which there may be very many
}

// An inQueue is what a place in the queues on the nodes has besides.
type inQueue struct {
	successor bool      // named as one since it last asked
	causes    []string  // of its turn, as nodes named them when it was last woken, unless it has asked since: holds that have ended, or what others did
	polled    bool      // it was woken to look, and not as somebody said that it is its turn
	unplaced  bool      // it waits without a place on the nodes; see relay
	sent      bool      // it is to take one
	here      bool      // it waits for its turn within a tenure of its process, and has asked no node; see serve
	starting  bool      // it is about to ask the nodes for the first time, or does; for permits, until its request is under way
	later     bool      // it will when those before it have
	closed    bool      // of one that reads: somebody waits to write behind it, and no more follow it; see lead
	id        string    // of the hold that waits on the nodes; "": none yet
	ticket    int64     // once a quorum has it; 0: not yet
	asked     time.Time // when it last asked
	first     bool      // a node had it at the head then
	came      time.Time // when it began to wait here

	// Of one that may be passed the lock while it asks; see relay and serve.
	granted bool            // a quorum has granted it permits, and it is passed none
	ballot  *redlock.Ballot // on its request that is under way; nil: none

	// Of one that reads; see lead.
	leader *place    // whose place it shares; nil: it has one of its own
	led    bool      // others share its place, or did
	opened time.Time // when it began to ask the nodes for the first time; zero: it has not
	estate *estate   // what one that it followed has left to it; nil: nothing
}

// newInQueue returns the place of a queuer.
func newInQueue(c *call) *place {
	p := new(struct { // in one piece
		place
		inQueue
	})
	p.call, p.place.inQueue = c, &p.inQueue
	return &p.place
}

// queues reports whether p belongs to a queuer, which stands in the queues on the nodes.
func (p *place) queues() bool { return p.contest.key.order != unordered }

// tried reports whether p, which may be nil, belongs to a contender that has made an attempt
// before.
func (p *place) tried() bool { return p != nil && p.again }

// hurries reports whether p, which may be nil, belongs to a contender whose attempt is not to wait for nodes that are far. A
// hold that stays in the way may be a dead one, which a near node has alone: then the far nodes are needed.
func (p *place) hurries() bool { return p != nil && p.inQueue == nil && !p.stuck }

// leads reports whether p is at the head. A place that was passed the lock is not in the queue any
// more. Called with mu held.
func (p *place) leads() bool {
	queue := p.contest.queue
	return len(queue) > 0 && queue[0] == p
}

// passed returns the lease that another goroutine of this process passed to p; nil: none.
func (p *place) passed() *Lease {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	return p.lease
}

// lookAgain makes p try even if this process seems to hold the lock: somebody may have ended the
// hold by force.
func (p *place) lookAgain() {
	c := p.contest.client
	c.mu.Lock()
	p.look = true
	c.mu.Unlock()
}

// signal returns the channel on which p waits. Called with mu held.
func (p *place) signal() chan struct{} {
	if p.wake == nil {
		p.wake = make(chan struct{}, 1)
	}
	return p.wake
}

// stir wakes p. Called with mu held.
func (p *place) stir(look bool) {
	p.look = p.look || look
	if p.inQueue != nil {
		p.polled = false
	}
	select {
	case p.signal() <- struct{}{}:
	default: // the signal that is there will do
	}
}

// poll wakes p to check the state. Called with mu held.
func (p *place) poll() {
	p.stir(true)
	p.polled = true
}

// begins records that p, a queuer's place, asks the nodes. It may not ask if its turn has come meanwhile, or that of
// another call of its owner: it would ask for a lock that its owner already has.
func (p *place) begins() bool {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	p.attempts = p.lease == nil && p.call.slot.held() == nil
	return p.attempts
}

// mayBePassed reports whether p may be passed the lock by a goroutine of this process while it asks the nodes for it.
func (p *place) mayBePassed() bool {
	c, ct := p.contest.client, p.contest
	c.mu.Lock()
	defer c.mu.Unlock()
	return ct.relay != nil || ct.tenure != nil && ct.tenure.serving != nil
}

// saw records the result of an attempt, for the errors of calls that made none. If the attempt
// found a hold of this client that has ended, it has overtaken the release. Then it is not worth
// waiting for a message, because there may be none.
func (p *place) saw(d *denial) *denial {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.sure && c.ended(p.contest.key.lock, d.holder) {
		unsure := *d
		unsure.sure = false
		d = &unsure
	}
	if d.sure && !c.made(d.holder) {
		p.contest.reign = reign{} // somebody else has it
	}
	p.stuck = p.contest.block.finds(d.holder, time.Now())
	p.contest.last = d
	p.contest.asking.Store(nil)
	p.attempts = false
	return d
}

// seen returns who has the lock, as far as this process knows.
func (p *place) seen() *denial {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	return p.contest.seen(p.call.engine)
}

// waitsFor returns why p waits, as far as this process knows.
func (p *place) waitsFor() *denial {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	return p.contest.waitsFor(p.call.engine)
}

// asking records the attempt that p makes, unless p is nil, for the errors of those that wait behind
// it.
func (p *place) asking(b *redlock.Ballot) {
	if p != nil {
		p.contest.asking.Store(b)
	}
}

// An estate is what a leaving waiter has of its place on the nodes.
type estate struct {
	tenure *tenure
	ticket lua.Ticket
	round  int64
}

// writes reports whether p waits to write.
func (p *place) writes() bool { return p.queues() && !p.call.engine.reads() }
