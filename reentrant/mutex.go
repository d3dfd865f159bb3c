package reentrant

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/engine"
	"github.com/holdfast-go/holdfast/lock"
)

// A Mutex is a reentrant lock across processes and machines. It is safe for concurrent use, and
// holds no state: any number of Mutexes may stand for one name. The zero value is not usable; use
// [New].
type Mutex struct{ engine engine.Engine }

var (
	_ lock.Locker    = (*Mutex)(nil)
	_ lock.Inspector = (*Mutex)(nil)
)

func init() { engine.Wraps(func(m *Mutex) engine.Engine { return m.engine }) }

// New returns the mutex called name, of 1 to 1,024 bytes; braces in it make a Cluster's hash tag. It talks to no node; an
// invalid name or option is the error of every call. Locks with the same name on the same nodes exclude each other, in all processes.
func New(c *lock.Client, name string, opts ...lock.Option) *Mutex {
	return &Mutex{engine: engine.New(c, scripts{}, name, opts)}
}

// Name is the name given to New.
func (m *Mutex) Name() string { return m.engine.Name() }

// Lock blocks until the mutex is held or ctx is done. If ctx carries an owner that already holds
// the mutex (it comes from [lock.Lease.Context] or [lock.WithOwner]), Lock re-enters. ctx limits
// only the wait. Unless an argument or option is invalid, the error is a [*lock.AcquireError].
func (m *Mutex) Lock(ctx context.Context) (*lock.Lease, error) { return m.engine.Lock(ctx) }

// TryLock takes the mutex if it is free, and always returns within a second. The error wraps
// [lock.ErrLocked] if others have the mutex, and [lock.ErrNoQuorum] if too few nodes can be asked.
func (m *Mutex) TryLock(ctx context.Context) (*lock.Lease, error) { return m.engine.TryLock(ctx) }

// Do runs fn under the mutex: Lock, fn with the lease's context, Unlock. It returns
// fn's error itself, or joined with [lock.ErrLost] if the lease was lost meanwhile.
func (m *Mutex) Do(ctx context.Context, fn func(context.Context) error) error {
	return m.engine.Do(ctx, fn)
}

// Inspect tells who holds the mutex, as a quorum of nodes sees it.
func (m *Mutex) Inspect(ctx context.Context) (lock.State, error) { return m.engine.Inspect(ctx) }

// ForceUnlock ends every hold on every node, whoever it belongs to, and reports whether one of them
// held the mutex or may have held it. It is an operator's tool: a holder in another process learns
// of it with its next renewal.
func (m *Mutex) ForceUnlock(ctx context.Context) (bool, error) { return m.engine.ForceUnlock(ctx) }

// ForceUnlockHold is ForceUnlock for the hold with this id alone: the hold that was looked at, not
// a later one.
func (m *Mutex) ForceUnlockHold(ctx context.Context, hold string) (bool, error) {
	return m.engine.ForceUnlockHold(ctx, hold)
}
