package lock

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// The holds of a semaphore have numbered slots. A hold is granted when a quorum of nodes has given it the same
// ones: so each slot is a lock of its own by majority, and no two holds ever have the same one (I1). To count
// permits by majority would not do: of three nodes with two permits each, {A,B}, {B,C} and {A,C} are three holders.
//
// Each node gives the lowest slots that it has free, and in the order of the queue, so they nearly always give
// the same. Where they do not, those that differ from a quorum are told to take theirs back (align); without
// a quorum, the slots that most have given are asked for by name (plurality), and if that fails, too, all is given back.

// numbering is what the nodes have given to a tenure. It is guarded by the tenure's mu.
type numbering struct {
	slots   lua.Slots   // those of the hold; "": it is not granted
	given   []lua.Slots // by each node, before that
	aligned bool        // the nodes that had answered by then were compared
}

func init() {
	kind.OfLeases = kind.Leases{
		Slots: func(lease any) lua.Slots {
			l := lease.(*Lease)
			if l.hold == nil {
				return ""
			}
			l.hold.mu.Lock()
			defer l.hold.mu.Unlock()
			return l.hold.numbering.slots
		},
		Owner: func(ctx, of context.Context) context.Context {
			return context.WithValue(ctx, ownerKey{}, of.Value(ownerKey{}))
		},
	}
}

// alike tells whether two replies that grant give the same slots; it is nil for a lock without any.
func (e *engine) alike() func(a, b any) bool {
	if e.numbered == nil {
		return nil
	}
	return func(a, b any) bool { return e.gave(a) == e.gave(b) }
}

// gave are the slots that a reply grants.
func (e *engine) gave(reply any) lua.Slots {
	a, err := e.kind.Acquired(reply)
	if err != nil {
		return ""
	}
	return a.Slots
}

// plurality are the slots that most nodes have given, and the lowest of these, if so many have given some that
// a quorum could agree; "": not so many have.
func (e *engine) plurality(b *redlock.Ballot) lua.Slots {
	if e.numbered == nil {
		return ""
	}
	g := e.client.group
	votes, counts := 0, make(map[lua.Slots]int)
	for i := range g.Size() {
		if a := b.Answer(i); a.Vote == redlock.Yes {
			votes++
			counts[e.gave(a.Reply)]++
		}
	}
	if votes < g.Quorum() {
		return ""
	}
	var best lua.Slots
	for slots, n := range counts {
		if best == "" || n > counts[best] || n == counts[best] && slices.Compare(slots.List(), best.List()) < 0 {
			best = slots
		}
	}
	return best
}

// number notes the slots that a quorum has given.
func (t *tenure) number(b *redlock.Ballot) {
	if t.engine.numbered == nil {
		return
	}
	slots := t.engine.plurality(b)
	t.mu.Lock()
	t.numbering.slots = slots
	t.mu.Unlock()
}

// numbers are the slots of the hold.
func (t *tenure) numbers() lua.Slots {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.numbering.slots
}

// numbered is request with the slots of the hold.
func (t *tenure) numbered() kind.Request {
	r := t.request()
	r.Slots = t.numbers()
	return r
}

// gives notes the slots that a node has given, or has it take them back if others were granted.
func (t *tenure) gives(node int, a redlock.Answer) {
	g := t.engine.client.group
	if t.engine.numbered == nil || g.Size() == 1 || a.Vote != redlock.Yes {
		return
	}
	slots := t.engine.gave(a.Reply)
	if slots == "" {
		return
	}
	t.mu.Lock()
	n := &t.numbering
	differs := n.aligned && slots != n.slots
	if !n.aligned {
		if n.given == nil {
			n.given = make([]lua.Slots, g.Size())
		}
		n.given[node] = slots
	}
	t.mu.Unlock()
	if differs {
		missing := make([]bool, g.Size())
		missing[node] = true
		t.realign(missing)
	}
}

// align has the nodes that gave other slots than those of the hold take them back, and give it these
// if they are free there.
func (t *tenure) align() {
	if t.engine.numbered == nil {
		return
	}
	var missing []bool
	t.mu.Lock()
	n := &t.numbering
	n.aligned = true
	for node, slots := range n.given {
		if slots != "" && slots != n.slots {
			if missing == nil {
				missing = make([]bool, len(n.given))
			}
			missing[node] = true
		}
	}
	n.given = nil
	t.mu.Unlock()
	if missing != nil {
		t.realign(missing)
	}
}

func (t *tenure) realign(missing []bool) {
	t.refused()
	t.repair(missing, t.engine.set.ttl)
}

// maxFences is how often a hold asks for another token as somebody else may have the last one.
const maxFences = 8

// fenceAlone settles the token of a hold when others can be granted at the same time: nodes that differ could
// lead two of them to the same one. A node has its counter reach a number for one hold only, and lets no other
// have it, so of two holds with quorums one has to take another number; a greater one.
//
// Whoever is granted one of the slots later has a greater token, for the reason that fence gives: only
// nodes where the hold has its slots count.
func (t *tenure) fenceAlone(ctx context.Context, token int64, agree int, unsent time.Duration) (second *redlock.Ballot, lost, err error) {
	g := t.engine.client.group
	for tries := 1; ; tries++ {
		t.first.token, t.reserve = token, reserve{last: token, top: token}
		if agree >= g.Quorum() {
			return second, nil, nil
		}
		second, err = g.Decide(ctx, redlock.Motion{
			Name: "fence",
			Call: t.engine.numbered.Fence(t.numbered(), token, t.round),
			Yes: func(reply any) (bool, error) {
				_, alone, err := lua.ParsePermitFenced(reply)
				return alone, err
			},
			Unsent: unsent,
		})
		if err != nil {
			return second, nil, err
		}
		if second.Won() {
			return second, nil, nil
		}
		known := int64(0)
		for i := range g.Size() {
			if a := second.Answer(i); a.Vote != redlock.Pending && a.Err == nil {
				n, _, _ := lua.ParsePermitFenced(a.Reply)
				known = max(known, n)
			}
		}
		if known < token || tries == maxFences {
			return second, second.Err(), nil
		}
		token = known + 1 + rand.Int64N(8) // rivals that ask for the same one would meet again
	}
}
