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
	maxAsked = 16                     // how many there are at most
)

// Masters asks a Cluster for its masters, until ctx ends. Its client asks one server after the other, in random order. If the
// first one is a machine that is gone, it dials that for as long as ctx allows, and asks no other. So as long as there is no
// answer, it is asked again and again, each time in an order of its own, and the first answer counts.
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
	late := time.NewTicker(askAgain)
	defer late.Stop()
	for asked := 0; ; {
		if asked < maxAsked {
			asked++
			go ask()
		}
		select {
		case a := <-answers:
			return a.masters, a.err
		case <-late.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
