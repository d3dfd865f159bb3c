package redistest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// Cluster is a Redis Cluster of three masters, without replicas unless [Cluster.StartReplica]
// starts some, and without more masters unless [Cluster.StartMaster] does. Its servers can be
// controlled like any others; after that, [Cluster.Wait] tells when they agree again.
type Cluster struct {
	// Servers own a third of the slots each at the start, in this order.
	Servers []*Server

	joined int // servers after these
}

// StartCluster starts a cluster and returns when every node serves and knows all
// slots. This takes more than two seconds, because a master declines to serve
// for so long after its start; share a cluster between subtests. More arguments of
// redis-server may be given.
//
// Where one of its shards is down the others serve all the same, which is not Redis' default.
func StartCluster(t testing.TB, args ...string) *Cluster {
	t.Helper()
	c := &Cluster{Servers: StartN(t, clusterNodes, clusterArgs(args)...)}
	for i, s := range c.Servers {
		if err := inspect(s.Addr(), func(ctx context.Context, node *redis.Client) error { return c.join(ctx, node, i) }); err != nil {
			t.Fatalf("redistest: cluster node %s: %v", s.Addr(), err)
		}
	}
	c.Wait(t)
	return c
}

func clusterArgs(more []string) []string {
	return append([]string{
		"--cluster-enabled", "yes",
		"--cluster-require-full-coverage", "no",
		"--cluster-node-timeout", strconv.FormatInt(clusterNodeTimeout.Milliseconds(), 10),
		"--repl-diskless-sync-delay", "0", // or a replica waits for five seconds for others
	}, more...)
}

// Name returns the n-th of the names, which begin with prefix, whose hash slot is on the
// server at index shard at the start. n begins with 0.
func (c *Cluster) Name(t testing.TB, shard, n int, prefix string) string {
	t.Helper()
	for i := 0; ; i++ {
		name := fmt.Sprint(prefix, i)
		if c.Shard(t, name) != shard {
			continue
		}
		if n--; n < 0 {
			return name
		}
	}
}

// Shard is which of the servers has name at the start.
func (c *Cluster) Shard(t testing.TB, name string) int {
	t.Helper()
	return c.Slot(t, name) * clusterNodes / clusterSlots
}

// Slot is the hash slot of name, as Redis reckons it.
func (c *Cluster) Slot(t testing.TB, name string) int {
	t.Helper()
	var slot int64
	if err := inspect(c.up(t).Addr(), func(ctx context.Context, node *redis.Client) (err error) {
		slot, err = node.ClusterKeySlot(ctx, name).Result()
		return err
	}); err != nil {
		t.Fatalf("redistest: slot of %q: %v", name, err)
	}
	return int(slot)
}

// up is a server that runs.
func (c *Cluster) up(t testing.TB) *Server {
	t.Helper()
	for _, s := range c.Servers {
		if s.Running() {
			return s
		}
	}
	t.Fatal("redistest: every server of the cluster is down or paused")
	return nil
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

// StartMaster starts a master without slots, and returns when every node knows it, so that slots can be moved to
// it.
func (c *Cluster) StartMaster(t testing.TB) *Server {
	t.Helper()
	master := StartN(t, 1, clusterArgs(nil)...)[0]
	c.meet(t, master)
	c.wait(t, master)
	id := c.id(t, master)
	for _, s := range c.Servers {
		Eventually(t, clusterWithin, func() (known bool) {
			c.do(t, s, func(ctx context.Context, node *redis.Client) error {
				nodes, err := node.ClusterNodes(ctx).Result()
				known = strings.Contains(nodes, id)
				return err
			})
			return known
		}, "%s knows %s", s.Addr(), master.Addr())
	}
	return master
}

// meet introduces a further server to the others.
func (c *Cluster) meet(t testing.TB, joins *Server) {
	t.Helper()
	c.joined++
	for _, s := range c.Servers {
		c.do(t, joins, func(ctx context.Context, node *redis.Client) error {
			return node.ClusterMeet(ctx, host, strconv.Itoa(s.Port())).Err()
		})
	}
	c.Wait(t)
}

// Wait waits until every node finds the cluster in order and knows all slots.
func (c *Cluster) Wait(t testing.TB) {
	t.Helper()
	for _, s := range c.Servers {
		c.wait(t, s)
	}
}

// wait is Wait for one node.
func (c *Cluster) wait(t testing.TB, s *Server) {
	t.Helper()
	var last string
	Eventually(t, clusterWithin, func() bool {
		err := inspect(s.Addr(), func(ctx context.Context, node *redis.Client) (err error) {
			last, err = node.ClusterInfo(ctx).Result()
			return err
		})
		return err == nil &&
			infoField(last, "cluster_state") == "ok" &&
			infoField(last, "cluster_slots_ok") == strconv.Itoa(clusterSlots) &&
			infoField(last, "cluster_known_nodes") == strconv.Itoa(clusterNodes+c.joined)
	}, "cluster node %s is in order", s.Addr())
}

// do has f ask a server, which must answer.
func (c *Cluster) do(t testing.TB, s *Server, f func(context.Context, *redis.Client) error) {
	t.Helper()
	if err := inspect(s.Addr(), f); err != nil {
		t.Fatalf("redistest: cluster node %s: %v", s.Addr(), err)
	}
}

// id is what the Cluster knows a server by.
func (c *Cluster) id(t testing.TB, s *Server) (id string) {
	t.Helper()
	c.do(t, s, func(ctx context.Context, node *redis.Client) (err error) {
		id, err = node.ClusterMyID(ctx).Result()
		return err
	})
	return id
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

// Move moves a hash slot from one server to another, in the steps that an operator's tool
// takes, and calls between after each: with the slot marked as moving, with each of its keys
// moved, and once all servers know. A nil between is not called.
func (c *Cluster) Move(t testing.TB, slot int, from, to *Server, between func(step string)) {
	t.Helper()
	if between == nil {
		between = func(string) {}
	}
	source, target := c.id(t, from), c.id(t, to)
	set := func(s *Server, args ...any) {
		t.Helper()
		c.do(t, s, func(ctx context.Context, node *redis.Client) error {
			return node.Do(ctx, append([]any{"CLUSTER", "SETSLOT", slot}, args...)...).Err()
		})
	}
	set(to, "IMPORTING", source)
	set(from, "MIGRATING", target)
	between("moving")
	for {
		var keys []string
		c.do(t, from, func(ctx context.Context, node *redis.Client) (err error) {
			keys, err = node.ClusterGetKeysInSlot(ctx, slot, 1).Result()
			return err
		})
		if len(keys) == 0 {
			break
		}
		c.do(t, from, func(ctx context.Context, node *redis.Client) error {
			return node.Migrate(ctx, host, strconv.Itoa(to.Port()), keys[0], 0, 5*time.Second).Err()
		})
		between("moved " + keys[0])
	}
	for _, s := range append([]*Server{to, from}, c.Servers...) {
		set(s, "NODE", target)
	}
	between("done")
}
