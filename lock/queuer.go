package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// A queuer waits for a lock whose waiters are served in order. It has a place in the queue of every
// node, which it keeps until it holds the lock or leaves.
//
// Order: each node proposes a ticket greater than all in its queue. The greatest proposal of a
// quorum is the queuer's ticket, and it is sent to every node that has another one. A later queuer
// asks a quorum too. The two quorums share a node that knows the first queuer's ticket, so the
// second one's is greater. As a node grants only to its head, the second queuer finds no quorum
// while the first waits (I7).
type queuer struct {
	*call
	kind   kind.Queue
	place  *place
	tenure *tenure // what will be granted; nil: not in the queue yet

	// ticket is the greatest proposal seen so far, until a quorum has it: then it is final. A node
	// that proposed more and was not heard in time is told the final ticket; taking the node's
	// greater one would put the queuer behind later ones.
	ticket lua.Ticket
	round  int64 // how often it has asked
	next   bool  // a node has it at the head
	// dying is when a head that seems to be dead will be dropped; 0: none is known.
	dying time.Duration
	// succeeds is open while it may have asked before the release that counts on it.
	succeeds succession
	waited   bool          // for the subscription
	admitted chan struct{} // the admission of which it has a slot; nil: none
	full     bool          // the admission had no slot when it tried
	unplaced time.Duration // how long it waits without a place on the nodes; 0: it does not
	outside  time.Duration // the same, as its process misses its turns
}

func newQueuer(c *call, k kind.Queue) *queuer {
	return &queuer{call: c, kind: k}
}

// count takes from the answers the greatest ticket, unless there is a final one, and what they say
// about the head.
func (q *queuer) count(b *redlock.Ballot) {
	q.next, q.dying = false, 0
	for i := range q.engine.client.group.Size() {
		a, _ := q.engine.kind.Acquired(b.Answer(i).Reply)
		if !q.ticket.Final {
			q.ticket.Number = max(q.ticket.Number, a.Ticket)
		}
		q.next = q.next || a.Head == q.tenure.id
		q.dying = max(q.dying, a.Dying)
	}
}

// agreed counts the nodes that have the hold in the queue with its ticket.
func (q *queuer) agreed(b *redlock.Ballot) int {
	n := 0
	for i := range q.engine.client.group.Size() {
		if a, _ := q.engine.kind.Acquired(b.Answer(i).Reply); a.Ticket > 0 && a.Ticket == q.ticket.Number {
			n++
		}
	}
	return n
}

// isVoid reports whether so many nodes say that the hold id is void that no quorum can grant it. Somebody has ended
// by force what looked like a holder: the queuer was granted the lock, and has not heard of it.
func (q *queuer) isVoid(b *redlock.Ballot) bool {
	g, void := q.engine.client.group, 0
	for i := range g.Size() {
		if a, _ := q.engine.kind.Acquired(b.Answer(i).Reply); a.Void {
			void++
		}
	}
	return void > g.Size()-g.Quorum()
}
