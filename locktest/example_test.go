package locktest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/locktest"
	"github.com/holdfast-go/holdfast/reentrant"
)

// The tests in this file read as those of a program, whose importAll stands for its code. An
// Example function cannot have a *testing.T, so that they are tests.

// importAll is the program under test: it asks for a lock.Locker, and for no more.
func importAll(ctx context.Context, l lock.Locker) error {
	return l.Do(ctx, func(ctx context.Context) error {
		select {
		case <-time.After(10 * time.Minute): // that is how long it takes
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

func TestImportWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // an hour passes in a moment
		f := locktest.New(t)
		theirs := f.Hold("import") // another process has the lock
		done := make(chan error, 1)
		go func() { done <- importAll(t.Context(), reentrant.New(f.Client(), "import")) }()
		f.Advance(time.Hour)
		if f.Waiters("import") != 1 {
			t.Error("it does not wait")
		}
		theirs.Release()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestImportStopsWhenItsLockIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := locktest.New(t)
		done := make(chan error, 1)
		go func() { done <- importAll(t.Context(), reentrant.New(f.Client(), "import")) }()
		f.Advance(time.Minute)
		f.Lose(f.Lease("import"), lock.ReasonForced) // an operator ends it
		if err := <-done; !errors.Is(err, lock.ErrLost) {
			t.Errorf("it says %v", err)
		}
	})
}

func TestImportSaysThatRedisIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := locktest.NewN(t, 3)
		f.Stop(0)
		f.Stop(1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := importAll(ctx, reentrant.New(f.Client(), "import")); !errors.Is(err, lock.ErrNoQuorum) {
			t.Errorf("it says %v", err)
		}
	})
}
