package lock

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// An asking is one round of a queuer. It records each node's answer, including late ones, so that
// each node is told the result.
type asking struct {
	queuer  *queuer
	contest *contest // stragglers come after the queuer has moved on
	tenure  *tenure
	round   int64
	unsent  time.Duration // how long a command may wait to be sent, among tens of thousands who ask

	mu        sync.Mutex
	next      *asking // that has taken its place, to ask for slots by name; nil: none
	outcome   outcome
	ticket    lua.Ticket // to wait with, once refused
	yes, no   []int      // nodes
	untold    bool       // a node that is not down may not know what was asked
	standings []standing // until the ticket is final
}

// A standing is a node and the ticket with which it keeps the place: 0 if it does not, unheard if
// not known.
type standing struct {
	node   int
	ticket int64
}

const unheard = -1

type outcome uint8

const (
	open outcome = iota
	granted
	refused
)

// ask asks every node to grant the lock, or to keep the place with the ticket known so far.
func (q *queuer) ask() (*Lease, *denial, error) {
	successor, causes := q.place.asks()
	if successor || len(causes) > 0 {
		before := q.succeeds // a release that counts on q still does, whatever else q has been told
		q.succeeds = succession{open: true, named: successor || before.open && before.named, causes: causes}
	}
	return q.askFor("", nil, 0, successor)
}

// askFor is ask for slots by name, if there are any. before is the previous asking, which has found
// that nodes give different slots, and has given nothing back; named is how many askings have asked
// by name.
func (q *queuer) askFor(slots lua.Slots, before *asking, named int, successor bool) (*Lease, *denial, error) {
	t := q.tenure
	q.round++
	q.place.opens()
	r := t.request()
	r.Noted, r.Slots = true, slots
	a := &asking{queuer: q, contest: q.place.contest, tenure: t, round: q.round, unsent: patience(t.ttl), ticket: q.ticket}
	a.follow(before)
	b, err := q.decide(redlock.Motion{
		Name:      "acquire",
		Call:      q.kind.Wait(r, q.ticket, q.round),
		Yes:       q.engine.granted,
		Creates:   true,
		Footprint: t.footprint,
		Leaves:    q.engine.queued,
		Alike:     q.engine.alike(),
		Urgent:    true,
		Each:      a.answered,
		Missed:    a.missed,
		Unsent:    a.unsent,
	})
	switch {
	case errors.Is(err, redlock.ErrDismissed):
		return nil, nothing, nil // passed cleans up
	case err != nil:
		return nil, q.engine.cutOff(b), contextError(q.ctx) // leave cleans up
	}
	if b.Won() {
		a.contest.hears()
		t.round = q.round
		lease, d, err := t.grant(q.ctx, b, q.place, a.unsent)
		if lease != nil {
			if q.engine.order == queued {
				if next := t.lineUp(b); next != nil {
					t.prepare(&next.call.engine.set)
				}
			}
			a.conclude(granted, q.ticket)
			q.engine.client.unqueue(t.id)
			q.place, q.tenure = nil, nil
			return lease, d, nil
		}
		a.conclude(refused, q.ticket)
		if d == reenters {
			q.rename() // its hold has begun, and cannot wait again
		}
		return nil, d, err
	}
	if named < maxNamed && q.engine.disagree(b) {
		if slots := q.engine.nominate(b, q.round); slots != "" {
			return q.askFor(slots, a, named+1, successor)
		}
	}
	d := q.engine.denied(b)
	if d.err == nil {
		a.contest.hears()
	}
	q.count(b)
	// A minority's grants are given back at once: the waiter whose turn it is may need them.
	yielded, greatest := a.conclude(refused, q.ticket)
	if q.isVoid(b) {
		if !q.rename() {
			return nil, nothing, nil // passed cleans up
		}
		return q.askFor("", nil, 0, successor)
	}
	if !q.ticket.Final && greatest > q.ticket.Number {
		q.ticket.Number, yielded = greatest, 0 // to be stated to the others
	}
	if !q.ticket.Final && q.agreed(b)+yielded >= q.engine.client.group.Quorum() {
		q.ticket.Final = true
		a.finish(q.ticket)
	}
	q.succeeds.open = q.succeeds.open && (d.err != nil || q.early(b))
	q.place.note(q, d, successor)
	return nil, d, nil
}

