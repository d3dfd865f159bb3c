// Limit shows a semaphore: eight processes call a service that serves five calls at once and turns
// others away. Each process takes a permit first, so no call is turned away. One process is killed
// during its call, and its permit is free again after its TTL.
//
//	go run ./examples/limit
//	go run ./examples/limit -redis host1:6379,host2:6379,host3:6379
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/examples/internal/fleet"
	"github.com/holdfast-go/holdfast/examples/internal/nodes"
	"github.com/holdfast-go/holdfast/examples/internal/story"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/semaphore"
)

func main() {
	if !fleet.Join(call) {
		nodes.Main(3, watch)
	}
}

const (
	permitsName = "billing-api"
	limit       = 5
	calls       = 3 // of each caller
	ttl         = time.Second
)

var callers = []string{"ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal"}

// unlucky is the caller that is killed during its first call.
const unlucky = "cid"

// watch runs the service, and the processes that call it.
func watch(ctx context.Context, redis *nodes.Set, tell *story.Teller) error {
	locks, err := lock.NewClient(redis.Clients())
	if err != nil {
		return err
	}
	defer locks.Close()
	permits := semaphore.New(locks, permitsName, limit)
	service, err := open(ctx, redis.Clients()[0])
	if err != nil {
		return err
	}
	defer service.close()
	tell.Linef("service", "serves %d at once, and turns others away", limit)

	crowd, err := fleet.New(ctx, redis.Clients())
	if err != nil {
		return err
	}
	defer crowd.Close()
	for _, name := range callers {
		if err := crowd.Start(name); err != nil {
			return err
		}
	}
	for killed := false; !killed; {
		name, what, err := crowd.Hear(tell)
		if err != nil {
			return err
		}
		if killed = name == unlucky && what != "arrives"; killed {
			if err := crowd.Kill(name); err != nil {
				return err
			}
			tell.Linef(name, "is killed during its call")
		}
	}
	state, err := inspect(ctx, permits)
	if err != nil {
		return err
	}
	tell.Linef("permits", "%d of %d are in use, the killed one's for up to %v more", state.InUse, state.Permits, ttl)
	if err := crowd.HearAll(tell); err != nil {
		return err
	}
	served, most, refused := service.count()
	tell.Linef("service", "has served %d calls, at most %d at once, and turned %d away", served, most, refused)
	if err := crowd.Wait(); err != nil {
		return err
	}
	// The slot of the killed one is free, too, now or soon.
	all, err := permits.Acquire(ctx, limit)
	if err != nil {
		return err
	}
	tell.Textf("All permits are free again: %s", fmt.Sprint(all.Slots()))
	return all.Release(ctx)
}

// inspect looks until enough nodes have answered in time.
func inspect(ctx context.Context, permits *semaphore.Semaphore) (semaphore.State, error) {
	for {
		state, err := permits.Inspect(ctx)
		if !errors.Is(err, lock.ErrNoQuorum) {
			return state, err
		}
		select {
		case <-ctx.Done():
			return state, err
		case <-time.After(10 * time.Millisecond):
		}
	}
}
