package lock

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/hook"
)

func init() {
	hook.Provided.Option = func(calls hook.Calls) any {
		return clientOption(func(s *clientSettings) { s.hooks = calls })
	}
	hook.Provided.Key = func(lease any) string { return lease.(*Lease).hold.engine.key }
	hook.Provided.Prefix = func(client any) string { return client.(*Client).prefix }
	hook.Provided.Force = func(ctx context.Context, lease any) error {
		l := lease.(*Lease)
		_, err := l.hold.engine.ForceUnlockHold(ctx, l.ID())
		return err
	}
	hook.Provided.Renew = func(ctx context.Context, lease any) error {
		h := lease.(*Lease).hold
		h.mu.Lock()
		ttl := h.ttl
		h.mu.Unlock()
		_, err := h.extend(ctx, ttl)
		return err
	}
}

// told is run, and tells the client's hooks of it.
func (a *acquisition) told(calls hook.Calls, block bool) (*Lease, error) {
	if err := calls.Begin(a.engine.name); err != nil {
		return nil, a.fail(err, denial{})
	}
	lease, err := a.run(block)
	if err != nil {
		calls.End(a, nil)
		return nil, err
	}
	calls.End(a, lease)
	return lease, nil
}
