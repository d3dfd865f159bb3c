package lock

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"runtime/trace"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
)

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
	// [FromContext] has the lease, with its token and its deadline. Do returns fn's error, joined
	// with [ErrLost] if the lease was lost meanwhile, with [ErrReleased] if the client was closed,
	// and with Unlock's error if that failed.
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
	// with its next renewal, as [ReasonForced]; one of a fixed lease, with its Unlock or Extend
	// at the latest. Where too few nodes tell who has the lock, it ends nothing, and the error
	// wraps [ErrNoQuorum]. If they fall silent after that, the error is the same, but the hold
	// may have ended on some of them.
	ForceUnlock(ctx context.Context) (bool, error)
}

var (
	_ Locker    = (*engine)(nil)
	_ Inspector = (*engine)(nil)
)

// Name implements [Locker].
func (e *engine) Name() string { return e.name }

// Lock implements [Locker].
func (e *engine) Lock(ctx context.Context) (*Lease, error) { return e.acquire(ctx, true) }

// TryLock implements [Locker].
func (e *engine) TryLock(ctx context.Context) (*Lease, error) { return e.acquire(ctx, false) }

// Do implements [Locker].
func (e *engine) Do(ctx context.Context, fn func(context.Context) error) (err error) {
	lease, err := e.Lock(ctx)
	if err != nil {
		return err
	}
	// Deferred, so that a panic in fn does not keep the lock.
	defer func() { err = errors.Join(err, lease.Unlock(ctx)) }()
	return e.work(lease.Context(ctx), fn)
}

// work runs fn under the lease, in a region if a trace is taken.
func (e *engine) work(ctx context.Context, fn func(context.Context) error) (err error) {
	if !trace.IsEnabled() {
		return fn(ctx)
	}
	pprof.Do(ctx, labels("hold", e.name), func(ctx context.Context) {
		trace.WithRegion(ctx, holding, func() { err = fn(ctx) })
	})
	return err
}

func init() {
	kind.Provide(func(client any, k kind.Kind, name string, opts any) any {
		return newEngine(client.(*Client), k, name, opts.([]Option))
	})
}

// newEngine makes the lock called name. It talks to no node. What is wrong with c, name or opts
// is the error of every later call.
func newEngine(c *Client, k kind.Kind, name string, opts []Option) *engine {
	e := &engine{kind: k, name: name}
	if _, ok := k.(kind.Queue); ok {
		e.order = queued
	}
	if s, ok := k.(kind.Shared); ok {
		e.shared, e.order = s, shared
		e.joinable, _ = k.(kind.Joinable)
		e.numbered, _ = k.(kind.Numbered)
		e.wants, e.permits, _ = lua.ParsePermitMark(s.Mark())
	}
	if c == nil {
		e.err = errors.New("lock: the client is nil")
		return e
	}
	e.client, e.set = &c.core, c.locks
	for _, o := range opts {
		if o == nil {
			e.err = fmt.Errorf("lock %q: an option is nil", name)
			return e
		}
		o.lock(&e.set)
	}
	keys, err := lua.NewKeys(c.prefix, name)
	if err == nil {
		err = e.set.check(e.client)
	}
	if err != nil {
		e.err = fmt.Errorf("lock: %w", err)
		return e
	}
	e.keys = keys
	return e
}
