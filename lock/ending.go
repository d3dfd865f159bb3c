package lock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ending is a context whose Err only looks at its Done. The Err of a context of this very hold,
// with which a re-entry was called, would take the hold's mu, which is held.
type ending struct{ context.Context }

// Err implements [context.Context].
func (e ending) Err() error {
	select {
	case <-e.Done():
		return context.Canceled
	default:
		return nil
	}
}

// endless is ctx without its end, for giving a lock back.
func endless(ctx context.Context) context.Context {
	switch {
	case ctx == nil:
		return context.Background() // a lock that is not given back would be held for ever
	case ctx.Done() != nil:
		return context.WithoutCancel(ctx)
	default:
		return ctx
	}
}

// contextError returns why ctx ended, with its cause if that says more.
func contextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == nil || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// await waits until all of these are closed, for at most this long.
func await(most time.Duration, all ...<-chan struct{}) {
	if len(all) == 0 {
		return
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	for _, c := range all {
		select {
		case <-c:
		case <-timer.C:
			return
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
