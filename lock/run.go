package lock

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/lua"
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
// Waiters of this process have the order of their tickets. If one in the run cannot be served now,
// nobody behind it is, and the nodes decide.
//
// The waiters that were served leave the queues on the nodes together, with the tenure's release. A
// leave that comes to a node after the release wakes the next one, and each of them would tell another
// one on a node that has not granted the tenure; so they leave in one command. They leave before the
// release only if the hold in progress lasts for longer than maxServed: until they have left, a node on
// which the tenure is ended by force takes the first of them for the next one, and wakes nobody else.

// maxServed is how long a hold may last before those that were served within its tenure before it leave
// the queues on the nodes.
const maxServed = 50 * time.Millisecond

// lineUp records the run of t, which b has granted, and returns who is next in it; nil: nobody. The lease is not known
// to anybody yet.
func (t *tenure) lineUp(b *redlock.Ballot) *place {
	limit := int64(math.MaxInt64)
	for i := range t.engine.client.group.Size() {
		if a := b.Answer(i); a.Vote == redlock.Yes {
			granted, _ := t.engine.kind.Acquired(a.Reply)
			limit = min(limit, granted.Behind)
		}
	}
	if limit == 0 {
		return nil
	}
	c := t.engine.client
	c.mu.Lock()
	defer c.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	var behind []*place
	for _, p := range t.contest.queue {
		if p.ticket > 0 && p.ticket < limit && p.opened.Before(b.Start()) {
			behind = append(behind, p)
		}
	}
	if behind != nil {
		slices.SortFunc(behind, func(a, b *place) int { return cmp.Or(cmp.Compare(a.ticket, b.ticket), cmp.Compare(a.id, b.id)) })
		t.running().next = behind
	}
	return t.nextInRun()
}

// served takes w, which was to have a place of its own and has been served within t, out of the queues
// on the nodes: with the release of t, or before if the hold that has begun lasts. A lock that several can
// have is not free for the next one before that, so it happens at once.
func (t *tenure) served(w *tenure) {
	t.mu.Lock()
	r := t.running()
	r.leaving = append(r.leaving, w)
	now := t.ended || t.engine.shared != nil // if it has ended, the release may have been sent
	switch {
	case now:
	case r.dismissal == nil:
		r.dismissal = time.AfterFunc(maxServed, func() {
			c := t.engine.client
			if c.enter() != nil {
				return // Close takes them along
			}
			defer c.leave()
			t.dismiss()
		})
	default:
		r.dismissal.Reset(maxServed)
	}
	t.mu.Unlock()
	if now {
		t.dismiss()
	}
}

// numberOf returns the number of the hold within t that p gets, which may be nil. For a waiter in a queue on the nodes,
// it is the number of the id with which it waits, and the mark that follows it there, so that an operator can match the two. Called with
// mu held.
func (t *tenure) numberOf(p *place) (number int, mark byte) {
	if p == nil || p.inQueue == nil || p.id == "" {
		return t.holds, 0
	}
	id := p.id[strings.LastIndexByte(p.id, ':')+1:] // see newID
	digits := strings.TrimRight(id, lua.Reads+lua.Writes)
	number, _ = strconv.Atoi(digits)
	if digits != id {
		mark = id[len(digits)]
	}
	return number, mark
}

// nextInRun returns the next waiter of the run; nil: there is none, or it cannot be served now, as it
// asks the nodes. Called with mu and t.mu held.
func (t *tenure) nextInRun() *place {
	r := t.run
	if r == nil {
		return nil
	}
	for len(r.next) > 0 && r.next[0].isGone() {
		r.next[0] = nil
		r.next = r.next[1:]
	}
	if len(r.next) == 0 || r.next[0].attempts {
		return nil
	}
	return r.next[0]
}

// isGone reports whether p, a queuer's place, needs no turn: it has left or has had it, gives up, or
// is about to re-enter. Called with mu held.
func (p *place) isGone() bool {
	return p.ticket == 0 || (ending{p.call.ctx}).Err() != nil || p.call.slot.held() != nil
}
