package lock

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/redlock"
)

// Survey runs a read-only script on every node. Without a quorum of answers it returns the other
// nodes' answers, and an error that wraps [ErrNoQuorum].
func (e *engine) Survey(ctx context.Context, s kind.Survey) ([]kind.Surveyed, error) {
	if e.err != nil {
		return nil, e.err
	}
	if err := e.client.enter(); err != nil {
		return nil, fmt.Errorf("%s %q: %w", s.Name, e.name, err)
	}
	defer e.client.leave()
	b, err := e.client.group.Decide(ctx, redlock.Motion{
		Name: s.Name,
		Call: s.Call(e.keys, e.client.guard),
		Yes: func(reply any) (bool, error) {
			err := s.Read(reply)
			return err == nil, err
		},
		All: true,
	})
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", s.Name, e.name, contextError(ctx))
	}
	nodes := make([]kind.Surveyed, e.client.group.Size())
	for i := range nodes {
		a := b.Answer(i)
		nodes[i] = kind.Surveyed{Address: e.client.group.Address(i), Reachable: reached(a), Reply: a.Reply, Err: a.Err}
	}
	if err := b.Err(); err != nil {
		return nodes, fmt.Errorf("%s %q: %w", s.Name, e.name, err)
	}
	return nodes, nil
}
