package reentrant

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/engine"
	"github.com/holdfast-go/holdfast/lock"
)

// A Mutex is a reentrant lock across processes and machines. It is safe for
// concurrent use, and holds no state of its own: any number of them may stand for one
// name. The zero value is not usable; use [New].
type Mutex struct{ engine engine.Engine }

var (
	_ lock.Locker    = (*Mutex)(nil)
	_ lock.Inspector = (*Mutex)(nil)
)

func init() { engine.Wraps(func(m *Mutex) engine.Engine { return m.engine }) }

// New makes the mutex called name. It talks to no node; what is wrong with name or
// opts is the error of the first call. Locks with the same name on the same nodes, in
// whatever process, exclude each other.
func New(c *lock.Client, name string, opts ...lock.Option) *Mutex {
	return &Mutex{engine: engine.New(c, scripts{}, name, opts)}
}

// Name is the name that the mutex was made with.
func (m *Mutex) Name() string { return m.engine.Name() }

// Lock blocks until the mutex is held or ctx is done. If ctx carries an owner that
// holds it already - it comes from [lock.Lease.Context] or [lock.WithOwner] - Lock
// re-enters. ctx bounds the wait only. The error is a [*lock.AcquireError].
func (m *Mutex) Lock(ctx context.Context) (*lock.Lease, error) { return m.engine.Lock(ctx) }

// TryLock takes the mutex if it is free, and returns within a second in any case. The error
// wraps [lock.ErrLocked] when others have the mutex, and [lock.ErrNoQuorum] when too few
// nodes can be asked.
func (m *Mutex) TryLock(ctx context.Context) (*lock.Lease, error) { return m.engine.TryLock(ctx) }

// Do runs fn under the mutex: Lock, fn with the lease's context, Unlock. It returns
// fn's error, joined with [lock.ErrLost] if the lease was lost meanwhile.
func (m *Mutex) Do(ctx context.Context, fn func(context.Context) error) error {
	return m.engine.Do(ctx, fn)
}

// Inspect tells who holds the mutex, as a quorum of nodes sees it.
func (m *Mutex) Inspect(ctx context.Context) (lock.State, error) { return m.engine.Inspect(ctx) }

// ForceUnlock ends every hold that any node has, whoever it belongs to, and tells whether
// somebody had the mutex by one, or may have had. It is an operator's tool: a holder
// elsewhere learns of it with its next renewal.
func (m *Mutex) ForceUnlock(ctx context.Context) (bool, error) { return m.engine.ForceUnlock(ctx) }

// ForceUnlockHold is ForceUnlock for the hold with this id alone: the one that was looked at,
// and not one that has come since.
func (m *Mutex) ForceUnlockHold(ctx context.Context, hold string) (bool, error) {
	return m.engine.ForceUnlockHold(ctx, hold)
}
