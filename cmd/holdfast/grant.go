package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

// A lease is what a command runs under: a *lock.Lease or a *semaphore.Permit.
type lease interface {
	ID() string
	Token() int64
	Deadline() time.Time
	Done() <-chan struct{}
	Err() error
}

// A grant is a lease, and how to give it back.
type grant struct {
	lease
	name    string
	slots   []int // of a semaphore
	release func(context.Context) error
}

// forever waits for a lock without a limit.
const forever = time.Duration(-1)

// A wish is which lock is wanted, and for how long to wait for it.
type wish struct {
	name      string
	fair      bool
	shared    bool
	exclusive bool
	take, of  int // permits; 0: not a semaphore
	wait      time.Duration
	options   []lock.Option
}

// acquire takes the lock.
func (w *wish) acquire(ctx context.Context, c *lock.Client) (*grant, error) {
	if w.wait > 0 {
		limited, cancel := context.WithTimeout(ctx, w.wait)
		defer cancel()
		g, err := w.attempt(limited, c)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, lock.ErrLocked) || errors.Is(err, lock.ErrNoQuorum) {
			return g, err
		}
		// The time was over before anything was known. Whoever asks learns at least that.
		once := *w
		once.wait = 0
		w = &once
	}
	return w.attempt(ctx, c)
}

// attempt tries once, or until ctx ends.
func (w *wish) attempt(ctx context.Context, c *lock.Client) (*grant, error) {
	if w.take > 0 {
		return w.permit(ctx, semaphore.New(c, w.name, w.of, w.options...))
	}
	l, err := w.lock(ctx, w.locker(c))
	if err != nil {
		return nil, refused(err)
	}
	return &grant{lease: l, name: w.name, release: l.Unlock}, nil
}

func (w *wish) locker(c *lock.Client) lock.Locker {
	switch {
	case w.fair:
		return fair.New(c, w.name, w.options...)
	case w.shared:
		return readwrite.New(c, w.name, w.options...).RLocker()
	case w.exclusive:
		return readwrite.New(c, w.name, w.options...)
	default:
		return reentrant.New(c, w.name, w.options...)
	}
}

func (w *wish) lock(ctx context.Context, l lock.Locker) (*lock.Lease, error) {
	if w.wait == 0 {
		return l.TryLock(ctx)
	}
	return l.Lock(ctx)
}

func (w *wish) permit(ctx context.Context, s *semaphore.Semaphore) (*grant, error) {
	acquire := s.Acquire
	if w.wait == 0 {
		acquire = s.TryAcquire
	}
	p, err := acquire(ctx, w.take)
	if err != nil {
		return nil, refused(err)
	}
	return &grant{lease: p, name: w.name, slots: p.Slots(), release: p.Release}, nil
}

// refused adds what to do to the reason why a lock was not acquired.
func refused(err error) error {
	var e *exitError
	switch {
	case errors.As(err, &e):
		return err
	case errors.Is(err, lock.ErrKind):
		return exit(exitUsage, fmt.Errorf("%w; take one name with --shared and --exclusive, with --permits, or with none of them", err))
	case errors.Is(err, lock.ErrNoQuorum), errors.Is(err, lock.ErrLocked), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, lock.ErrClosed):
		return err
	default:
		return exit(exitUsage, err) // a name, a label or a note that cannot be
	}
}
