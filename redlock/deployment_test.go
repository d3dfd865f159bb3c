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
