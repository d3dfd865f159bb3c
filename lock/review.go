package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/redlock"
)

// A tenure that serves its process is reviewed while somebody waits in it, or reads: time makes of goroutines
// that wait here waiters on the nodes, and of a tenure in which nobody writes any more one that reads.

const (
	// maxUnseen is about how long a goroutine waits for its turn within a tenure before it asks for
	// a place on the nodes.
	maxUnseen = 10 * time.Millisecond
	// maxIdle is how long a tenure without writers keeps other processes from reading: at most, so it is reviewed
	// for that earlier. The look may come maxUnseen late, and as much is left for telling the nodes.
	maxIdle  = maxUnheard
	idleLook = maxIdle - 2*maxUnseen
)

// reviewLater schedules review, if it is not scheduled already. Called with mu held.
func (t *tenure) reviewLater() {
	if s := t.serving; !s.timed {
		s.timed = true
		time.AfterFunc(maxUnseen, t.review)
	}
}

// review makes goroutines that have waited here for a while ask the nodes for places, and turns a
// tenure in which nobody has written for a while into one that reads.
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

// readOn turns t, in which nobody writes and some read, into a tenure that reads: it has given out
// its last token. Goroutines that wait for it here ask the nodes. The nodes must be told. Called
// with mu and t.mu held.
func (ct *contest) readOn(t *tenure) {
	t.reads = true
	t.joining = &joining{closed: true} // the waiters are not known
	t.reserve.top = t.reserve.last
	ct.downgrade(t)
	ct.disband(everybody)
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
