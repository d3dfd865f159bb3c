// Quickstart shows the basics: two programs want one lock. They contend, the holder re-enters, the
// watchdog keeps the lock beyond its TTL, and the fencing token grows.
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart -redis localhost:6379
package main

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/examples/internal/nodes"
	"github.com/holdfast-go/holdfast/examples/internal/story"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

func main() { nodes.Main(1, quickstart) }

const (
	// The TTL is short, so that you need not wait to see it pass. The default is 30 seconds.
	ttl  = time.Second
	work = 2500 * time.Millisecond
)

func quickstart(ctx context.Context, redis *nodes.Set, tell *story.Teller) error {
	// Ann and Bob are two programs: each has a client of its own.
	ann, err := lock.NewClient(redis.Clients(), lock.WithTTL(ttl))
	if err != nil {
		return err
	}
	defer ann.Close()
	bob, err := lock.NewClient(redis.Clients(), lock.WithTTL(ttl))
	if err != nil {
		return err
	}
	defer bob.Close()

	orders := reentrant.New(ann, "orders:42")
	lease, err := orders.Lock(ctx)
	if err != nil {
		return err
	}
	defer lease.Unlock(ctx)
	tell.Linef("ann", "locked %q for %v, with token %d", lease.Name(), ttl, lease.Token())

	// Contend: one attempt is refused, and Lock waits.
	_, err = reentrant.New(bob, "orders:42").TryLock(ctx)
	if !errors.Is(err, lock.ErrLocked) {
		return errors.Join(errors.New("bob should have been refused"), err)
	}
	tell.Linef("bob", "tried it: %v", lock.ErrLocked)
	bobsTurn := make(chan error, 1)
	go func() { bobsTurn <- waitInLine(ctx, bob, tell) }()

	// Re-enter: the context says who has the lock already.
	if err := checkStock(lease.Context(ctx), orders, tell); err != nil {
		return err
	}

	// Outlive the TTL: the watchdog renews as long as Ann works.
	time.Sleep(work)
	if err := lease.Err(); err != nil {
		return err
	}
	tell.Linef("ann", "worked for %v and still has it: the watchdog renews the %v", work, ttl)

	tell.Linef("ann", "unlocks it")
	if err := lease.Unlock(ctx); err != nil {
		return err
	}
	return <-bobsTurn
}

// checkStock needs the lock too, and need not know whether its caller has it.
func checkStock(ctx context.Context, orders *reentrant.Mutex, tell *story.Teller) error {
	lease, err := orders.Lock(ctx)
	if err != nil {
		return err
	}
	tell.Linef("ann", "locked it again in a nested call: count %d, same token", lease.Count())
	return lease.Unlock(ctx)
}

func waitInLine(ctx context.Context, locks *lock.Client, tell *story.Teller) error {
	tell.Linef("bob", "waits for it")
	lease, err := reentrant.New(locks, "orders:42").Lock(ctx)
	if err != nil {
		return err
	}
	tell.Linef("bob", "locked it, with token %d: greater than ann's", lease.Token())
	return lease.Unlock(ctx)
}