// rename has the queuer wait under a new hold id, with the same ticket. Until it has asked, its place is nowhere: a
// writer that comes meanwhile tells nobody here. It returns false if the queuer need not ask any more.
func (q *queuer) rename() bool {
	c, p, void := q.engine.client, q.place, q.tenure
	renamed := q.engine.newTenure(q.slot)
	c.mu.Lock()
	if p.lease != nil {
		c.mu.Unlock()
		return false
	}
	delete(c.queuers, void.id)
	c.queuers[renamed.id] = p
	p.id, p.closed = renamed.id, true
	c.mu.Unlock()
	q.tenure = renamed
	void.vacate(false)
	return true
}

// decide puts m to the nodes, and waits for the decision, unless the queuer is passed the lock meanwhile.
func (q *queuer) decide(m redlock.Motion) (*redlock.Ballot, error) {
	g := q.engine.client.group
	if !q.place.mayBePassed() {
		return g.Decide(q.ctx, m) // on this goroutine, maybe
	}
	b := g.Vote(m)
	q.place.underWay(b)
	err := b.Wait(q.ctx)
	passed := q.place.settles(err == nil && b.Won())
	switch ended := q.ctx.Err(); {
	case passed && ended == nil:
		return b, redlock.ErrDismissed
	case err != nil:
		return b, ended
	}
	return b, nil
}

// queued reports whether a reply to Wait has left the hold in the node's queue.
func (e *engine) queued(reply any) bool {
	a, err := e.kind.Acquired(reply)
	return err == nil && a.Ticket > 0
}

// answered records a node's answer, or acts on it if the round is over. It runs on a lane's
// goroutine.
func (a *asking) answered(node int, answer redlock.Answer) {
	yes := answer.Vote == redlock.Yes
	r, _ := a.queuer.kind.Acquired(answer.Reply)
	s := standing{node: node, ticket: r.Ticket}
	if yes {
		s.ticket = unheard // it is that of the yield
	}
	a.tenure.gives(node, answer)
	a.mu.Lock()
	if next := a.next; next != nil {
		a.mu.Unlock()
		if yes {
			next.has(node)
		}
		return
	}
	outcome, ticket := a.outcome, a.ticket
	if !ticket.Final && (!yes || outcome == refused) {
		a.standings = append(a.standings, s)
	}
	switch {
	case outcome != open:
	case yes:
		if !slices.Contains(a.yes, node) {
			a.yes = append(a.yes, node)
		}
	default:
		a.no = append(a.no, node)
	}
	a.mu.Unlock()
	if outcome == refused && yes {
		a.contest.misses(node)
	}
	switch {
	case outcome == granted && !yes:
		a.tenure.refused()
		a.settle([]int{node})
	case outcome == refused && (yes || ticket.Final && s.differs(ticket)):
		a.yield([]int{node}, ticket, a.unsent)
	}
}

// missed records that a node may lack the hold, in case the hold is granted. It runs on the same
// goroutines as answered.
func (a *asking) missed(node int, answer redlock.Answer, down bool) {
	a.mu.Lock()
	if a.outcome == open && !down && !errors.Is(answer.Err, redlock.ErrRestarted) {
		a.untold = true
	}
	outcome := a.outcome
	a.mu.Unlock()
	if outcome == granted {
		a.tenure.missed(node, answer, down)
	}
}

// follow replaces the asking before a, whose grants are a's from now on.
func (a *asking) follow(before *asking) {
	if before == nil {
		return
	}
	before.mu.Lock()
	defer before.mu.Unlock()
	before.next = a
	a.yes = slices.Clone(before.yes)
}

// has records that a node has granted what the previous asking asked for.
func (a *asking) has(node int) {
	a.mu.Lock()
	outcome, ticket := a.outcome, a.ticket
	if outcome == open && !slices.Contains(a.yes, node) {
		a.yes = append(a.yes, node)
	}
	a.mu.Unlock()
	if outcome == refused {
		a.yield([]int{node}, ticket, a.unsent)
	}
}

