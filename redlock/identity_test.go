package redlock_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/redlock"
)

// An address can come to be another node's server's: one that is taken over, or a name that
// is resolved anew. That server must not vote twice.
func TestAnAddressThatMovesToAnotherNodesServerHasNoVote(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	var moving atomic.Pointer[string]
	point := func(s *redistest.Server) {
		addr := s.Addr()
		moving.Store(&addr)
	}
	cut := func() { // what the address had led to
		c := servers[2].Client(t)
		require.NoError(t, c.Do(bg, "CLIENT", "KILL", "TYPE", "normal").Err())
		require.NoError(t, c.Close())
	}
	point(servers[2])
	client := redis.NewClient(&redis.Options{
		Addr: "moves:6379",
		Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, *moving.Load())
		},
	})
	t.Cleanup(func() { _ = client.Close() })
	g := met(t, servers[0].Client(t), servers[1].Client(t), client)
	all := probe()
	all.All = true
	require.Equal(t, redlock.Yes, decide(t, g, all).Answer(2).Vote)

	point(servers[0])
	cut()
	for range 50 {
		b := decide(t, g, all)
		require.NotEqual(t, redlock.Yes, b.Answer(2).Vote)
		require.True(t, b.Won())
	}
	require.ErrorIs(t, decide(t, g, all).Answer(2).Err, redlock.ErrDuplicateNode)

	point(servers[2])
	redistest.Eventually(t, within, func() bool { return decide(t, g, all).Answer(2).Vote == redlock.Yes }, "it has its vote again")
}

// A server that was started again may have forgotten what it had, and nothing need have failed
// meanwhile: a connection that was closed is made anew.
func TestANewServerAtANodesAddressIsTold(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	var back atomic.Int64
	g, err := redlock.New(redistest.Clients(t, servers), redlock.Config{
		NodeTimeout: patience, DriftFactor: 0.01, DriftFixed: 2 * time.Millisecond,
		Back: func() { back.Add(1) },
	})
	require.NoError(t, err)
	t.Cleanup(g.Close)
	require.NoError(t, g.Handshake(bg))
	all := probe()
	all.All = true
	decide(t, g, all)
	require.Zero(t, back.Load())
	servers[1].Restart()
	redistest.Eventually(t, within, func() bool { return decide(t, g, all).Answer(1).Vote == redlock.Yes }, "it votes again")
	require.Positive(t, back.Load())
}

func TestReplicaIsRefusedWithItsRole(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t)
	others := redistest.Clients(t, redistest.StartN(t, 2))
	err := newGroup(t, others[0], others[1], s.Replica.Client(t)).Handshake(bg) // even beside a quorum
	require.ErrorIs(t, err, redlock.ErrUnfit)
	require.ErrorContains(t, err, s.Replica.Addr()+" is a replica (role:slave) of "+s.Master.Addr())

	// A master that becomes one is not refused for good.
	g := met(t, s.Master.Client(t))
	c := s.Master.Client(t)
	require.NoError(t, c.Do(bg, "REPLICAOF", "127.0.0.1", "1").Err())
	acquire := func() *redlock.Ballot {
		h := newHold(t, g, "orders")
		defer func() { decide(t, g, h.release()) }()
		return decide(t, g, h.acquire())
	}
	require.ErrorContains(t, acquire().Err(), "READONLY")
	require.NoError(t, c.Do(bg, "REPLICAOF", "NO", "ONE").Err())
	redistest.Eventually(t, within, func() bool { return acquire().Won() }, "it votes again")
}

func TestServerThatIsTooOldIsRefusedWithItsVersion(t *testing.T) {
	for version, tooOld := range map[string]bool{
		"5.0.14": true, "6.0.20": true, "6.2.0": false, "7.0.15": false, "10.1.0": false, "unstable": false,
	} {
		s := miniredis.RunT(t)
		s.Server().SetPreHook(func(p *server.Peer, cmd string, _ ...string) bool {
			if cmd == "INFO" {
				p.WriteBulk("# Server\r\nredis_version:" + version + "\r\nrun_id:a\r\n")
			}
			return cmd == "INFO"
		})
		c := redis.NewClient(&redis.Options{Addr: s.Addr()})
		err := newGroup(t, c).Handshake(bg)
		if tooOld {
			require.ErrorIs(t, err, redlock.ErrUnfit)
			require.ErrorContains(t, err, s.Addr()+" runs Redis "+version+", the minimum is 6.2")
		} else {
			require.NoError(t, err)
		}
		require.False(t, errors.Is(err, redlock.ErrNoQuorum))
		require.NoError(t, c.Close())
	}
}
