// Package engine is for authors of a kind of lock: it makes locks of a [kind.Kind].
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

	// Survey runs a read-only script on every node, for a kind that shows more than Inspect does.
	Survey(ctx context.Context, s kind.Survey) ([]kind.Surveyed, error)
}

// New returns the lock called name. It talks to no node. An invalid c, name or option is the error
// of every later call.
func New(c *lock.Client, k kind.Kind, name string, opts []lock.Option) Engine {
	return kind.Make(c, k, name, opts).(Engine)
}

// Apart has each hold of the lock be one of its own on the nodes. Goroutines of one process neither pass the lock
// on to each other nor share a hold, so each lease has an id and a token that the nodes know. It has no effect on
// a re-entry.
func Apart() lock.Option { return kind.Apart.(lock.Option) }

// Wraps registers that a kind's public type wraps an Engine. It is called before main begins. Locks
// of that type can be taken together without a goroutine for each; see [lock.TryTogether].
func Wraps[M any](unwrap func(M) Engine) {
	kind.Wraps(func(lock any) (inner any, ok bool) {
		m, ok := lock.(M)
		if !ok {
			return nil, false
		}
		return unwrap(m), true
	})
}

// SlotsOf returns the numbers of the slots of a lease of a kind.Numbered.
func SlotsOf(l *lock.Lease) []int { return kind.OfLeases.Slots(l).List() }

// WithOwnerOf returns ctx with the owner that of carries, if it carries one: for leases that must
// not be re-entered.
func WithOwnerOf(ctx, of context.Context) context.Context { return kind.OfLeases.Owner(ctx, of) }

// Patient returns a context under which a Lock waits even for nodes that refuse its commands from the start, as one does
// that they have let wait before.
func Patient(ctx context.Context) context.Context { return kind.Patient(ctx) }

// Reads reports whether l is a reader's lock. It is false of a lock that this module did not make.
func Reads(l lock.Locker) bool { return kind.Reads(kind.Unwrap(l)) }

// Awaited reports whether a Lock of l under ctx would wait for others of this process, who have l or stand in
// line for it. A TryLock would go past that line. It is false of a lock that this module did not make.
func Awaited(ctx context.Context, l lock.Locker) bool { return kind.Awaited(ctx, kind.Unwrap(l)) }
