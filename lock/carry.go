package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/redlock"
)

// Whose turn within a tenure it is, is decided in memory (pass.go, serve.go, relay.go, run.go), by what the nodes
// have said. What follows is carried out here: the nodes are asked for tokens, which also tells whether others
// wait; they are told that a tenure reads from now on; or there is another look a little later. Each answer leads
// to the next look.

const (
	// maxUnseen is about how long a goroutine waits for its turn within a tenure before it asks for
	// a place on the nodes.
	maxUnseen = 10 * time.Millisecond
	// maxIdle is how long a tenure without writers keeps other processes from reading: at most, so it is reviewed
	// for that earlier. The look may come maxUnseen late, and as much is left for telling the nodes.
	maxIdle  = maxUnheard
	idleLook = maxIdle - 2*maxUnseen
)

// carryOut carries out the result of a look, but for the end of t, which is its caller's.
func (t *tenure) carryOut(does service) {
	if does.reads {
		t.tellReads()
	}
	if does.asks > 0 {
		t.ask(does.asks)
	}
	if does.reviews {
		time.AfterFunc(maxUnseen, t.review)
	}
}

// ask asks the nodes for the tokens up to last, and carries out what follows from their answers. It does not wait.
func (t *tenure) ask(last int64) {
	var m redlock.Motion
	var heed func(*redlock.Ballot, int64) service
	switch {
	case t.engine.numbered != nil:
		m, heed = t.reservePermits(last), t.reservedPermits
	case t.engine.joinable != nil:
		m, heed = t.reserveTurns(last), t.reservedTurns
	default:
		m, heed = t.reserveTokens(last), t.reservedTokens
	}
	m.Then = func(b *redlock.Ballot) {
		does := heed(b, last)
		if does.passing == ends {
			t.finish()
		}
		t.carryOut(does)
	}
	t.engine.client.group.Vote(m)
}

// review makes goroutines that have waited here for a while ask the nodes for places, and turns a
// tenure in which nobody has written for a while into one that reads. It is due as long as somebody waits within
// the tenure, or reads.
func (t *tenure) review() {
	c := t.engine.client
	c.mu.Lock()
	t.mu.Lock()
	s, ct := t.serving, t.contest
	s.timed = false
	does := service{passing: waits}
	if !t.ended && !t.reads && ct.tenure == t {
		now := time.Now()
		ct.disband(func(_ int, p *place) bool { return !s.closed && now.Sub(p.came) >= maxUnseen })
		does = ct.serve(t, false)
		if next := ct.next(t); !t.reads && !s.writing && len(t.present) > 0 && now.Sub(s.wrote) >= idleLook && (next == nil || !next.writes() && !s.closed) {
			does.reads = true
			ct.readOn(t)
		}
	}
	t.mu.Unlock()
	c.mu.Unlock()
	t.carryOut(does)
}

// tellReads tells the nodes that t reads. It does not wait. A node that has not heard of it lets nobody
// read until the next renewal, which says so again.
func (t *tenure) tellReads() {
	g := t.engine.client.group
	t.mu.Lock()
	ttl := t.remaining()
	t.mu.Unlock()
	m := t.extension(ttl)
	m.Then = func(b *redlock.Ballot) {
		if judge(g, b, false) != confirmed {
			t.renewNow()
		}
	}
	g.Vote(m)
}

// prepare asks for tokens as soon as a goroutine here waits for the hold in progress, so that the
// tokens are there when it ends. If it cannot follow within the tenure, the nodes are asked now and then whether
// others wait: its own tenure follows that soon.
func (t *tenure) prepare(set *settings) {
	t.mu.Lock()
	var asks int64
	r, now := &t.reserve, time.Now()
	switch {
	case t.ended || len(t.present) == 0:
	case t.suits(set, now):
		if r.last == r.top {
			asks = r.begin(t, now)
		}
	case t.contest.key.order == unordered && t.reign.dueToAsk(now):
		asks = r.begin(t, now)
	}
	t.mu.Unlock()
	if asks > 0 {
		t.ask(asks)
	}
}

// attend checks whose turn it is within the tenure of this process, if it has one.
func (ct *contest) attend() {
	c := ct.client
	c.mu.Lock()
	t := ct.tenure
	if t == nil || t.serving == nil {
		c.mu.Unlock()
		return
	}
	t.mu.Lock()
	does := ct.serve(t, false)
	t.mu.Unlock()
	c.mu.Unlock()
	t.carryOut(does)
}

// ceases records that the nodes have answered p, whose turn may have come within a tenure of this
// process.
func (p *place) ceases() {
	c := p.contest.client
	c.mu.Lock()
	p.attempts, p.starting, p.granted = false, false, false
	p.contest.advance()
	c.mu.Unlock()
	p.contest.attend()
}
