package lock

import "context"

// A Locker is what every kind of mutex is, and what code that uses one should ask for: it is
// small enough to fake. A Locker is safe for concurrent use, and two goroutines that share
// one exclude each other: who owns a lock is decided by the context, not by the Locker or the
// goroutine. See [WithOwner].
type Locker interface {
	// Name is the name that the lock was made with.
	Name() string

	// Lock blocks until the lock is held or ctx is done. ctx bounds the wait only:
	// its deadline never ends a lease that was granted. If ctx carries an owner that
	// holds the lock already, Lock re-enters, which asks no node. When ctx ends in the middle of an attempt,
	// what was granted is given back first, which takes a few node timeouts at the most. The
	// error is an [*AcquireError]: also an [ErrLocked] if the wait ended behind a holder, and
	// an [ErrNoQuorum] if too few nodes could be asked.
	Lock(ctx context.Context) (*Lease, error)

	// TryLock does not wait for another owner. The error is an [*AcquireError]: an
	// [ErrLocked] when others have the lock, and an [ErrNoQuorum] when too few nodes can be
	// asked, which takes a node timeout. Of several that try at the same moment one gets a
	// free lock: rivals that split the votes of several nodes try again. In any case TryLock
	// returns within a second, whatever the nodes do and however long a node timeout is.
	TryLock(ctx context.Context) (*Lease, error)

	// Do runs fn under the lock: Lock, fn with the lease's context, Unlock. In fn,
	// [FromContext] has the lease, with its token and its deadline. Do returns fn's error, joined with [ErrLost] if the lease was lost meanwhile, with
	// [ErrReleased] if the client was closed, and with Unlock's error if that failed.
	Do(ctx context.Context, fn func(context.Context) error) error
}

// An Inspector is what operators need of a lock; each kind's type is one, beside being a
// [Locker]. It is safe for concurrent use.
type Inspector interface {
	// Inspect tells who holds the lock, as a quorum of nodes sees it. Without a quorum of
	// answers it returns what the others said, and an error that wraps [ErrNoQuorum].
	Inspect(ctx context.Context) (State, error)

	// ForceUnlock ends every hold that any node has, whoever it belongs to, and tells whether
	// somebody had the lock by one, or may have had: false is for a free lock, and for what
	// a minority of nodes was left with. It is an operator's tool: the holder learns of it
	// with its next renewal, as [ReasonForced].
	ForceUnlock(ctx context.Context) (bool, error)
}