// differs reports whether a final ticket must be sent to the node.
func (s standing) differs(final lua.Ticket) bool {
	return s.ticket != 0 && s.ticket != final.Number
}

// finish sends the ticket, which has become final, to the nodes that keep the place with another
// one, and to nodes that answer later. So the order is the same on every reachable node, not only
// on a quorum: a node with a different head would wake that head, which would ask in vain.
func (a *asking) finish(ticket lua.Ticket) {
	a.mu.Lock()
	a.ticket = ticket
	var nodes []int
	for _, s := range a.standings {
		if s.differs(ticket) {
			nodes = append(nodes, s.node)
		}
	}
	a.standings = nil
	a.mu.Unlock()
	if len(nodes) > 0 {
		a.yield(nodes, ticket, a.unsent)
	}
}

// conclude tells every node that has answered the result of the round, and also the nodes that
// answer later. It returns how many nodes keep the place with ticket after a yield.
func (a *asking) conclude(o outcome, ticket lua.Ticket) (kept int, greatest int64) {
	a.mu.Lock()
	a.outcome, a.ticket = o, ticket
	yes, no, untold := a.yes, a.no, a.untold
	a.mu.Unlock()
	if o == granted {
		if untold {
			a.tenure.lacks(true)
		}
		if len(no) > 0 {
			a.tenure.refused()
			a.settle(no)
		}
		return 0, 0
	}
	if len(yes) == 0 {
		return 0, 0
	}
	b := a.yield(yes, ticket, 0)
	_ = b.Wait(context.Background()) // decided within the node timeout
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, node := range yes {
		t, err := a.queuer.kind.Yielded(b.Answer(node).Reply)
		if err != nil {
			a.standings = append(a.standings, standing{node: node, ticket: unheard})
			continue
		}
		if t > 0 && t == ticket.Number {
			kept++
		}
		greatest = max(greatest, t)
	}
	return kept, greatest
}

// settle takes the hold, which a quorum has granted, out of the queues of the other nodes.
func (a *asking) settle(nodes []int) {
	kind := a.queuer.kind
	a.tenure.engine.client.group.Vote(redlock.Motion{
		Name: "settle",
		Call: kind.Settle(a.tenure.request()),
		Yes:  kind.Settled,
		Skip: except(nodes),
	})
}

// yield gives back what nodes granted, and keeps the place in their queue; where nothing was
// granted, it sends the ticket if that is final. It may arrive late, when the hold has asked again
// or has been granted. So it names its round, and the nodes leave alone what a later round relies
// on (I1).
func (a *asking) yield(nodes []int, ticket lua.Ticket, unsent time.Duration) *redlock.Ballot {
	kind := a.queuer.kind
	return a.tenure.engine.client.group.Vote(redlock.Motion{
		Name: "yield",
		Call: kind.Yield(a.tenure.request(), ticket, a.round),
		Yes: func(reply any) (bool, error) {
			t, err := kind.Yielded(reply)
			return t > 0, err
		},
		Creates:   true,
		Footprint: a.tenure.footprint,
		Skip:      except(nodes),
		All:       true,
		Unsent:    unsent,
	})
}

// early reports whether the release may still run on a node, after the nodes' answers: the node
// still has a hold that has ended, as far as this client knows, or, if a release counts on the queuer, it has
// not answered, and the queuer's turn has come on others.
func (q *queuer) early(b *redlock.Ballot) bool {
	c := q.engine.client
	c.mu.Lock()
	defer c.mu.Unlock()
	turn, silent := q.next, false
	for i := range c.group.Size() {
		answer := b.Answer(i)
		switch answer.Vote {
		case redlock.Yes:
			turn = true
		case redlock.No:
			a, err := q.engine.kind.Acquired(answer.Reply)
			silent = silent || err != nil
			if q.succeeds.follows(a.Holder) || c.ended(q.place.contest.key.lock, a.Holder) {
				return true
			}
		default:
			silent = true
		}
	}
	return q.succeeds.named && turn && silent
}
