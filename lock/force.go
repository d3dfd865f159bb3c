package lock

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/redlock"
)

// ForceUnlock implements [Locker]. It ends exactly the holds that it finds: run twice,
// or late, it cannot end a later one (I4).
func (e *Engine) ForceUnlock(ctx context.Context) (bool, error) {
	s, err := e.Inspect(ctx)
	if err != nil {
		return false, fmt.Errorf("force unlock: %w", err)
	}
	if err := e.client.enter(); err != nil {
		return false, fmt.Errorf("force unlock %q: %w", e.name, err)
	}
	defer e.client.leave()
	holders := make(map[string]struct{}, 1)
	for _, n := range s.Nodes {
		if n.Holder != "" {
			holders[n.Holder] = struct{}{}
		}
	}
	for holder := range holders {
		b, err := e.client.group.Decide(ctx, redlock.Motion{
			Name: "force unlock",
			Call: e.kind.Release(e.request(holder, 0), false, 0),
			Yes:  e.vacated,
			All:  true,
		})
		if err != nil {
			return false, fmt.Errorf("force unlock %q: %w", e.name, contextError(ctx))
		}
		if err := b.Err(); err != nil {
			return false, fmt.Errorf("force unlock %q: %w", e.name, err)
		}
		// A holder in this process need not wait for its next renewal to learn of it.
		if h := e.client.holder(e.contest()); h != nil && h.id == holder {
			h.lose("it was ended by ForceUnlock")
		}
	}
	return s.Held, nil // what a minority of nodes had was nobody's
}
