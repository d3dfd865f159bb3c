package redlock

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/lua"
)

// A Motion is what nodes vote on: one script and how to read its reply.
type Motion struct {
	// Name is the motion's name in errors: "acquire", "release".
	Name string
	Call lua.Call
	// Yes reads a reply. An error counts as a no.
	Yes func(reply any) (bool, error)

	// Alike, if set, reports whether two yes replies say the same: only a quorum of equal replies
	// carries the motion.
	Alike func(a, b any) bool

	// Creates says that a yes means the hold's key is on the node; Removes, that it
	// is gone from there. Either needs the hold's Footprint.
	Creates, Removes bool
	// All waits for every node, or its timeout, instead of a quorum.
	All bool
	// Urgent does not wait for nodes that were down when the motion was put to them, once all others
	// have answered and are a quorum: such a node counts as silent.
	Urgent bool
	// Near does not wait for nodes that are much farther away than a quorum of the others, once all of those have
	// answered and somebody is in the way: rivals whose votes are split would wait for such a node each time. They
	// count as pending. A ballot that the far ones would have won is lost, too, so Near is for a caller that tries again.
	Near bool
	// Flush, for Removes, has what was prepared before be sent also to nodes that need not be asked.
	Flush bool
	// handshakes gives each node the time that a handshake takes.
	handshakes bool
	Footprint  *Footprint
	// Leaves, for Creates, reports whether a reply other than yes has left something else of the
	// hold on the node; nil: it never does.
	Leaves func(reply any) bool
	// Removal, for Removes, makes the call for a node on which a creating command may run later,
	// which takes a mark, or which has not confirmed an earlier call. nil: Call is used.
	Removal func(mark, again bool) lua.Call
	// Found, for Removes, reports whether a yes has found the hold on the node. If it is set, the
	// ballot is not decided before it is known whether a quorum had the hold, or all have answered.
	Found func(reply any) bool
	// Narrow makes the call that touches only the key of Call, for a Cluster that is moving the
	// slot and has the other keys elsewhere (TRYAGAIN); nil: there is none. For Removes, all of Call
	// is then still owed. If there is none, a node that refuses a removal so is asked again for as long as it has
	// time to answer, before that counts as a no.
	Narrow func() lua.Call
	// Until, for Removes, is the time until which a node that has not confirmed is asked again. It
	// is also asked for as long as the key may still be created there.
	Until time.Time

	// Skip leaves a node out: it is not asked and counts as a no.
	Skip func(node int) bool
	// Each, if set, is called with every answer that a node really gave, including answers after
	// the decision. Like Then, it must be quick.
	Each func(node int, a Answer)
	// Missed, if set, is called once for each node that may not have run the command: the node was
	// silent or refused, or the command was never sent. down reports whether the node is down; when it
	// is back, Config.Back is called. Like Then, Missed must be quick.
	Missed func(node int, a Answer, down bool)

	// Patience replaces the node timeout if it is not zero.
	Patience time.Duration
	// Unsent is how long a command may wait to be sent to a node that answers others, if that is
	// longer. A node is not silent merely because there are many commands for it.
	Unsent time.Duration
	// Then, if set, is called once when the ballot is decided, on a goroutine of the group or of a
	// sender. It must be quick and must not wait for another ballot.
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

// An Answer is one node's answer to a motion.
type Answer struct {
	Reply any   // the script's reply; nil if there was none
	Err   error // why there was none, or why it is not understood
	Vote  Vote

	unasked bool // yes without being asked: there is nothing to remove
}

// IsFinal reports whether the node refuses permanently: it lacks permissions, or has found a key of the wrong type.
func (a Answer) IsFinal() bool { return isFinal(a.Err) }

// A Ballot is one vote on a motion. Any goroutine may read its results once it is decided; later
// answers do not change them.
type Ballot struct {
	group  *Group
	motion Motion
	start  time.Time
	ops    []op

	mu      sync.Mutex
	waiter  chan struct{} // of the caller that waits; nil: none does
	done    chan struct{} // of all others: closed by the decision; nil: nobody waits for it
	yes, no int32
	unasked int32 // of yes
	agreed  int32 // the most of yes that are alike
	failed  int32 // of no: without an answer
	found   int32 // of yes: see Motion.Found
	silent  int32 // have not answered, and were down when it began; see Motion.Urgent
	far     int32 // have not answered, and are far; see Motion.Near
	decided bool

	dismissed bool // by Dismiss, before it was decided
}

// Vote puts m to every node and returns at once.
func (g *Group) Vote(m Motion) *Ballot {
	b := g.newBallot(m)
	b.submit((*lane).submit)
	return b
}

// Draft is Vote, but nothing is queued before Prepare.
func (g *Group) Draft(m Motion) *Ballot { return g.newBallot(m) }

// Prepare queues b, which was drafted. It is sent with the next motion that is put to the nodes, in
// the same pipelines, or by Send, which must follow soon.
func (b *Ballot) Prepare() { b.submit((*lane).prepare) }

// Send sends b if it has not been sent, together with all other prepared ballots. With one node
// that may happen on the caller's goroutine. Under a context of [Together], b is sent with the
// others' ballots.
func (b *Ballot) Send(ctx context.Context) {
	if m := gathers(ctx); m != nil {
		m.send(ctx, b)
		return
	}
	if len(b.ops) == 1 && b.ops[0].lane.runHere(ctx, nil) == ran {
		return
	}
	for i := range b.ops {
		o := &b.ops[i]
		o.lane.send(o)
	}
}

// Decide puts m to every node and waits for the decision. If ctx ends first it returns ctx's error,
// and the ballot continues without its caller.
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
	if len(b.ops) == 1 && b.motion.Skip == nil {
		o := &b.ops[0]
		o.lane = b.group.nodes[0].way(o.key())
		switch o.lane.runHere(ctx, o) {
		case ran:
			if err := b.Wait(ctx); err != nil || b.Won() {
				return err
			}
			return ctx.Err()
		case submitted:
			return b.Wait(ctx)
		}
	}
	b.submit((*lane).submit)
	return b.Wait(ctx)
}

