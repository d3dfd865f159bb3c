package redistest

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
)

// StartReplica starts a replica of the server at index shard, and returns when it is in step and
// every node knows it, so that it can take over.
func (c *Cluster) StartReplica(t testing.TB, shard int) *Server {
	t.Helper()
	replica, master := StartN(t, 1, clusterArgs(nil)...)[0], c.Servers[shard]
	c.meet(t, replica)
	id := c.id(t, master)
	Eventually(t, clusterWithin, func() bool { // until it knows that this is a master
		return inspect(replica.Addr(), func(ctx context.Context, node *redis.Client) error {
			return node.ClusterReplicate(ctx, id).Err()
		}) == nil
	}, "%s becomes a replica", replica.Addr())
	Eventually(t, clusterWithin, func() bool {
		for _, s := range c.Servers {
			if !c.lists(t, s, master, replica) {
				return false
			}
		}
		return replica.Info(t, "replication", "master_link_status") == "up"
	}, "%s is in step with its master", replica.Addr())
	return replica
}

// lists tells whether s knows that replica is one of master's.
func (c *Cluster) lists(t testing.TB, s, master, replica *Server) (known bool) {
	t.Helper()
	c.do(t, s, func(ctx context.Context, node *redis.Client) error {
		slots, err := node.ClusterSlots(ctx).Result() //nolint:staticcheck // CLUSTER SHARDS came with Redis 7
		for _, r := range slots {
			if len(r.Nodes) == 2 && r.Nodes[0].Addr == master.Addr() && r.Nodes[1].Addr == replica.Addr() {
				known = true
			}
		}
		return err
	})
	return known
}

// Failover has a replica take over from its master, which hands over all that it has, and
// returns when it has.
func (c *Cluster) Failover(t testing.TB, replica *Server) {
	t.Helper()
	c.do(t, replica, func(ctx context.Context, node *redis.Client) error { return node.ClusterFailover(ctx).Err() })
	c.WaitForMaster(t, replica)
}

// WaitForMaster waits until a replica has taken over.
func (c *Cluster) WaitForMaster(t testing.TB, replica *Server) {
	t.Helper()
	Eventually(t, clusterWithin, func() bool { return replica.Info(t, "replication", "role") == "master" },
		"%s takes over from its master", replica.Addr())
}
