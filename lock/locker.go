package lock

import (
	"context"
	"time"
)

// A Locker is what every kind of mutex is. A Locker is safe for concurrent use, and
// two goroutines that share one exclude each other: who owns a lock is decided by the
// context, not by the Locker or the goroutine. See [WithOwner].
type Locker interface {
	// Name is the name that the lock was made with.
	Name() string

	// Lock blocks until the lock is held or ctx is done. ctx bounds the wait only:
	// its deadline never ends a lease that was granted. If ctx carries an owner that
	// holds the lock already, Lock re-enters. When ctx ends in the middle of an attempt,
	// what was granted is given back first, which takes a few node timeouts at the most. The
	// error is an [*AcquireError].
	Lock(ctx context.Context) (*Lease, error)

	// TryLock does not wait for another owner. The error wraps [ErrLocked] when one has
	// the lock, and redlock.ErrNoQuorum when too few nodes can be asked. Of several that
	// try at the same moment one gets a free lock: rivals that split the votes of several
	// nodes try again, for a second at the most.
	TryLock(ctx context.Context) (*Lease, error)

	// Do runs fn under the lock: Lock, fn with the lease's context, Unlock. It
	// returns fn's error, joined with [ErrLost] if the lease was lost meanwhile, with
	// [ErrReleased] if the client was closed, and with Unlock's error if that failed.
	Do(ctx context.Context, fn func(context.Context) error) error

	// Inspect tells who holds the lock, as a quorum of nodes sees it.
	Inspect(ctx context.Context) (State, error)

	// ForceUnlock ends the lock whoever holds it, and tells whether anybody did. It
	// is an operator's tool: the holder learns of it with its next renewal.
	ForceUnlock(ctx context.Context) (bool, error)
}

// A State is a lock as a quorum of nodes sees it. A node that sees it otherwise is
// told apart in Nodes.
type State struct {
	Held   bool
	Holder string        // hold id
	Count  int           // hold count
	TTL    time.Duration // remaining on a quorum; negative: the key has no TTL
	Token  int64         // the greatest fencing token that a quorum knows; 0: none
	Queue  []string      // fair locks: waiting hold ids, in order
	Waits  []Wait        // fair locks: the same, with what else is known of them
	Nodes  []NodeState
}

// A Wait is one waiter of a fair lock; its place is its index in State.Waits.
type Wait struct {
	Hold   string        // the id its hold will have
	Waited time.Duration // since its enqueue, by the clock of the node that has had it for longest
}

// A NodeState is a lock as one node sees it.
type NodeState struct {
	Address   string
	Reachable bool
	Holder    string        // hold id; "": free
	Count     int           // hold count
	TTL       time.Duration // remaining; negative: the key has no TTL
	Token     int64         // fencing counter; 0: none
	Queue     []string      // fair locks: waiting hold ids, in order
	Err       error         // why the node could not tell, or would not grant
}
