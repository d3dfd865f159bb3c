package redlock_test

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/redlock"
)

func TestClusterIsOneNode(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	servers := redistest.StartN(t, 2)
	for _, beside := range [][]redis.UniversalClient{nil, redistest.Clients(t, servers)} {
		g := met(t, append(beside, cluster.Client(t))...)
		require.Equal(t, len(beside)+1, g.Size())
		require.True(t, g.Clustered())
		var ballots []*redlock.Ballot
		var holds []*hold
		for i := range 50 { // all over the slots, in shared pipelines
			h := newHold(t, g, fmt.Sprint("name ", i))
			m := h.acquire()
			m.All = true
			holds, ballots = append(holds, h), append(ballots, g.Vote(m))
		}
		for _, b := range ballots {
			require.NoError(t, b.Wait(bg))
			require.NoError(t, b.Answer(len(beside)).Err)
			require.Equal(t, redlock.Yes, b.Answer(len(beside)).Vote)
		}
		for _, h := range holds {
			m := h.release()
			m.All = true
			require.True(t, decide(t, g, m).Won())
		}
		for _, s := range append(cluster.Servers, servers...) {
			require.Empty(t, keysButMarks(t, s))
		}
		g.Close()
	}
	// One of its masters is no further node.
	master := cluster.Servers[1].Client(t)
	require.ErrorIs(t, newGroup(t, cluster.Client(t), master).Handshake(bg), redlock.ErrDuplicateNode)
	require.ErrorIs(t, newGroup(t, master, cluster.Client(t)).Handshake(bg), redlock.ErrDuplicateNode)
}

// A plain client does not follow redirections: without a ClusterClient, locks of most names would wait forever.
func TestOneMasterOfAClusterIsRefused(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	others := redistest.Clients(t, redistest.StartN(t, 2))
	for _, nodes := range [][]redis.UniversalClient{
		{cluster.Servers[1].Client(t)},
		{others[0], cluster.Servers[1].Client(t), others[1]}, // beside a quorum, too
		{cluster.StartMaster(t).Client(t)},                   // it has no names at all
	} {
		err := sampling(t, patience, nodes...).Handshake(bg)
		require.ErrorIs(t, err, redlock.ErrUnfit)
		require.ErrorContains(t, err, "is one server of a Cluster and does not have all names (MOVED ")
		require.ErrorContains(t, err, "give a ClusterClient")
		if len(nodes) > 1 {
			require.ErrorContains(t, err, cluster.Servers[1].Addr())
		}
	}
	require.NoError(t, sampling(t, patience, append(others, cluster.Client(t))...).Handshake(bg))
}

// It needs nobody who follows redirections.
func TestTheOnlyMasterOfAClusterIsOneNode(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--cluster-enabled", "yes")
	c := s.Client(t)
	g := sampling(t, patience, c)
	require.NoError(t, g.Handshake(bg), "it may be about to get its slots")
	require.NoError(t, c.ClusterAddSlotsRange(bg, 0, 16383).Err())
	h := newHold(t, g, "orders")
	redistest.Eventually(t, within, func() bool { return decide(t, g, h.acquire()).Won() }, "it serves them")
	require.NoError(t, sampling(t, patience, c).Handshake(bg))
	require.True(t, decide(t, g, h.release()).Won())
}

// Nor does whoever is behind a proxy that does so, though it passes on what a server of the Cluster tells.
func TestAProxyOfAClusterIsOneNode(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t).Client(t)
	front := spread(t, func([]string) redis.UniversalClient { return cluster })
	c := redis.NewClient(&redis.Options{Addr: front, Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() { _ = c.Close() })
	require.Contains(t, c.Info(bg, "server").Val(), "redis_mode:cluster")
	g := sampling(t, patience, c)
	require.NoError(t, g.Handshake(bg))
	holds, acquires := crowd(t, g, 10, "name ")
	requireWon(t, together(t, g, acquires...))
	requireWon(t, together(t, g, releases(holds)...))
}

func TestSentinelMasterIsOneNode(t *testing.T) {
	t.Parallel()
	sentinel := redistest.StartSentinel(t)
	g := met(t, sentinel.Client(t))
	h := newHold(t, g, "orders")
	require.True(t, decide(t, g, h.acquire()).Won())
	require.True(t, h.on(t, sentinel.Master))
	sentinel.Failover(t)
	redistest.Eventually(t, within, func() bool { // the old master takes a moment to step down
		next := newHold(t, g, "next")
		defer func() { decide(t, g, next.release()) }()
		return decide(t, g, next.acquire()).Won() && next.on(t, sentinel.Replica)
	}, "the new master grants")
	decide(t, g, h.release())
}
