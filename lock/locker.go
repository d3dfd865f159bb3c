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

// A Locker is the interface of every mutex. Code that uses a mutex should accept a Locker: it is
// small enough to fake. A Locker is safe for concurrent use, and two goroutines that share one
// exclude each other: the context decides who owns a lock, not the Locker or the goroutine. See
// [WithOwner].
type Locker interface {
	// Name is the name that the lock was made with.
	Name() string

	// Lock blocks until the lock is held or ctx is done. ctx limits only the wait: its deadline
	// does not end a lease that was granted. (It counts as a context of the work once [Lease.Context] is
	// called.) If ctx carries an owner that holds the lock already, Lock re-enters, which asks no node
	// unless it needs a TTL that the hold's renewal does not keep. If ctx ends during an attempt, everything granted so far is
	// given back first, which takes a few node timeouts at most; what a node grants after that is given
	// back when its answer arrives, and until then others find the lock taken there. A Lock that waits
	// for another holder also waits for nodes that refuse its commands meanwhile. Unless an argument or option is
	// invalid, the error is an [*AcquireError]: also an [ErrLocked] if the wait ended behind a
	// holder, and an [ErrNoQuorum] if too few nodes could be asked.
	Lock(ctx context.Context) (*Lease, error)

	// TryLock does not wait for another owner. Unless an argument or option is invalid, the error is
	// an [*AcquireError]: also an [ErrLocked] if others have the lock, and an [ErrNoQuorum] if too
	// few nodes can be asked, which takes up to about two node timeouts. If several callers try at the same moment, one of them gets a free lock: rivals
	// that split the votes of several nodes try again. TryLock always returns within a second,
	// whatever the nodes do and however long the node timeout is.
	TryLock(ctx context.Context) (*Lease, error)

	// Do runs fn under the lock: Lock, fn with the lease's context, Unlock. In fn, [FromContext]
	// returns the lease, with its token and its deadline. Do returns fn's error itself, or joined with
	// [ErrLost] if the lease was lost meanwhile, with [ErrReleased] if the client was closed, and
	// with Unlock's error if that failed.
	Do(ctx context.Context, fn func(context.Context) error) error
}

// An Inspector is what operators need from a lock. The mutexes of packages reentrant, fair and readwrite are
// Inspectors as well as Lockers; a semaphore has a state of its own. It is safe for concurrent use.
type Inspector interface {
	// Inspect tells who holds the lock, as a quorum of nodes sees it. Without a quorum of answers
	// it returns the answers of the other nodes, and an error that wraps [ErrNoQuorum].
	Inspect(ctx context.Context) (State, error)

	// ForceUnlock ends every hold on every node, whoever it belongs to. It returns true if one of
	// them held the lock or may have held it, and false if the lock was free, or if only a minority
	// of nodes had a hold left. Those who wait keep their places. It is an operator's tool. The
	// holder learns of it with its next renewal, as [ReasonForced]; the holder of a fixed lease
	// learns of it with its Unlock or Extend at the latest. If too few nodes tell who has the lock,
	// ForceUnlock ends nothing, and the error wraps [ErrNoQuorum]. If nodes fall silent after that,
	// the error is the same, but the hold may have ended on some of them.
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
	if fn == nil && e.err == nil {
		return fmt.Errorf("lock %q: Do has no function to call", e.name)
	}
	lease, err := e.Lock(ctx)
	if err != nil {
		return err
	}
	// Deferred, so that a panic in fn does not keep the lock.
	defer func() {
		if failed := lease.Unlock(ctx); failed != nil { // else fn's error itself is returned
			err = errors.Join(err, failed)
		}
	}()
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
	kind.Apart = option(func(s *settings) { s.apart = true })
}

// newEngine makes the lock called name. It talks to no node. What is wrong with c, name or opts
// is the error of every later call.
func newEngine(c *Client, k kind.Kind, name string, opts []Option) *engine {
	e := &engine{kind: k, name: name, replies: repliesTo(k)}
	if _, ok := k.(kind.Queue); ok {
		e.order = queued
	}
	if s, ok := k.(kind.Shared); ok {
		e.shared, e.order = s, shared
		e.joinable, _ = k.(kind.Joinable)
		if n, ok := k.(kind.Numbered); ok {
			e.numbered, e.order = n, slotted
		}
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
		e.err = fmt.Errorf("lock %q: %w", clip(name), err)
		return e
	}
	e.keys = keys
	return e
}

// clip shortens a name that is too long to be a lock's.
func clip(name string) string {
	const most = 64
	if len(name) <= lua.MaxNameLength {
		return name
	}
	return name[:most] + "..."
}
