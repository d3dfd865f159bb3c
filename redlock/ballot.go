package redlock

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/lua"
)

// A Motion is what nodes vote on: one script and how to read its reply.
type Motion struct {
	// What it is called in errors: "acquire", "release".
	Name string
	Call lua.Call
	// Yes reads a reply. An error counts as a no.
	Yes func(reply any) (bool, error)

	// Alike, if set, tells whether two replies that are yes say the same: only a quorum of
	// those that do carries the motion.
	Alike func(a, b any) bool

	// Creates says that a yes means the hold's key is on the node; Removes, that it
	// is gone from there. Either needs the hold's Footprint.
	Creates, Removes bool
	// All waits for every node, or its timeout, in place of a quorum.
	All bool
	// handshakes gives each node the time that a handshake takes.
	handshakes bool
	Footprint  *Footprint
	// Leaves, for Creates, tells whether a reply that is no yes has left something
	// else of the hold on the node; nil: it never does.
	Leaves func(reply any) bool
	// Removal, for Removes, makes the call for a node where a creating command may come
	// later, which takes a mark, or which has not confirmed an earlier call. nil: Call
	// will do.
	Removal func(mark, again bool) lua.Call
	// Narrow makes the call that touches nothing but the key that Call is about, for a
	// Cluster that is moving the slot and has the other keys elsewhere (TRYAGAIN); nil:
	// there is none.
	Narrow func() lua.Call
	// Until, for Removes: a node that has not confirmed is asked again until then, and for
	// as long as the key may still be created there.
	Until time.Time

	// Skip leaves a node out: it is not asked and counts as a no.
	Skip func(node int) bool
	// Each, if set, is called with every answer that a node really gave, those of
	// stragglers after the decision included. Like Then it must be quick.
	Each func(node int, a Answer)

	// Patience replaces the node timeout if it is not zero.
	Patience time.Duration
	// Unsent is how long a command may wait to be sent to a node that answers others, if
	// that is longer. A node is not silent because there is much to tell it.
	Unsent time.Duration
	// Then, if set, is called once when the ballot is decided, on a goroutine of the
	// group or of whoever sends: it must be quick and must not wait for another ballot.
	Then func(*Ballot)
}

// Vote is how a node's answer counts.
type Vote uint8

// The votes.
const (
	Pending Vote = iota // no answer when the ballot was decided
	Yes
	No
)

// An Answer is what one node said to a motion.
type Answer struct {
	Reply any   // the script's reply; nil if there was none
	Err   error // why there was none, or why it is not understood
	Vote  Vote

	unasked bool // yes without being asked: there is nothing to remove
}

// A Ballot is one vote on a motion. Its results may be read, by any goroutine, once
// it is decided; they no longer change then, whatever stragglers say.
type Ballot struct {
	group  *Group
	motion Motion
	start  time.Time
	ops    []op

	mu      sync.Mutex
	done    chan struct{} // closed by the decision; nil: nobody waits for it
	yes, no int
	unasked int // of yes
	agreed  int // the most of yes that are alike
	failed  int // of no: without an answer
	decided bool
}

// Vote puts m to every node and returns at once.
func (g *Group) Vote(m Motion) *Ballot {
	b := g.newBallot(m)
	b.submit((*lane).submit)
	return b
}

// Draft is Vote, but nothing is queued before Prepare.
func (g *Group) Draft(m Motion) *Ballot { return g.newBallot(m) }

// Prepare queues b, which was drafted: it leaves with the next motion that is put to the
// nodes, in the same pipelines, or with Send, which must follow soon.
func (b *Ballot) Prepare() { b.submit((*lane).prepare) }

// Send has b leave if it has not, and with it all else that was prepared. With one node
// that may be on the caller's goroutine. Under a context of [Together] it leaves with the
// others' ballots.
func (b *Ballot) Send(ctx context.Context) {
	if m := gathers(ctx); m != nil {
		m.send(ctx, b)
		return
	}
	if len(b.ops) == 1 && b.ops[0].lane.runHere(ctx, nil) {
		return
	}
	for i := range b.ops {
		o := &b.ops[i]
		o.lane.send(o)
	}
}

// Decide puts m to every node and waits for the decision. If ctx ends first it
// returns ctx's error, and the ballot goes on without its caller.
func (g *Group) Decide(ctx context.Context, m Motion) (*Ballot, error) {
	b := g.newBallot(m)
	return b, b.Decide(ctx)
}

