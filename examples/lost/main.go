// Lost shows how work learns that its lock is gone, and stops: first because an operator has ended
// the lock by force, then because Redis is gone. In both cases it is enough to work under the
// lease's context.
//
//	go run ./examples/lost
//	go run ./examples/lost -redis localhost:6379
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/examples/internal/nodes"
	"github.com/holdfast-go/holdfast/examples/internal/story"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

func main() { nodes.Main(1, lose) }

const (
	// The TTL is short, so that you need not wait to see it pass. The default is 30 seconds.
	ttl  = 1500 * time.Millisecond
	step = 200 * time.Millisecond // of the work
)

func lose(ctx context.Context, redis *nodes.Set, tell *story.Teller) error {
	locks, err := lock.NewClient(redis.Clients(), lock.WithTTL(ttl))
	if err != nil {
		return err
	}
	defer locks.Close()
	operator, err := lock.NewClient(redis.Clients())
	if err != nil {
		return err
	}
	defer operator.Close()

	tell.Textf("\nAn operator ends it. The holder learns of that with its next renewal.")
	err = work(ctx, locks, tell, func() {
		if _, err := reentrant.New(operator, "import").ForceUnlock(ctx); err != nil {
			tell.Linef("ops", "could not end the lock: %v", err)
			return
		}
		tell.Linef("ops", "ended the lock by force")
	})
	if err != nil {
		return err
	}

	tell.Textf("\nRedis goes away. The holder gives up before its keys can expire.")
	return work(ctx, locks, tell, func() {
		for i := range redis.Clients() {
			tell.Linef("redis", "%s", redis.Take(i))
		}
	})
}

// work imports record after record until its lock is lost. Something happens to the lock at the
// third record.
func work(ctx context.Context, locks *lock.Client, tell *story.Teller, accident func()) error {
	lease, err := reentrant.New(locks, "import").Lock(ctx)
	if err != nil {
		return err
	}
	tell.Linef("worker", "locked %q for %v", lease.Name(), ttl)
	err = importAll(lease.Context(ctx), tell, accident)
	tell.Linef("worker", "stopped: %v", err)

	// Unlock reports the loss as well, and the reason. Work that cannot stop in the middle checks
	// here.
	over := lease.Unlock(ctx)
	var e *lock.LeaseError
	if !errors.As(over, &e) || !errors.Is(over, lock.ErrLost) {
		return fmt.Errorf("the lease should have been lost: %w", over)
	}
	tell.Linef("worker", "unlocked it: %v, %s", e.Err, e.Reason)
	return nil
}

// importAll knows nothing of locks. It does what every function with a context does.
func importAll(ctx context.Context, tell *story.Teller, accident func()) error {
	for record := 1; ; record++ {
		select {
		case <-time.After(step):
			tell.Linef("worker", "imported record %d", record)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if record == 3 {
			accident()
		}
	}
}
