package semaphore

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/internal/engine"
	"github.com/holdfast-go/holdfast/lock"
)

// MaxPermits is the maximum number of permits of a semaphore.
const MaxPermits = 10_000

// A Semaphore is a number of permits that processes and machines share, given out in the order of
// the requests. It is safe for concurrent use, and holds no state: any number of Semaphores may
// stand for one name. The zero value is not usable; use [New].
type Semaphore struct {
	client  *lock.Client
	permits int
	opts    []lock.Option
	engine  engine.Engine // of single permits
}

// New returns the semaphore called name, with this number of permits. It talks to no node; an
// invalid name, number or option is the error of every call. Programs should agree on the
// number of permits. While they do not, because it is being changed, the larger one is the limit
// (see the package).
func New(c *lock.Client, name string, permits int, opts ...lock.Option) *Semaphore {
	return &Semaphore{c, permits, opts, engine.New(c, scripts{1, permits}, name, opts)}
}

// Name is the name given to New.
func (s *Semaphore) Name() string { return s.engine.Name() }

// Permits is the number of permits given to New.
func (s *Semaphore) Permits() int { return s.permits }

// Acquire blocks until it has n permits or ctx is done. All n are taken at once, in the order of
// the requests of all processes: later small requests do not overtake a big one. ctx limits only
// the wait. Permits are not re-entered: a holder that asks for more gets others, and may so wait
// for itself. n less than 1 or greater than Permits is an error at once. Unless n, another
// argument or an option is invalid, the error is a [*lock.AcquireError].
func (s *Semaphore) Acquire(ctx context.Context, n int) (*Permit, error) {
	e, err := s.of(n)
	if err != nil {
		return nil, err
	}
	return permit(e.Lock(lock.WithoutOwner(ctx)))
}

// TryAcquire takes n permits if that many are free and nobody waits in the queue, and always returns
// within a second. The error wraps [lock.ErrLocked] if they are not available now, and [lock.ErrNoQuorum] if
// too few nodes can be asked.
func (s *Semaphore) TryAcquire(ctx context.Context, n int) (*Permit, error) {
	e, err := s.of(n)
	if err != nil {
		return nil, err
	}
	return permit(e.TryLock(lock.WithoutOwner(ctx)))
}

// Do runs fn with n permits: Acquire, fn with the permit's context, Release. It returns fn's error
// itself, or joined with [lock.ErrLost] if the permits were lost meanwhile.
func (s *Semaphore) Do(ctx context.Context, n int, fn func(context.Context) error) (err error) {
	if fn == nil && s.check(n) == nil {
		return fmt.Errorf("semaphore %q: Do has no function to call", s.Name())
	}
	p, err := s.Acquire(ctx, n)
	if err != nil {
		return err
	}
	// Deferred, so that a panic in fn does not keep the permits.
	defer func() {
		if failed := p.Release(ctx); failed != nil { // else fn's error itself is returned
			err = errors.Join(err, failed)
		}
	}()
	return fn(p.Context(ctx))
}

// ForceUnlock ends all permits on every node, whoever has them, and reports whether there were any,
// or may have been. It is an operator's tool: a holder in another process learns of it with its
// next renewal.
func (s *Semaphore) ForceUnlock(ctx context.Context) (bool, error) {
	if err := s.check(1); err != nil {
		return false, err
	}
	return s.engine.ForceUnlock(ctx)
}

// ForceUnlockHold is ForceUnlock for the permits with this id alone, which [Permit.ID] and Inspect show.
func (s *Semaphore) ForceUnlockHold(ctx context.Context, id string) (bool, error) {
	if err := s.check(1); err != nil {
		return false, err
	}
	return s.engine.ForceUnlockHold(ctx, id)
}

// check returns an error if n permits cannot be requested.
func (s *Semaphore) check(n int) error {
	switch {
	case s.permits < 1:
		return fmt.Errorf("semaphore %q: it has %d permits, the minimum is 1", s.Name(), s.permits)
	case s.permits > MaxPermits:
		return fmt.Errorf("semaphore %q: it has %d permits, the maximum is %d", s.Name(), s.permits, MaxPermits)
	case n < 1:
		return fmt.Errorf("semaphore %q: asked for %d permits, the minimum is 1", s.Name(), n)
	case n > s.permits:
		return fmt.Errorf("semaphore %q: asked for %d permits, and there are only %d", s.Name(), n, s.permits)
	}
	return nil
}

// of returns n of the permits as one lock.
func (s *Semaphore) of(n int) (engine.Engine, error) {
	if err := s.check(n); err != nil {
		return nil, err
	}
	if n == 1 {
		return s.engine, nil
	}
	return engine.New(s.client, scripts{n, s.permits}, s.Name(), s.opts), nil
}
