// Package cluster helps package redlock and the command holdfast to find the servers of a Redis Cluster.
package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// A Client is one of a Cluster, as a redis.ClusterClient is.
type Client interface {
	ForEachMaster(ctx context.Context, do func(context.Context, *redis.Client) error) error
}

const (
	askAgain = 200 * time.Millisecond // how long a question for the masters may take before there is another one
	maxAsked = 10                     // how many there are at most
)

// Masters asks a Cluster for its masters, until ctx ends. Its client asks one server after the other, in random order. If the
// first one is a machine that is gone, it dials that for as long as ctx allows, and asks no other. So as long as there is no
// answer, it is asked again, each time in an order of its own, and the first answer counts. An error counts if nothing else
// may come: the client may have no more connections for another question. A user's own function that tells the masters is
// called once.
//
// A question that is not answered yet goes on without its caller: a client that is reading does not heed the context.
func Masters(ctx context.Context, client Client) ([]*redis.Client, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		masters []*redis.Client
		err     error
	}
	answers := make(chan answer)
	ask := func() {
		var a answer
		var mu sync.Mutex
		a.err = client.ForEachMaster(ctx, func(_ context.Context, master *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			a.masters = append(a.masters, master)
			return nil
		})
		select {
		case answers <- a:
		case <-ctx.Done():
		}
	}
	most := maxAsked
	if c, is := client.(*redis.ClusterClient); is && c.Options().ClusterSlots != nil {
		most = 1
	}
	late := time.NewTicker(askAgain)
	defer late.Stop()
	asked, failed := 0, 0
	var first error
	for due := true; ; {
		if due && asked < most {
			asked++
			go ask()
		}
		due = false
		select {
		case a := <-answers:
			if a.err == nil {
				return a.masters, nil
			}
			if failed++; first == nil {
				first = a.err
			}
			if failed == asked {
				return nil, first
			}
		case <-late.C:
			due = true
		case <-ctx.Done():
			if first == nil {
				first = ctx.Err()
			}
			return nil, first
		}
	}
}
