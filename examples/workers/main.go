// Workers shows the slots of a semaphore: each worker has a number that no other worker has, and
// keeps it while it lives. Here it works on the shard with that number. One worker is killed, and
// the next one that comes gets its number.
//
//	go run ./examples/workers
//	go run ./examples/workers -redis host1:6379,host2:6379,host3:6379
package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/examples/internal/fleet"
	"github.com/holdfast-go/holdfast/examples/internal/nodes"
	"github.com/holdfast-go/holdfast/examples/internal/story"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/semaphore"
)

func main() {
	if !fleet.Join(work) {
		nodes.Main(3, manage)
	}
}

const (
	seatsName = "workers"
	shards    = 3
	ttl       = time.Second
	over      = "workers:over" // the key that ends the shift
)

// Four workers for three shards: the last one waits for a number.
var workers = []string{"ann", "bob", "cid", "dan"}

// unlucky is the worker that is killed.
const unlucky = "bob"

// manage lets workers come one after the other, and kills one.
func manage(ctx context.Context, redis *nodes.Set, tell *story.Teller) error {
	locks, err := lock.NewClient(redis.Clients())
	if err != nil {
		return err
	}
	defer locks.Close()
	seats := semaphore.New(locks, seatsName, shards)
	store := redis.Clients()[0]
	if err := store.Del(ctx, over).Err(); err != nil {
		return err
	}
	crew, err := fleet.New(ctx, redis.Clients())
	if err != nil {
		return err
	}
	defer crew.Close()
	// Each says that it comes and, but for the last one, its number.
	for _, name := range workers {
		if err := crew.Start(name); err != nil {
			return err
		}
		if _, _, err := crew.Hear(tell); err != nil {
			return err
		}
		if name == workers[shards] {
			break
		}
		if _, _, err := crew.Hear(tell); err != nil {
			return err
		}
	}
	if err := crew.Kill(unlucky); err != nil {
		return err
	}
	tell.Linef(unlucky, "is killed, without warning")
	if _, _, err := crew.Hear(tell); err != nil { // the last one has its number
		return err
	}
	state, err := inspect(ctx, seats)
	if err != nil {
		return err
	}
	var taken []string
	for _, slot := range state.Slots {
		taken = append(taken, fmt.Sprintf("%d is %s's", slot.Number, slot.Note))
	}
	tell.Linef("manager", "sees that %s", strings.Join(taken, ", "))
	if err := store.Set(ctx, over, "1", time.Minute).Err(); err != nil {
		return err
	}
	if err := crew.HearAll(tell); err != nil {
		return err
	}
	tell.Textf("The shift is over.")
	return crew.Wait()
}

// inspect looks until every number has a name, and enough nodes have answered in time. Acquire does not
// wait for the note to be written, so it may come a moment after the permit.
func inspect(ctx context.Context, seats *semaphore.Semaphore) (semaphore.State, error) {
	for {
		state, err := seats.Inspect(ctx)
		switch {
		case errors.Is(err, lock.ErrNoQuorum):
		case err != nil || !slices.ContainsFunc(state.Slots, func(s semaphore.Slot) bool { return s.Note == "" }):
			return state, err
		}
		select {
		case <-ctx.Done():
			return state, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}
