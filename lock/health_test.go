package lock_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// A node that answers but refuses what a lock needs does not vote: whoever asks whether locks can be taken is not to be
// told so.
func TestNodesThatRefuseToGrantDoNotVote(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, s *redistest.Server){
		"full": func(t *testing.T, s *redistest.Server) {
			require.NoError(t, s.Client(t).ConfigSet(context.Background(), "maxmemory", "1").Err())
		},
		"a replica by now": func(t *testing.T, s *redistest.Server) {
			require.NoError(t, s.Client(t).ReplicaOf(context.Background(), "127.0.0.1", "1").Err())
		},
		"too few replicas": func(t *testing.T, s *redistest.Server) {
			require.NoError(t, s.Client(t).ConfigSet(context.Background(), "min-replicas-to-write", "1").Err())
		},
		"who may only read": func(t *testing.T, s *redistest.Server) {
			require.NoError(t, s.Client(t).Do(context.Background(), "ACL", "SETUSER", "default", "-@write").Err())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := redistest.StartN(t, 3)
			var nodes []redis.UniversalClient
			for _, s := range servers {
				nodes = append(nodes, s.Client(t))
			}
			locks, err := lock.NewClient(nodes, unhurried)
			require.NoError(t, err)
			t.Cleanup(func() { _ = locks.Close() })
			require.Equal(t, 1, lock.Spare(locks.Health(context.Background())))
			for i, s := range servers[:2] {
				spoil(t, s)
				health := locks.Health(context.Background())
				require.Equal(t, -i, lock.Spare(health))
				require.True(t, health[i].Up)
				require.False(t, health[i].Votes)
				require.Error(t, health[i].Err)
				require.True(t, health[2].Votes)
				require.NoError(t, health[2].Err)
			}
			require.Empty(t, servers[2].Keys(t), "nothing is written to find out")
			_, err = reentrant.New(locks, "orders").TryLock(context.Background())
			require.ErrorIs(t, err, lock.ErrNoQuorum)
		})
	}
}

// While a quorum is left, nobody else would tell that a node has no vote.
func TestANodeThatRefusesToGrantIsLoggedOnce(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	var nodes []redis.UniversalClient
	for _, s := range servers {
		nodes = append(nodes, s.Client(t))
	}
	var log logbook
	locks, err := lock.NewClient(nodes, unhurried, log.option())
	require.NoError(t, err)
	t.Cleanup(func() { _ = locks.Close() })
	pair := func() {
		l, err := reentrant.New(locks, "orders").Lock(context.Background())
		require.NoError(t, err)
		require.NoError(t, l.Unlock(context.Background()))
	}
	_, err = reentrant.New(locks, "held").Lock(context.Background())
	require.NoError(t, err)
	full := servers[1].Client(t)
	require.NoError(t, full.ConfigSet(context.Background(), "maxmemory", "1").Err())
	refuses := func() int { return len(log.lines("a node refuses commands", "level=WARN", servers[1].Addr(), "OOM")) }
	redistest.Eventually(t, time.Minute, func() bool { pair(); return refuses() > 0 }, "it is logged")
	for range 10 {
		pair()
		_, err = reentrant.New(locks, "held").TryLock(context.Background())
		require.ErrorIs(t, err, lock.ErrLocked) // for which a node need not write
	}
	require.Equal(t, 1, refuses())
	require.Empty(t, log.lines("accepts"))
	require.NoError(t, full.ConfigSet(context.Background(), "maxmemory", "0").Err())
	redistest.Eventually(t, time.Minute, func() bool {
		pair()
		return len(log.lines("a node accepts commands again", "level=INFO", servers[1].Addr())) == 1
	}, "so is that it is over")
	require.Equal(t, 1, refuses())
}

// Each master of a Cluster has names of its own.
func TestHealthOfAClusterIsThatOfAllItsMasters(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	other := redistest.Start(t)
	locks, err := lock.NewClient([]redis.UniversalClient{c.Client(t), other.Client(t)}, unhurried)
	require.NoError(t, err)
	t.Cleanup(func() { _ = locks.Close() })
	health := locks.Health(context.Background())
	require.Equal(t, lock.NodeHealth{Address: health[0].Address, Up: true, Votes: true}, health[0])
	require.Equal(t, lock.NodeHealth{Address: other.Addr(), Up: true, Votes: true}, health[1])

	for _, s := range c.Servers {
		require.NoError(t, s.Client(t).ConfigSet(context.Background(), "maxmemory", "1").Err())
		health := locks.Health(context.Background())
		require.True(t, health[0].Up)
		require.False(t, health[0].Votes)
		require.ErrorContains(t, health[0].Err, "1 of 3 masters would grant no lock: ")
		require.ErrorContains(t, health[0].Err, "OOM")
		require.True(t, health[1].Votes, "which is another node")
		require.NoError(t, s.Client(t).ConfigSet(context.Background(), "maxmemory", "0").Err())
	}
	for i, s := range c.Servers {
		s.Kill()
		redistest.Eventually(t, time.Minute, func() bool {
			h := locks.Health(context.Background())[0]
			return h.Up == (i < 2) && !h.Votes && strings.Contains(h.Err.Error(), fmt.Sprint(i+1, " of 3 masters"))
		}, "%d masters are down", i+1)
	}
}
