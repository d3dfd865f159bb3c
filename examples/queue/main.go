// Queue shows a fair lock: customers come to a counter one after the other, each in a process of
// its own, and are served in the order in which they came. One is killed while it waits, and the
// next one is served.
//
//	go run ./examples/queue
//	go run ./examples/queue -redis host1:6379,host2:6379,host3:6379
package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/examples/internal/fleet"
	"github.com/holdfast-go/holdfast/examples/internal/nodes"
	"github.com/holdfast-go/holdfast/examples/internal/story"
	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
)

func main() {
	if !fleet.Join(queueUp) {
		nodes.Main(3, serve)
	}
}

const (
	counter = "counter"
	visits  = 2 // of each customer
	service = 200 * time.Millisecond
)

var customers = []string{"ann", "bob", "cid", "dan"}

// unlucky is the customer that is killed while it waits.
const unlucky = "cid"

func serve(ctx context.Context, redis *nodes.Set, tell *story.Teller) error {
	locks, err := lock.NewClient(redis.Clients())
	if err != nil {
		return err
	}
	defer locks.Close()
	desk := fair.New(locks, counter)
	closed, err := desk.Lock(ctx)
	if err != nil {
		return err
	}
	defer closed.Unlock(ctx)
	tell.Linef("clerk", "locked %q: it opens when all have come", closed.Name())

	crowd, err := fleet.New(ctx, redis.Clients())
	if err != nil {
		return err
	}
	defer crowd.Close()
	names := make(map[string]string) // of clients
	for i, name := range customers {
		if err := crowd.Start(name); err != nil {
			return err
		}
		if _, _, err := crowd.Hear(tell); err != nil {
			return err
		}
		queue, err := waitForQueue(ctx, desk, i+1)
		if err != nil {
			return err
		}
		names[client(queue[i])] = name
		tell.Linef("queue", "%s", inWords(queue, names))
	}

	if err := crowd.Kill(unlucky); err != nil {
		return err
	}
	tell.Linef(unlucky, "is killed, without warning")
	tell.Linef("clerk", "unlocks it")
	if err := closed.Unlock(ctx); err != nil {
		return err
	}
	if err := crowd.HearAll(tell); err != nil {
		return err
	}
	tell.Textf("Nobody waits any more.")
	return crowd.Wait()
}

// waitForQueue returns the queue once so many wait. A waiter does not know its place, but anybody
// can look.
func waitForQueue(ctx context.Context, desk *fair.Mutex, n int) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		state, err := desk.Inspect(ctx)
		switch {
		case errors.Is(err, lock.ErrNoQuorum): // too few nodes answered in time: look again
		case err != nil:
			return nil, err
		case len(state.Queue) > n:
			return nil, errors.New("other programs wait for this lock, too")
		case len(state.Queue) == n:
			return state.Queue, nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return nil, fmt.Errorf("%d wait, and there should be %d: %w", len(state.Queue), n, errors.Join(ctx.Err(), err))
		}
	}
}

// client is the part of a hold id that all holds of one client share.
func client(hold string) string {
	id, _, _ := strings.Cut(hold, ":")
	return id
}

func inWords(queue []string, names map[string]string) string {
	words := make([]string, len(queue))
	for i, hold := range queue {
		words[i] = names[client(hold)]
	}
	return strings.Join(words, ", ")
}
