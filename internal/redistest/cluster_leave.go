package redistest

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Leave gives all slots that the server at index shard has had from the start to the server at index heir, without the keys, and takes
// it out of the Cluster, as an operator's tool does. It stays up, as a Cluster of its own without slots.
func (c *Cluster) Leave(t testing.TB, shard, heir int) {
	t.Helper()
	leaving := c.Servers[shard]
	id, to := c.id(t, leaving), c.id(t, c.Servers[heir])
	first, next := shard*clusterSlots/clusterNodes, (shard+1)*clusterSlots/clusterNodes
	give := func(ctx context.Context, node *redis.Client) error {
		_, err := node.Pipelined(ctx, func(p redis.Pipeliner) error {
			for slot := first; slot < next; slot++ {
				p.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", to)
			}
			return nil
		})
		return err
	}
	c.do(t, leaving, func(ctx context.Context, node *redis.Client) error { return node.FlushAll(ctx).Err() })
	c.do(t, c.Servers[heir], give) // first: it takes a greater epoch
	for i, s := range c.Servers {
		if i != heir {
			c.do(t, s, give)
		}
	}
	for i, s := range c.Servers {
		if i != shard {
			c.do(t, s, func(ctx context.Context, node *redis.Client) error { return node.ClusterForget(ctx, id).Err() })
		}
	}
	c.do(t, leaving, func(ctx context.Context, node *redis.Client) error { return node.ClusterResetSoft(ctx).Err() })
}
