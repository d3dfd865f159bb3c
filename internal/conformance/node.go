package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// A node is one vote: a server, or what a Sentinel or a Cluster makes of several. The
// rules look at its keys and change them as an operator would, by a client of their own.
type node struct {
	connect func() redis.UniversalClient // another client, closed with the deployment
	shared  redis.UniversalClient        // of every lock client
	admin   redis.UniversalClient
}

func newNode(connect func() redis.UniversalClient) *node {
	return &node{connect: connect, shared: connect(), admin: connect()}
}

// each calls f with every server that has keys of its own.
func (n *node) each(t testing.TB, f func(redis.UniversalClient) error) {
	t.Helper()
	cluster, ok := n.admin.(*redis.ClusterClient)
	if !ok {
		require.NoError(t, f(n.admin))
		return
	}
	var mu sync.Mutex // the masters are asked at once
	require.NoError(t, cluster.ForEachMaster(bg, func(_ context.Context, master *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		return f(master)
	}))
}

// keys are those with part in their name.
func (n *node) keys(t testing.TB, part string) []string {
	t.Helper()
	var keys []string
	n.each(t, func(server redis.UniversalClient) error {
		it := server.Scan(bg, 0, "*"+part+"*", 1000).Iterator()
		for it.Next(bg) {
			keys = append(keys, it.Val())
		}
		return it.Err()
	})
	return keys
}

// listeners is how many connections are subscribed to channel.
func (n *node) listeners(t testing.TB, channel string) (listeners int64) {
	t.Helper()
	n.each(t, func(server redis.UniversalClient) error {
		there, err := server.PubSubNumSub(bg, channel).Result()
		listeners += there[channel]
		return err
	})
	return listeners
}

// ttl is what the key has left; negative: it has no TTL, or is not there.
func (n *node) ttl(t testing.TB, key string) time.Duration {
	t.Helper()
	ttl, err := n.admin.PTTL(bg, key).Result()
	require.NoError(t, err)
	return ttl
}

// remove deletes keys.
func (n *node) remove(keys ...string) error {
	var errs []error
	for _, key := range keys {
		errs = append(errs, n.admin.Del(bg, key).Err())
	}
	return errors.Join(errs...)
}

// give has somebody hold the lock whom no client here knows. With no TTL it stays.
func (n *node) give(t testing.TB, key, holder string, ttl time.Duration) {
	t.Helper()
	require.NoError(t, n.admin.HSet(bg, key, holder, 1).Err())
	if ttl > 0 {
		require.NoError(t, n.admin.PExpire(bg, key, ttl).Err())
	}
}

// dirt tells of a key with part in its name that stops somebody or stays. Fencing
// counters live on for their retention, and marks that void a hold id for ten seconds.
func (n *node) dirt(t testing.TB, part string) string {
	t.Helper()
	for _, key := range n.keys(t, part) {
		ttl := n.ttl(t, key)
		gone := ttl == -2
		counter := strings.HasSuffix(key, ":token") && ttl > 0 && ttl <= 24*time.Hour
		mark := strings.HasSuffix(key, ":void") && ttl > 0 && ttl <= 10*time.Second
		if !gone && !counter && !mark {
			return fmt.Sprintf("%s with a TTL of %v", key, ttl)
		}
	}
	return ""
}
