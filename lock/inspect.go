package lock

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// Inspect implements [Locker]. Without a quorum of answers it returns what the others
// said in Nodes, and an error that wraps redlock.ErrNoQuorum.
func (e *Engine) Inspect(ctx context.Context) (State, error) {
	if e.err != nil {
		return State{}, e.err
	}
	if err := e.client.enter(); err != nil {
		return State{}, fmt.Errorf("inspect %q: %w", e.name, err)
	}
	defer e.client.leave()
	b, err := e.client.group.Decide(ctx, redlock.Motion{
		Name: "inspect",
		Call: lua.Inspect{Keys: e.keys}.Call(),
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
	for i := range nodes {
		nodes[i] = nodeState(e.client.group.Address(i), b.Answer(i))
	}
	s := state(nodes, e.client.group.Quorum())
	if err := b.Err(); err != nil {
		return s, fmt.Errorf("inspect %q: %w", e.name, err)
	}
	return s, nil
}

func nodeState(address string, a redlock.Answer) NodeState {
	n := NodeState{Address: address, Reachable: a.Reply != nil, Err: a.Err}
	if in, err := lua.ParseInspected(a.Reply); err == nil {
		n.Holder, n.Count, n.TTL, n.Token = in.Holder, in.Count, in.TTL, in.Token
	}
	return n
}

// state is what a quorum of nodes agrees on.
func state(nodes []NodeState, quorum int) State {
	s := State{Nodes: nodes}
	ttls := make(map[string][]time.Duration, 1)
	for _, n := range nodes {
		s.Token = max(s.Token, n.Token)
		if n.Holder != "" {
			ttls[n.Holder] = append(ttls[n.Holder], n.TTL)
		}
	}
	for holder, left := range ttls {
		if len(left) < quorum {
			continue // a minority holds nothing
		}
		s.Held, s.Holder = true, holder
		// A key without a TTL outlives all others.
		slices.SortFunc(left, func(a, b time.Duration) int {
			switch {
			case a < 0 && b < 0:
				return 0
			case a < 0:
				return -1
			case b < 0:
				return 1
			}
			return int(b - a)
		})
		s.TTL = left[quorum-1] // from then on fewer than a quorum have it
	}
	counts := make(map[int]int, 1)
	for _, n := range nodes {
		if s.Held && n.Holder == s.Holder {
			if counts[n.Count]++; counts[n.Count] > counts[s.Count] || s.Count == 0 {
				s.Count = n.Count
			}
		}
	}
	return s
}
