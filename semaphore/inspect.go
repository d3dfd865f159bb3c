package semaphore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

// A State is a semaphore as a quorum of nodes sees it. Nodes shows separately what each node sees.
type State struct {
	Permits int    // the number given to New
	InUse   int    // permits in use; more than Permits while the number is being lowered
	Slots   []Slot // the permits in use, by their numbers
	Queue   []Wait // the waiters, in order
	Token   int64  // the greatest fencing token that a quorum knows; 0: none
	Nodes   []NodeState
}

// A Slot is one permit in use.
type Slot struct {
	Number  int
	Holder  string        // hold id; several slots may have the same
	Label   string        // of the holder's process, see lock.WithLabel; "": none is known
	Note    string        // see lock.WithNote; "": none is known
	HeldFor time.Duration // how long the holder's process has had the permits, by a node's clock; 0: not known
	TTL     time.Duration // remaining on a quorum
	Token   int64         // the holder's token, or the last one that its process has reserved to pass the permit on; 0: its nodes differ
}

// A Wait is one waiter; its place is its index.
type Wait struct {
	Hold    string        // the id its hold will have
	Permits int           // how many it wants
	Waited  time.Duration // since its enqueue, by the clock of the node that has known it longest
}

// A NodeState is a semaphore as one node sees it.
type NodeState struct {
	Address   string
	Reachable bool // it answered, if only with an error
	Slots     []Slot
	Queue     []Wait
	Token     int64  // fencing counter; 0: none
	Other     string // the hold id that has the name, if it is a lock of another kind
	Err       error  // why the node could not tell, or would not grant
}

// Inspect tells who has which permits, and who waits for some, as a quorum of nodes sees it.
// Without a quorum of answers it returns the other nodes' answers in Nodes, and an error that wraps
// [lock.ErrNoQuorum].
func (s *Semaphore) Inspect(ctx context.Context) (State, error) {
	if err := s.check(1); err != nil {
		return State{}, err
	}
	answers, err := s.engine.Survey(ctx, kind.Survey{
		Name: "inspect",
		Call: func(keys lua.Keys, guard time.Duration) lua.Call {
			return lua.PermitInspect{Permit: lua.Permit{Fair: lua.Fair{Keys: keys}}, Guard: guard}.Call()
		},
		Read: func(reply any) error {
			_, err := lua.ParsePermitInspected(reply)
			return err
		},
	})
	state := s.state(answers)
	state.Permits = s.permits
	return state, err
}

// state returns the state that a quorum of answers agrees on.
func (s *Semaphore) state(answers []kind.Surveyed) (all State) {
	type held struct {
		hold  string
		slots lua.Slots
	}
	quorum := len(answers)/2 + 1
	holds := make(map[held][]lua.PermitHold)
	var queues [][]lua.Waiting
	var tokens []int64
	for _, a := range answers {
		in, err := lua.ParsePermitInspected(a.Reply)
		n := NodeState{Address: a.Address, Reachable: a.Reachable, Err: a.Err}
		if err == nil {
			n.Token, n.Other, n.Queue = in.Token, in.Other, waits(in.Queue)
			for _, h := range in.Holds {
				n.Slots = append(n.Slots, slots(h)...)
				holds[held{h.Hold, h.Slots}] = append(holds[held{h.Hold, h.Slots}], h)
			}
			sort(n.Slots)
			if in.Refusal != "" {
				n.Err = fmt.Errorf("%w: %s", lock.ErrRestarted, in.Refusal)
			}
		}
		all.Nodes, queues, tokens = append(all.Nodes, n), append(queues, in.Queue), append(tokens, in.Token)
	}
	for _, same := range holds {
		if len(same) < quorum {
			continue // a minority holds nothing
		}
		all.Slots = append(all.Slots, slots(agreed(same, quorum))...)
	}
	sort(all.Slots)
	all.InUse = len(all.Slots)
	all.Queue = waits(kind.Line(queues, quorum))
	if len(tokens) > 0 {
		slices.Sort(tokens)
		all.Token = tokens[len(tokens)-quorum]
	}
	return all
}

// agreed is a hold as a quorum of nodes has it.
func agreed(same []lua.PermitHold, quorum int) lua.PermitHold {
	slices.SortFunc(same, func(a, b lua.PermitHold) int { return cmp.Compare(b.TTL, a.TTL) })
	h := same[quorum-1] // after this moment, fewer than a quorum have it
	tokens := make(map[int64]int, 1)
	h.Token = 0
	for _, n := range same {
		if tokens[n.Token]++; tokens[n.Token] >= quorum {
			h.Token = n.Token
		}
		if n.Noted.Age > h.Noted.Age || h.Noted == (lua.Noted{}) {
			h.Noted = n.Noted
		}
	}
	return h
}

// slots returns the slots of a hold.
func slots(h lua.PermitHold) (all []Slot) {
	for _, n := range h.Slots.List() {
		s := Slot{Number: n, Holder: h.Hold, Label: h.Noted.Label, Note: h.Noted.Text, TTL: h.TTL, Token: h.Token}
		if h.Noted != (lua.Noted{}) {
			s.HeldFor = max(h.Noted.Age, time.Millisecond)
		}
		all = append(all, s)
	}
	return all
}

func sort(all []Slot) {
	slices.SortFunc(all, func(a, b Slot) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Holder, b.Holder))
	})
}

func waits(queue []lua.Waiting) (all []Wait) {
	for _, w := range queue {
		n, _, _ := lua.ParsePermitMark(w.Hold)
		all = append(all, Wait{Hold: w.Hold, Permits: n, Waited: w.Waited})
	}
	return all
}
