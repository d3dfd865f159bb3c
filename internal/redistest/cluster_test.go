package redistest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClusterServesAllSlots(t *testing.T) {
	t.Parallel()
	c := StartCluster(t)
	client := c.Client(t)
	var keys []string
	for i := range 50 {
		key := fmt.Sprint("k", i)
		keys = append(keys, key)
		require.NoError(t, client.Set(bg, key, 1, 0).Err())
	}
	slices.Sort(keys)
	require.Equal(t, keys, c.Keys(t))
	for _, s := range c.Servers {
		require.NotEmpty(t, s.Keys(t), "each owns a part")
		shards, err := s.Client(t).ClusterShards(bg).Result()
		require.NoError(t, err)
		require.Len(t, shards, 3)
	}

	c.Servers[1].Restart()
	c.Wait(t)
	require.Empty(t, c.Servers[1].Keys(t))
	for _, key := range keys {
		require.NoError(t, client.Set(bg, key, 1, 0).Err())
	}
	require.Equal(t, keys, c.Keys(t))
}

func TestAReplicaTakesOver(t *testing.T) {
	t.Parallel()
	c := StartCluster(t)
	client := c.Client(t)
	replica := c.StartReplica(t, 1)
	key := c.Name(t, 1, 0, "k")
	require.NoError(t, client.Set(bg, key, 1, 0).Err())
	c.Failover(t, replica)
	require.Equal(t, "1", replica.Client(t).Get(bg, key).Val())
	Eventually(t, clusterWithin, func() bool { return c.Servers[1].Info(t, "replication", "role") == "slave" }, "they have changed places")
	c.Wait(t)

	Eventually(t, clusterWithin, func() bool {
		return c.Servers[1].Info(t, "replication", "master_link_status") == "up"
	}, "it is in step")
	replica.Kill()
	c.WaitForMaster(t, c.Servers[1])
	require.Equal(t, "1", c.Servers[1].Client(t).Get(bg, key).Val())
}

func TestASlotMovesToANewMaster(t *testing.T) {
	t.Parallel()
	c := StartCluster(t)
	fresh := c.StartMaster(t)
	key := c.Name(t, 0, 0, "k")
	require.NoError(t, c.Client(t).Set(bg, key, 1, 0).Err())
	c.Move(t, c.Slot(t, key), c.Servers[0], fresh, nil)
	require.Equal(t, []string{key}, fresh.Keys(t))
	require.Equal(t, "1", c.Client(t).Get(bg, key).Val())
}
