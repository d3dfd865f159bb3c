package main

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/semaphore"
)

// work is the work of a worker: take a number, and work on the shard with that number until the
// shift is over.
func work(ctx context.Context, name string, nodes []redis.UniversalClient) error {
	locks, err := lock.NewClient(nodes, lock.WithTTL(ttl))
	if err != nil {
		return err
	}
	defer locks.Close()
	fmt.Printf("%s arrives\n", name)
	seat, err := semaphore.New(locks, seatsName, shards, lock.WithNote(name)).Acquire(ctx, 1)
	if err != nil {
		return err
	}
	defer seat.Release(ctx)
	ctx = seat.Context(ctx) // which ends if the number is lost
	fmt.Printf("%s has number %d, token %d\n", name, seat.Slots()[0], seat.Token())
	for {
		// Here it would take an item of its shard, and write the result with its token.
		switch n, err := nodes[0].Exists(ctx, over).Result(); {
		case err != nil:
			return err
		case n == 1:
			fmt.Printf("%s gives number %d back\n", name, seat.Slots()[0])
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
