package redlock_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/redlock"
)

func TestNodesThatAreNoneAreRefusedBeforeAnythingIsSent(t *testing.T) {
	c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer c.Close()
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"shard": "127.0.0.1:1"}})
	defer ring.Close()
	for says, nodes := range map[string][]redis.UniversalClient{
		"no nodes":                              nil,
		"node 2 of 2 is a nil client":           {c, nil},
		"node 1 of 2 is a nil client":           {(*redis.Client)(nil), c},
		"node 1 of 1 is a nil client":           {(*redis.ClusterClient)(nil)},
		"node 2 of 2 is a Ring":                 {c, ring},
		"nodes 1 and 2 are the same client":     {c, c},
		redlock.ErrDuplicateNode.Error() + ": ": {c, c},
	} {
		_, err := redlock.New(nodes, redlock.Config{NodeTimeout: timeout})
		require.ErrorContains(t, err, says)
	}
}

// A client that asks Sentinels for its servers has no address to be told by.
func TestEveryNodeHasANameOfItsOwn(t *testing.T) {
	plain := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:2", "127.0.0.1:3"}})
	sentinels := redis.FailoverOptions{MasterName: "main", SentinelAddrs: []string{"127.0.0.1:4"}}
	failover, failoverCluster := redis.NewFailoverClient(&sentinels), redis.NewFailoverClusterClient(&sentinels)
	again := redis.NewFailoverClusterClient(&sentinels)
	nodes := []redis.UniversalClient{plain, cluster, failover, failoverCluster, again}
	for _, c := range nodes {
		defer c.Close()
	}
	require.Equal(t, []string{
		"127.0.0.1:1", "cluster 127.0.0.1:2,127.0.0.1:3", "FailoverClient (node 3 of 5)",
		"ClusterClient (node 4 of 5)", "ClusterClient (node 5 of 5)",
	}, newGroup(t, nodes...).Addresses())
	require.Equal(t, []string{"ClusterClient"}, newGroup(t, again).Addresses())
}

func TestOneServerUnderTwoAddressesIsRefused(t *testing.T) {
	servers, proxies, clients := proxied(t, 3)
	for _, nodes := range [][]redis.UniversalClient{
		{clients[0], servers[0].Client(t)},
		{clients[0], clients[1], clients[2], servers[1].Client(t), redistest.NewProxy(t, servers[2].Addr()).Client(t)}, // beside a quorum, too
	} {
		err := newGroup(t, nodes...).Handshake(bg)
		require.ErrorIs(t, err, redlock.ErrDuplicateNode)
	}
	err := newGroup(t, clients[0], servers[0].Client(t)).Handshake(bg)
	require.ErrorContains(t, err, proxies[0].Addr())
	require.ErrorContains(t, err, servers[0].Addr())
}

func TestOneServerGivenTwiceIsRefusedEvenIfItHidesItsRunID(t *testing.T) {
	s := redistest.Start(t)
	require.NoError(t, s.Client(t).Do(bg, "ACL", "SETUSER", "app", "on", "nopass", "~*", "&*", "+@all", "-info").Err())
	app := func(o *redis.Options) { o.Username, o.Password = "app", "any" }
	require.NoError(t, newGroup(t, s.Client(t, app)).Handshake(bg))
	require.ErrorIs(t, newGroup(t, s.Client(t, app), s.Client(t, app)).Handshake(bg), redlock.ErrDuplicateNode)
}

func TestServerThatIsFoundToBeADuplicateLaterNeverVotes(t *testing.T) {
	servers, _, clients := proxied(t, 2)
	again := redistest.NewProxy(t, servers[0].Addr())
	again.Refuse(true)
	g := met(t, clients[0], clients[1], again.Client(t))
	again.Refuse(false)
	all := probe()
	all.All = true
	redistest.Eventually(t, within, func() bool {
		a := decide(t, g, all).Answer(2)
		require.NotEqual(t, redlock.Yes, a.Vote)
		return errors.Is(a.Err, redlock.ErrDuplicateNode)
	}, "it is recognised")
	for range 3 {
		require.ErrorIs(t, decide(t, g, all).Answer(2).Err, redlock.ErrDuplicateNode)
	}
	require.Zero(t, again.Commands(scripts), "it was never asked to vote")
}

func TestQuorumStartsWithoutTheNodesThatAreMissing(t *testing.T) {
	servers, proxies, clients := proxied(t, 5)
	servers[1].Kill()          // refuses
	proxies[3].Blackhole(true) // is silent
	var log bytes.Buffer
	g, err := redlock.New(clients, redlock.Config{NodeTimeout: slow, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	t.Cleanup(g.Close)
	require.NoError(t, g.Handshake(bg))
	for i, p := range proxies {
		if i == 1 || i == 3 {
			require.Contains(t, log.String(), p.Addr())
		} else {
			require.NotContains(t, log.String(), p.Addr())
		}
	}
	require.True(t, decide(t, g, probe()).Won())

	servers[1].Start()
	proxies[3].Blackhole(false)
	proxies[3].Reset()
	all := probe()
	all.All = true
	redistest.Eventually(t, within, func() bool {
		b := decide(t, g, all)
		return b.Answer(1).Vote == redlock.Yes && b.Answer(3).Vote == redlock.Yes
	}, "they are met when they are there")
}

func TestMinorityIsNoStart(t *testing.T) {
	servers, proxies, clients := proxied(t, 3)
	servers[0].Kill()
	servers[2].Kill()
	err := newGroup(t, clients...).Handshake(bg)
	require.ErrorIs(t, err, redlock.ErrNoQuorum)
	require.ErrorContains(t, err, "connect: no quorum: 1 of 3 nodes agreed, 2 needed")
	require.ErrorContains(t, err, proxies[0].Addr()+": ")
	require.ErrorContains(t, err, proxies[1].Addr()+": yes")
}

func TestMeetingEndsWithItsContext(t *testing.T) {
	_, proxies, clients := proxied(t, 1)
	proxies[0].Blackhole(true)
	ctx, cancel := context.WithCancel(bg)
	cancel()
	require.ErrorIs(t, newGroup(t, clients...).Handshake(ctx), context.Canceled)
	proxies[0].Blackhole(false)
	proxies[0].Reset() // or the group's end waits for the handshake
}

func TestUserWhoMayNotRunScriptsIsRefused(t *testing.T) {
	s := redistest.Start(t)
	require.NoError(t, s.Client(t).Do(bg, "ACL", "SETUSER", "app", "on", "nopass", "~*", "&*", "+@all", "-@scripting").Err())
	app := s.Client(t, func(o *redis.Options) { o.Username, o.Password = "app", "any" })
	others := redistest.Clients(t, redistest.StartN(t, 2))
	err := newGroup(t, others[0], others[1], app).Handshake(bg)
	require.ErrorContains(t, err, s.Addr()+" refuses this user: NOPERM")
	require.ErrorContains(t, err, "NOPERM")
}
