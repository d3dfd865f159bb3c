// Package engine is for whoever writes a kind of lock: it makes locks of a [kind.Kind].
package engine

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lock"
)

// An Engine is one lock of any kind: what a kind's public type wraps. It is safe for concurrent
// use, and holds no state of its own.
type Engine interface {
	lock.Locker
	lock.Inspector

	// ForceUnlockHold is ForceUnlock for the hold with this id alone.
	ForceUnlockHold(ctx context.Context, hold string) (bool, error)
}

// New makes the lock called name. It talks to no node. What is wrong with c, name or opts is the
// error of every later call.
func New(c *lock.Client, k kind.Kind, name string, opts []lock.Option) Engine {
	return kind.Make(c, k, name, opts).(Engine)
}
