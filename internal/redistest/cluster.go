package redistest

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	clusterNodes  = 3
	clusterSlots  = 16384
	clusterWithin = 30 * time.Second

	// How long a node must be unreachable before its slots count as down. Short for the
	// sake of tests that kill one, but not so short that a busy machine fails a node.
	clusterNodeTimeout = 3 * time.Second
)

// Cluster is a Redis Cluster of three masters without replicas. Its servers can be
// controlled like any others; after that, [Cluster.Wait] tells when they agree
// again.
type Cluster struct {
	// Servers own a third of the slots each, in this order.
	Servers []*Server
}

// StartCluster starts a cluster and returns when every node serves and knows all
// slots. This takes more than two seconds, because a master declines to serve
// for so long after its start; share a cluster between subtests.
func StartCluster(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{Servers: StartN(t, clusterNodes,
		"--cluster-enabled", "yes",
		"--cluster-node-timeout", strconv.FormatInt(clusterNodeTimeout.Milliseconds(), 10))}
	for i, s := range c.Servers {
		if err := inspect(s.Addr(), func(ctx context.Context, node *redis.Client) error { return c.join(ctx, node, i) }); err != nil {
			t.Fatalf("redistest: cluster node %s: %v", s.Addr(), err)
		}
	}
	c.Wait(t)
	return c
}

// join gives node i its slots and introduces it to those before it. Explicit epochs
// save the nodes from settling who of them has which, and introducing each to
// each saves them from gossip.
func (c *Cluster) join(ctx context.Context, node *redis.Client, i int) error {
	if err := node.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
		return err
	}
	first, next := i*clusterSlots/clusterNodes, (i+1)*clusterSlots/clusterNodes
	if err := node.ClusterAddSlotsRange(ctx, first, next-1).Err(); err != nil {
		return err
	}
	for _, s := range c.Servers[:i] {
		if err := node.ClusterMeet(ctx, host, strconv.Itoa(s.Port())).Err(); err != nil {
			return err
		}
	}
	return nil
}

// Wait waits until every node finds the cluster in order and knows all slots.
func (c *Cluster) Wait(t testing.TB) {
	t.Helper()
	for _, s := range c.Servers {
		var last string
		Eventually(t, clusterWithin, func() bool {
			err := inspect(s.Addr(), func(ctx context.Context, node *redis.Client) (err error) {
				last, err = node.ClusterInfo(ctx).Result()
				return err
			})
			return err == nil &&
				infoField(last, "cluster_state") == "ok" &&
				infoField(last, "cluster_slots_ok") == strconv.Itoa(clusterSlots) &&
				infoField(last, "cluster_known_nodes") == strconv.Itoa(clusterNodes)
		}, "cluster node %s is in order", s.Addr())
	}
}

// Client returns a cluster client with go-redis's own defaults, except for what change
// does to them. It is closed when t ends.
func (c *Cluster) Client(t testing.TB, change ...func(*redis.ClusterOptions)) *redis.ClusterClient {
	t.Helper()
	opts := &redis.ClusterOptions{Addrs: Addrs(c.Servers)}
	for _, f := range change {
		f(opts)
	}
	client := redis.NewClusterClient(opts)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// Keys returns the keys of all nodes, sorted.
func (c *Cluster) Keys(t testing.TB) []string {
	t.Helper()
	var keys []string
	for _, s := range c.Servers {
		keys = append(keys, s.Keys(t)...)
	}
	slices.Sort(keys)
	return keys
}
