package lock

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/redlock"
)

// The waiters of a fair lock that stand directly behind a grant, before anybody of another process,
// are the run of its tenure. They are served within it in the order of their tickets, without a
// command, like the contenders of a mutex.
//
// Why nobody is passed (I7): let w be in the run, and s a waiter elsewhere whose place was fixed
// before w began to ask. The quorum that granted shares a node with the quorum that has given s its
// place. w began before the round that was granted, so on that node s came before the grant. If s
// still waits, the node has told its ticket, or a lower one, as the limit of the run. The quorum
// with the place of s shares a node with that of w, too, so the ticket of w is greater than that of
// s, and w is not below the limit.
//
// Waiters of this process have the order of their tickets. If one in the run could not be served
// now, nobody behind it is, and the nodes decide.
//
// A waiter that was served leaves the queues on the nodes by itself. Where its leave comes after the
// release of the tenure, the leave wakes the next one.

// lineUp records the run of t, which was granted to p by b. Nobody else knows of the lease yet.
func (t *tenure) lineUp(b *redlock.Ballot) {
	limit := int64(math.MaxInt64)
	for i := range t.engine.client.group.Size() {
		if a := b.Answer(i); a.Vote == redlock.Yes {
			granted, _ := t.engine.kind.Acquired(a.Reply)
			limit = min(limit, granted.Behind)
		}
	}
	if limit == 0 {
		return
	}
	c := t.engine.client
	c.mu.Lock()
	var run []*place
	for _, p := range t.contest.queue {
		if p.ticket > 0 && p.ticket < limit && p.opened.Before(b.Start()) {
			run = append(run, p)
		}
	}
	slices.SortFunc(run, func(a, b *place) int { return cmp.Or(cmp.Compare(a.ticket, b.ticket), cmp.Compare(a.id, b.id)) })
	c.mu.Unlock()
	if len(run) == 0 {
		return
	}
	t.mu.Lock()
	t.run = run
	t.mu.Unlock()
	t.prepare(&run[0].call.engine.set)
}

// numberOf returns the number of the hold within t that p gets. For a waiter in a queue on the nodes,
// it is the number of the id with which it waits, so that an operator can match the two. Called with
// mu held.
func (t *tenure) numberOf(p *place) int {
	if i := strings.LastIndexByte(p.id, ':'); i >= 0 {
		if n, err := strconv.Atoi(p.id[i+1:]); err == nil {
			return n
		}
	}
	return t.holds
}

// nextInRun returns the next waiter of the run; nil: there is none, or it cannot be served now.
// Called with mu and t.mu held.
func (t *tenure) nextInRun() *place {
	for len(t.run) > 0 {
		p := t.run[0]
		switch c := p.call; {
		case p.ticket == 0, (ending{c.ctx}).Err() != nil, c.slot.held() != nil: // it has left, gives up, or is about to re-enter
			t.run[0] = nil
			t.run = t.run[1:]
		case p.attempts:
			return nil
		default:
			return p
		}
	}
	return nil
}
