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

// The holds of a semaphore have numbered slots. A hold is granted when a quorum of nodes has given
// it the same ones. So each slot is a lock of its own by majority, and no two holds ever have the
// same one (I1). Counting permits by majority would not do: with three nodes and two permits,
// {A,B}, {B,C} and {A,C} are three holders.
//
// Each node gives its lowest free slots, in the order of the queue, so the nodes nearly always give
// the same. If they do not, the nodes that differ from a quorum are told to take theirs back
// (align). Without a quorum, the slots that most nodes have given are requested by name
// (plurality). If that fails, too, all is given back.

func init() {
	kind.OfLeases = kind.Leases{
		Slots: func(lease any) lua.Slots {
			l := lease.(*Lease)
			if l.hold == nil {
				return ""
			}
			return l.hold.numbers()
		},
		Owner: func(ctx, of context.Context) context.Context {
			return context.WithValue(ctx, ownerKey{}, of.Value(ownerKey{}))
		},
	}
}

// alike reports whether two replies that grant give the same slots; it is nil for a lock without
// slots.
func (e *engine) alike() func(a, b any) bool {
	if e.numbered == nil {
		return nil
	}
	return func(a, b any) bool { return e.gave(a) == e.gave(b) }
}

// gave returns the slots that a reply grants.
func (e *engine) gave(reply any) lua.Slots {
	a, err := e.kind.Acquired(reply)
	if err != nil {
		return ""
	}
	return a.Slots
}

// maxNamed is how often slots are requested by name before all is given back: first the slots that
// nodes have given, then the slots that they report as free.
const maxNamed = 2

// disagree reports whether enough nodes for a quorum have given slots, but not the same ones.
func (e *engine) disagree(b *redlock.Ballot) bool {
	if e.numbered == nil || b.Won() {
		return false
	}
	votes := 0
	for i := range e.client.group.Size() {
		if b.Answer(i).Vote == redlock.Yes {
			votes++
		}
	}
	return votes >= e.client.group.Quorum()
}

// nominate chooses the slots to request by name; "": there are none that a quorum could give. Rivals that
// hear of the same free slots would all name the lowest, and get them from a few nodes each. So after the first time,
// they are chosen at random, among the more of the low ones the more rounds there were.
func (e *engine) nominate(b *redlock.Ballot, round int64) lua.Slots {
	g := e.client.group
	var free [][]int // by node
	want, told := 0, false
	for i := range g.Size() {
		if a := b.Answer(i); a.Vote == redlock.Yes {
			granted, _ := e.kind.Acquired(a.Reply)
			own := granted.Slots.List()
			want = len(own)
			if told = told || granted.Free != ""; granted.Free != "" {
				own = granted.Free.List()
			}
			free = append(free, own)
		}
	}
	if !told {
		return e.plurality(b)
	}
	return common(free, want, g.Quorum(), min(max(1, 4*(round-2)), maxSpread))
}

// maxSpread bounds the slots among which one is chosen at random: a fleet that needs few is to use low ones.
const maxSpread = 64

// common returns n numbers that enough of the lists, which are in ascending order, have in common, and of
// those that follow one another in the lists one of the lowest spread; "": there are not n such numbers. There are
// few lists, and common is called rarely.
func common(lists [][]int, n, quorum int, spread int64) lua.Slots {
	var best []int
	var among func(from int, chosen [][]int)
	among = func(from int, chosen [][]int) {
		if len(chosen) == quorum {
			all := slices.Clone(chosen[0])
			for _, other := range chosen[1:] {
				all = slices.DeleteFunc(all, func(slot int) bool { _, has := slices.BinarySearch(other, slot); return !has })
			}
			if len(all) >= n && (best == nil || slices.Compare(all[:n], best[:n]) < 0) {
				best = all
			}
			return
		}
		for i := from; i < len(lists); i++ {
			among(i+1, append(slices.Clip(chosen), lists[i]))
		}
	}
	among(0, nil)
	if best == nil {
		return ""
	}
	from := rand.N(min(int64(len(best)-n+1), spread))
	return lua.SlotsOf(best[from : from+int64(n)])
}

// plurality returns the slots that most nodes have given. In a tie it is the highest: they are the
// lowest that some node has free, and the other nodes have even lower ones.
func (e *engine) plurality(b *redlock.Ballot) (best lua.Slots) {
	counts := make(map[lua.Slots]int)
	for i := range e.client.group.Size() {
		if a := b.Answer(i); a.Vote == redlock.Yes {
			counts[e.gave(a.Reply)]++
		}
	}
	for slots, n := range counts {
		if best == "" || n > counts[best] || n == counts[best] && slices.Compare(slots.List(), best.List()) > 0 {
			best = slots
		}
	}
	return best
}

// number records the slots that a quorum has given.
func (t *tenure) number(b *redlock.Ballot) {
	if t.engine.numbered == nil {
		return
	}
	slots := t.engine.plurality(b)
	t.mu.Lock()
	t.slots = slots
	t.mu.Unlock()
}

const (
	// maxFences is how often a hold asks for another token because another hold may have the last
	// one.
	maxFences = 16
	// minLeap and maxLeap bound by how much a token exceeds the last one that a node knew. While
	// the request is in flight, others are granted tokens, and a request for less than those fails.
	// The leap grows with each attempt, so that the hold that has tried longest is ahead of the
	// others. It is bounded because tokens must not overtake the clock, in microseconds, at which a
	// forgotten counter starts.
	minLeap = 64
	maxLeap = 1024
)

// fenceAlone settles the token of a hold when others can be granted at the same time: nodes that
// differ could lead two holds to the same token. A node raises its counter to a number for one hold
// only, and lets no other hold have that number. So of two holds with quorums, one has to take
// another, greater number.
//
// A hold that is granted one of the slots later has a greater token, for the reason given at fence:
// only nodes on which the hold has its slots count.
func (t *tenure) fenceAlone(ctx context.Context, token int64, agree int, unsent time.Duration) (second *redlock.Ballot, lost, err error) {
	g := t.engine.client.group
	if agree < g.Quorum() {
		token = t.engine.claim(token, 0)
	}
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
			Urgent: true,
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
		token = t.engine.claim(known, int64(min(minLeap<<(tries-1), maxLeap)))
	}
}

// claim returns the token to ask for next: least, or up to leap more; and in any case more than other holds of this process
// have or ask for. Of the holds of a process that ask at the same time, each asks for more than those before it:
// the nodes hear them in that order, and refuse what is less than they know. Of those of two processes, all of the one that is
// ahead are confirmed then, wherever it is heard first; if each leapt alone, only a few of both would be.
func (e *engine) claim(least, leap int64) int64 {
	c := e.client
	c.mu.Lock()
	defer c.mu.Unlock()
	ct := c.contests[e.contest()]
	if ct != nil && ct.relay.token >= least {
		least, leap = ct.relay.token, max(leap, minLeap)
	}
	if leap > 0 {
		least += leap/2 + rand.N(leap/2) // rivals that ask for the same one would meet again
	}
	if ct != nil {
		ct.relay.token = least
	}
	return least
}
