package lock

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// Inspect implements [Inspector]. Without a quorum of answers it returns the other nodes' answers
// in Nodes, and an error that wraps [ErrNoQuorum].
func (e *engine) Inspect(ctx context.Context) (State, error) {
	if e.err != nil {
		return State{}, e.err
	}
	if err := e.client.enter(); err != nil {
		return State{}, fmt.Errorf("inspect %q: %w", e.name, err)
	}
	defer e.client.leave()
	if ctx.Err() != nil { // or it would depend on how fast the nodes answer
		return State{}, fmt.Errorf("inspect %q: %w", e.name, contextError(ctx))
	}
	b, err := e.client.group.Decide(ctx, redlock.Motion{
		Name: "inspect",
		Call: lua.Inspect{Keys: e.keys, Guard: e.client.guard}.Call(),
		Yes: func(reply any) (bool, error) {
			_, err := lua.ParseInspected(reply)
			return err == nil, err
		},
		All: true,
	})
	if err != nil {
		return State{}, fmt.Errorf("inspect %q: %w", e.name, contextError(ctx))
	}
	nodes := make([]NodeState, e.client.group.Size())
	queues := make([][]lua.Waiting, len(nodes))
	for i := range nodes {
		nodes[i], queues[i] = nodeState(e.client.group.Address(i), b.Answer(i))
	}
	s := state(nodes, queues, remaining(b, len(nodes)), e.client.group.Quorum())
	for i := range nodes {
		s.note(b.Answer(i))
	}
	if err := b.Err(); err != nil {
		return s, fmt.Errorf("inspect %q: %w", e.name, err)
	}
	return s, nil
}

// note takes the texts about the holder from one node: the node that has known it longest.
func (s *State) note(a redlock.Answer) {
	in, err := lua.ParseInspected(a.Reply)
	if err != nil || !s.Held || in.Holder != s.Holder || in.Noted == (lua.Noted{}) || s.HeldFor > in.Noted.Age {
		return
	}
	s.Label, s.Note, s.HeldFor = in.Noted.Label, in.Noted.Text, max(in.Noted.Age, time.Millisecond)
}

func nodeState(address string, a redlock.Answer) (NodeState, []lua.Waiting) {
	n := NodeState{Address: address, Reachable: reached(a), Err: a.Err}
	in, err := lua.ParseInspected(a.Reply)
	if err != nil {
		return n, nil
	}
	n.Holder, n.Count, n.TTL, n.Token = in.Holder, in.Count, in.TTL, in.Token
	for _, r := range in.Readers {
		n.Readers = append(n.Readers, r.Hold)
	}
	slices.Sort(n.Readers)
	if in.Refusal != "" {
		n.Err = fmt.Errorf("%w: %s", redlock.ErrRestarted, in.Refusal)
	}
	for _, w := range in.Queue {
		n.Queue = append(n.Queue, w.Hold)
	}
	return n, in.Queue
}

// remaining returns how long each hold lasts on each of the nodes that have it.
func remaining(b *redlock.Ballot, nodes int) map[string][]time.Duration {
	ttls := make(map[string][]time.Duration, 1)
	for i := range nodes {
		in, err := lua.ParseInspected(b.Answer(i).Reply)
		switch {
		case err != nil:
		case len(in.Readers) > 0:
			for _, r := range in.Readers {
				ttls[r.Hold] = append(ttls[r.Hold], r.TTL)
			}
		case in.Holder != "":
			ttls[in.Holder] = append(ttls[in.Holder], in.TTL)
		}
	}
	return ttls
}

// state returns the state that a quorum of nodes agrees on.
func state(nodes []NodeState, queues [][]lua.Waiting, ttls map[string][]time.Duration, quorum int) State {
	s := State{Nodes: nodes}
	tokens := make([]int64, 0, len(nodes))
	for _, n := range nodes {
		tokens = append(tokens, n.Token)
	}
	s.Status = StatusFree
	if _, undecided := s.votes(""); undecided >= quorum {
		s.Status = StatusUnknown
	}
	for holder, left := range ttls {
		if len(left) < quorum { // a minority holds nothing, unless it is more
			if seen, undecided := s.votes(holder); seen+undecided >= quorum && !s.Held {
				s.Status = StatusUnknown
			}
			continue
		}
		s.Status, s.Held = StatusHeld, true
		slices.SortFunc(left, longestFirst)
		ttl := left[quorum-1] // from then on fewer than a quorum have it
		if s.Holder == "" || holder < s.Holder {
			s.Holder, s.TTL = holder, ttl
		}
		if slices.ContainsFunc(nodes, func(n NodeState) bool { return slices.Contains(n.Readers, holder) }) {
			s.Readers = append(s.Readers, holder)
		}
	}
	slices.Sort(s.Readers)
	// A node outside the quorum that granted a token may have counted further.
	slices.Sort(tokens)
	s.Token = tokens[len(tokens)-quorum]
	counts := make(map[int]int, 1)
	for _, n := range nodes {
		if s.Held && n.Holder == s.Holder {
			if counts[n.Count]++; counts[n.Count] > counts[s.Count] || s.Count == 0 {
				s.Count = n.Count
			}
		}
	}
	for _, w := range kind.Line(queues, quorum) {
		s.Waits = append(s.Waits, Wait{Hold: w.Hold, Waited: w.Waited, Reads: kind.WaitsToRead(w.Hold)})
	}
	for _, w := range s.Waits {
		s.Queue = append(s.Queue, w.Hold)
	}
	return s
}

// longestFirst orders remaining TTLs. A key without one, which is negative, outlives
// all others.
func longestFirst(a, b time.Duration) int {
	switch {
	case a < 0 || b < 0:
		return cmp.Compare(a, b)
	default:
		return cmp.Compare(b, a)
	}
}
