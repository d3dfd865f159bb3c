package lock

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/hook"
)

func init() {
	hook.Provided.Fails = func(fails func(name string) error) any {
		return clientOption(func(s *clientSettings) { s.fails = fails })
	}
	hook.Provided.Key = func(lease any) string { return lease.(*Lease).hold.engine.keys.Lock }
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
		validity, err := h.extend(ctx, ttl)
		if err != nil {
			return err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.prolong(validity, time.Now())
		h.schedule()
		return nil
	}
}
