package lock

import (
	"slices"

	"github.com/holdfast-go/holdfast/redlock"
)

// drop takes p out of the queue, and returns its former index; -1: it was not there. Called with mu
// held.
func (ct *contest) drop(p *place) int {
	i := slices.Index(ct.queue, p)
	if i < 0 {
		return i
	}
	if ct.first[0] == p {
		ct.first[0] = nil
	}
	if i == 0 {
		ct.queue[0] = nil
		ct.queue = ct.queue[1:]
	} else {
		ct.queue = slices.Delete(ct.queue, i, i+1)
	}
	if p.inQueue == nil {
		return i
	}
	p.ticket = 0
	if p.starting || p.later {
		p.starting, p.later = false, false
		ct.advance()
	}
	return i
}

// take removes p, which has been passed the lock, and wakes it. The new head need not know that
// before the tenure ends. Called with mu held.
func (ct *contest) take(p *place) {
	ct.drop(p)
	if p.inQueue != nil && p.ballot != nil {
		p.ballot.Dismiss()
	}
	p.stir(false)
}

// advance lets the next goroutine ask the nodes for the first time, if it has been waiting for
// those before it to do so. Called with mu held.
func (ct *contest) advance() {
	if ct.key.order == unordered || ct.key.order == queued {
		return // nobody waits for that: a contender waits to be the head, and in a queue each asks at once
	}
	for _, p := range ct.queue {
		switch {
		case p.starting:
			return
		case p.later:
			p.starting, p.later = true, false
			p.stir(true)
			return
		}
	}
}

// disperse makes the first n goroutines that wait here without a place take one, one after the other,
// so that their places are in order of arrival. Called with mu held.
func (ct *contest) disperse(n int) {
	for _, p := range ct.queue {
		if n <= 0 {
			break
		}
		if p.unplaced {
			p.unplaced, p.sent, p.later = false, true, true
			n--
		}
	}
	ct.advance()
}

// sends makes p take a place, after all who came before and wait here without one: why p cannot
// wait here holds for them, too. Called with mu held.
func (ct *contest) sends(p *place) {
	for _, before := range ct.queue {
		if before == p || before.unplaced {
			before.unplaced, before.sent, before.later = false, true, true
		}
		if before == p {
			break
		}
	}
	ct.advance()
}

// underWay records that the request of p has been put to the nodes. A node gets requests that concern one name in that
// order, so for permits the next goroutine need not wait for the answers: they take a round trip, and with them hundreds
// of goroutines would wait for seconds.
func (p *place) underWay(b *redlock.Ballot) {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.ballot = b; p.lease != nil {
		b.Dismiss()
	}
	if p.starting && p.contest.relay != nil {
		p.starting = false
		p.contest.advance()
	}
}