func (b *Ballot) submit(to func(*lane, *op)) {
	key := b.motion.Call.Key()
	for i, n := range b.group.nodes {
		o := &b.ops[i]
		o.lane = n.way(key)
		if b.motion.Urgent && len(b.ops) > 1 && o.lane.isSilent() {
			o.silent = true
			b.silent++
		}
	}
	if b.motion.Near && len(b.ops) > 1 {
		b.findFar()
	}
	for i := range b.ops {
		o := &b.ops[i]
		l := o.lane
		switch {
		case b.motion.Skip != nil && b.motion.Skip(i):
			b.vote(o, Answer{Vote: No})
		case o.needless():
			b.vote(o, Answer{Vote: Yes, unasked: true})
			if b.motion.Flush {
				l.flush()
			}
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
		b.ops[i] = op{ballot: b, node: int32(i), expires: b.start.Add(patience)}
	}
	return b
}

// Dismiss makes the caller of [Ballot.Wait] wait no longer, unless b is decided. The ballot continues without its
// caller. Of several callers that wait, it is the first, and whoever comes later: the others wait for the decision.
func (b *Ballot) Dismiss() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.decided || b.dismissed {
		return
	}
	b.dismissed = true
	if b.waiter != nil {
		b.waiter <- struct{}{}
		b.waiter = nil // the decision wakes nobody
	}
}

// left is the error of a caller that was woken: nil if that was by the decision. After a decision, nobody changes the
// field.
func (b *Ballot) left() error {
	if b.dismissed {
		return ErrDismissed
	}
	return nil
}

// Wait waits for the decision, or returns ctx's error, or [ErrDismissed] after [Ballot.Dismiss].
func (b *Ballot) Wait(ctx context.Context) error {
	b.mu.Lock()
	switch {
	case b.decided, b.dismissed:
		err := b.left()
		b.mu.Unlock()
		return err
	case b.waiter != nil: // hardly ever
		b.mu.Unlock()
		return b.waitBeside(ctx)
	}
	waiter := b.group.waiter()
	b.waiter = waiter
	b.mu.Unlock()
	end := ctx.Done()
	if end == nil {
		<-waiter // a select would cost more
		b.group.waiters.Put(waiter)
		return b.left()
	}
	var err error
	select {
	case <-waiter:
		err = b.left()
	case <-end:
		b.mu.Lock()
		if b.waiter = nil; b.decided || b.dismissed {
			<-waiter // so that it is empty for the next ballot
			err = b.left()
		} else {
			err = ctx.Err()
		}
		b.mu.Unlock()
	}
	b.group.waiters.Put(waiter)
	return err
}