// Decide is [Group.Decide] for b, which was drafted.
func (b *Ballot) Decide(ctx context.Context) error {
	if gathers(ctx) != nil {
		b.Prepare()
		b.Send(ctx)
		if err := b.Wait(ctx); err != nil || b.Won() {
			return err
		}
		return ctx.Err()
	}
	if len(b.ops) == 1 {
		o := &b.ops[0]
		if o.lane = b.group.nodes[0].way(o.key()); o.lane.runHere(ctx, o) {
			if err := b.Wait(ctx); err != nil || b.Won() {
				return err
			}
			return ctx.Err()
		}
	}
	b.submit((*lane).submit)
	return b.Wait(ctx)
}

func (b *Ballot) submit(to func(*lane, *op)) {
	key := b.motion.Call.Key()
	for i, n := range b.group.nodes {
		o := &b.ops[i]
		l := n.way(key)
		o.lane = l
		switch {
		case b.motion.Skip != nil && b.motion.Skip(i):
			b.vote(o, Answer{Vote: No})
		case o.needless():
			b.vote(o, Answer{Vote: Yes, unasked: true})
		default:
			to(l, o)
		}
	}
}

// newBallot makes a ballot of n ops, in one piece where that is common.
func newBallot(n int) *Ballot {
	if n == 1 {
		b := new(struct {
			Ballot
			one [1]op
		})
		b.ops = b.one[:]
		return &b.Ballot
	}
	return &Ballot{ops: make([]op, n)}
}

func (g *Group) newBallot(m Motion) *Ballot {
	b := newBallot(len(g.nodes))
	b.group, b.motion = g, m
	b.start = time.Now() // before the first byte is sent
	patience := g.config.NodeTimeout
	if m.Patience > 0 {
		patience = m.Patience
	}
	for i := range b.ops {
		if m.handshakes {
			patience = g.nodes[i].patience()
		}
		b.ops[i] = op{ballot: b, node: i, expires: b.start.Add(patience)}
	}
	return b
}

// Wait waits for the decision, or returns ctx's error.
func (b *Ballot) Wait(ctx context.Context) error {
	done := b.decision()
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// decision returns a channel that the decision closes; nil if there is one already.
func (b *Ballot) decision() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.decided {
		return nil
	}
	if b.done == nil {
		b.done = make(chan struct{})
	}
	return b.done
}

// Command is what the motion is called.
func (b *Ballot) Command() string { return b.motion.Name }

// Start is when the ballot began, before the first byte was sent.
func (b *Ballot) Start() time.Time { return b.start }

// Won tells whether a quorum said yes, and the same.
func (b *Ballot) Won() bool { return b.agreed >= b.group.quorum }

// Refused tells whether so many nodes refuse for good - they lack permissions, or
// find a key of the wrong type - that trying again is no use.
func (b *Ballot) Refused() bool {
	refused := 0
	for i := range b.ops {
		if isFinal(b.ops[i].answer.Err) {
			refused++
		}
	}
	return len(b.ops)-refused < b.group.quorum
}

// Answer is what the node at index i said.
func (b *Ballot) Answer(i int) Answer { return b.ops[i].answer }

// vote counts one node's answer. Only the first answer of a node counts, and none
// after the decision, so a result that was read never changes.
func (b *Ballot) vote(o *op, a Answer) {
	b.mu.Lock()
	if b.decided || o.answer.Vote != Pending {
		b.mu.Unlock()
		return
	}
	o.answer = a
	if a.Vote == Yes {
		b.yes++
		b.agreed = max(b.agreed, b.alike(a))
	} else {
		b.no++
	}
	if a.unasked {
		b.unasked++
	}
	if a.Err != nil {
		b.failed++
	}
	n, quorum := len(b.ops), b.group.quorum
	b.decided = b.yes+b.no == n
	if !b.motion.All {
		// Nodes that need not be asked win no ballot before those that were have had
		// their say: who locks again at once would find a far node not done with the
		// release, and be late there forever. And a ballot is lost early only to a quorum
		// of refusals: less of them may be rivals', with votes as split as one's own, and
		// a node that failed tells nothing of who has the lock.
		b.decided = b.decided || b.agreed-b.unasked >= quorum || b.no-b.failed >= quorum ||
			b.yes >= quorum && n-b.yes-b.no+b.agreed < quorum // those that are left cannot make them agree
	}
	decided := b.decided
	if decided && b.done != nil {
		close(b.done)
	}
	b.mu.Unlock()
	if !decided {
		return
	}
	if b.motion.Then != nil {
		b.motion.Then(b)
	}
}

// alike counts the yes votes that say the same as a, which is one of them. Called with mu held.
func (b *Ballot) alike(a Answer) int {
	if b.motion.Alike == nil {
		return b.yes
	}
	n := 0
	for i := range b.ops {
		if other := b.ops[i].answer; other.Vote == Yes && b.motion.Alike(a.Reply, other.Reply) {
			n++
		}
	}
	return n
}
