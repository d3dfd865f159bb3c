package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// A place is where one blocked Lock stands in its contest.
type place struct {
	contest *contest
	call    *call         // that waits
	wake    chan struct{} // one slot: it became the head, or has reason to look; see signal

	lease *Lease // that it was passed; nil: none

	attempts bool // its attempt is under way

	// Of a contender.
	look  bool // try, even if this process seems to hold the lock
	again bool // an attempt was made; its own goroutine's

	// Of a queuer.
	successor bool      // named as one since it last asked
	polled    bool      // it was woken to look, and not as somebody said that it is its turn
	unplaced  bool      // it waits without a place on the nodes; see relay
	sent      bool      // it was told to take one
	here      bool      // it waits for its turn within a tenure of its process, and has asked no node; see serve
	starting  bool      // it is about to ask the nodes for the first time, or does
	later     bool      // it will when those before it have
	closed    bool      // of one that reads: somebody waits to write behind it, and no more follow it; see lead
	id        string    // of the hold that waits on the nodes; "": none yet
	ticket    int64     // once a quorum has it; 0: not yet
	asked     time.Time // when it last asked
	came      time.Time // when it began to wait here

	// Of a queuer that reads; see lead.
	leader *place    // whose place it shares; nil: it has one of its own
	opened time.Time // when it began to ask the nodes for the first time; zero: it has not
	estate *estate   // what one that it followed has left to it; nil: nothing
}

// queues tells whether p is that of one that stands in the queues on the nodes.
func (p *place) queues() bool { return p.contest.key.order != unordered }

// tried tells whether p, which may be nil, is that of a contender which has made an attempt before.
func (p *place) tried() bool { return p != nil && p.again }

// turn tells whether p, a contender's, is to make an attempt now. If not as this process has the
// name, it tells by what tenure.
func (p *place) turn() (turn bool, behind *tenure) {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	behind = p.contest.tenure
	if !p.leads() || behind != nil && !p.look {
		return false, behind
	}
	p.look, p.attempts = false, true
	return true, nil
}

// leads tells whether p is at the head. One that was passed the lock is nowhere any more. Called
// with mu held.
func (p *place) leads() bool {
	queue := p.contest.queue
	return len(queue) > 0 && queue[0] == p
}

// passed is the lease that p was passed by another one of this process; nil: none.
func (p *place) passed() *Lease {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	return p.lease
}

// lookAgain has p try even if this process seems to hold the lock: somebody may have
// ended that by force.
func (p *place) lookAgain() {
	c := p.contest.client
	c.mu.Lock()
	p.look = true
	c.mu.Unlock()
}

// signal returns what p waits on. Called with mu held.
func (p *place) signal() chan struct{} {
	if p.wake == nil {
		p.wake = make(chan struct{}, 1)
	}
	return p.wake
}

// stir wakes p. Called with mu held.
func (p *place) stir(look bool) {
	p.look, p.polled = p.look || look, false
	select {
	case p.signal() <- struct{}{}:
	default: // the signal that is there will do
	}
}

// poll wakes p to look how things are. Called with mu held.
func (p *place) poll() {
	p.stir(true)
	p.polled = true
}

// begins notes that p, a queuer's, asks the nodes. It may not if it has had its turn meanwhile: it would ask for what
// its owner has.
func (p *place) begins() bool {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	p.attempts = p.lease == nil
	return p.attempts
}

// saw remembers what an attempt found, for the errors of those who made none. If that is
// a hold of this client that has ended, it has overtaken the release: it is not worth
// waiting for a message, as there may be none.
func (p *place) saw(d denial) denial {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.sure && c.ended(p.contest.key.lock, d.holder) {
		d.sure = false
	}
	p.contest.last, p.contest.asking = &d, nil
	p.attempts = false
	return d
}

// seen tells who has the lock, as far as this process knows.
func (p *place) seen() denial {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	return p.contest.seen()
}

// asks remembers the attempt that p makes, unless p is nil, for the errors of those who
// wait behind it.
func (p *place) asking(b *redlock.Ballot) {
	if p == nil {
		return
	}
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	p.contest.asking = b
}

// An estate is what one who leaves has of the place on the nodes.
type estate struct {
	tenure *tenure
	ticket lua.Ticket
	round  int64
}

// writes tells whether p is that of one who waits to write.
func (p *place) writes() bool { return p.queues() && !p.call.engine.reads() }