// waitBeside is Wait while another caller waits.
func (b *Ballot) waitBeside(ctx context.Context) error {
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

// waiter returns an empty channel with one slot. Each ballot has one caller that waits, as a rule, and
// callers use one another's channels.
func (g *Group) waiter() chan struct{} {
	if c, _ := g.waiters.Get().(chan struct{}); c != nil {
		return c
	}
	return make(chan struct{}, 1)
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

// Command returns the name of the motion.
func (b *Ballot) Command() string { return b.motion.Name }

// Start returns when the ballot began, before the first byte was sent.
func (b *Ballot) Start() time.Time { return b.start }

// Won reports whether a quorum said yes, with equal replies if Alike is set.
func (b *Ballot) Won() bool { return int(b.agreed) >= b.group.quorum }

// Refused reports whether so many nodes refuse permanently that trying again is of no use.
func (b *Ballot) Refused() bool {
	refused := 0
	for i := range b.ops {
		if b.ops[i].answer.IsFinal() {
			refused++
		}
	}
	return len(b.ops)-refused < b.group.quorum
}

// Answer returns the answer of the node at index i.
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
	if o.silent {
		b.silent--
	}
	if o.far {
		b.far--
	}
	if a.Vote == Yes {
		b.yes++
		b.agreed = max(b.agreed, b.alike(a))
	} else {
		b.no++
	}
	if a.unasked {
		b.unasked++
	} else if a.Vote == Yes && b.motion.Found != nil && b.motion.Found(a.Reply) {
		b.found++
	}
	if a.Err != nil {
		b.failed++
	}
	n, quorum := int32(len(b.ops)), int32(b.group.quorum)
	b.decided = b.yes+b.no == n
	if !b.motion.All {
		// Nodes that need not be asked do not win a ballot before the nodes that were asked have
		// answered: otherwise a caller that locks again at once would find a far node not done with
		// the release, and be late there forever. A ballot is lost early only to a quorum of
		// refusals: fewer of them may come from rivals whose votes are split as well, and a failed
		// node says nothing about who has the lock.
		b.decided = b.decided || b.agreed-b.unasked >= quorum && b.tells() || b.no-b.failed >= quorum ||
			b.yes >= quorum && n-b.yes-b.no+b.agreed < quorum // the remaining nodes cannot make them agree
	}
	if !b.decided && b.motion.Urgent && b.yes+b.no >= quorum && b.yes+b.no+b.silent == n {
		b.passOver()
	}
	if !b.decided && b.far > 0 && b.no > b.failed && b.yes+(b.no-b.failed) >= quorum && b.yes+b.no+b.silent+b.far == n {
		b.decided = true
	}
	decided := b.decided
	if decided && b.waiter != nil {
		b.waiter <- struct{}{}
	}
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

// A round trip to a far node is muchFarther times as long as to the others, and farGap longer than that. Another attempt takes
// about as long.
const (
	muchFarther = 8
	farGap      = 2 * time.Millisecond
)

// findFar marks the nodes that are much farther away than a quorum of the others, as far as is known.
func (b *Ballot) findFar() {
	var few [9]time.Duration
	trips := few[:0]
	for i := range b.ops {
		trips = append(trips, b.ops[i].lane.trip())
	}
	for i := range b.ops {
		o, nearer := &b.ops[i], 0
		for _, trip := range trips {
			if trip > 0 && muchFarther*trip+farGap < trips[i] {
				nearer++
			}
		}
		if o.far = nearer >= b.group.quorum && !o.silent; o.far {
			b.far++
		}
	}
}

// passOver decides b without the nodes that have not answered. Called with mu held.
func (b *Ballot) passOver() {
	for i := range b.ops {
		if o := &b.ops[i]; o.answer.Vote == Pending {
			o.answer = Answer{Vote: No, Err: o.lane.node.silent()}
			b.no++
			b.failed++
		}
	}
	b.decided = true
}

// tells reports whether it is known if a quorum had the hold that b removes. A node that was not asked
// never had it. Called with mu held.
func (b *Ballot) tells() bool {
	return b.motion.Found == nil || int(b.found) >= b.group.quorum || len(b.ops)-int(b.yes-b.found) < b.group.quorum
}

// alike counts the yes votes that equal a, which is one of them. Called with mu held.
func (b *Ballot) alike(a Answer) int32 {
	if b.motion.Alike == nil {
		return b.yes
	}
	n := int32(0)
	for i := range b.ops {
		if other := b.ops[i].answer; other.Vote == Yes && b.motion.Alike(a.Reply, other.Reply) {
			n++
		}
	}
	return n
}
