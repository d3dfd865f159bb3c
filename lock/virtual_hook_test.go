package lock_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// A counter is a hook of go-redis that counts what it sees: connections, and scripts, alone or in pipelines.
type counter struct{ dials, scripts atomic.Int32 }

func (c *counter) count(cmds ...redis.Cmder) {
	for _, cmd := range cmds {
		if strings.HasPrefix(strings.ToLower(cmd.Name()), "eval") {
			c.scripts.Add(1)
		}
	}
}

func (c *counter) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c.dials.Add(1)
		return next(ctx, network, addr)
	}
}

func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.count(cmd)
		return next(ctx, cmd)
	}
}

func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.count(cmds...)
		return next(ctx, cmds)
	}
}

// requireScripts requires that the nodes are sent scripts by single calls, the last of them over a connection that is kept
// for them, and in pipelines.
func (w *world) requireScripts(locks *lock.Client) {
	w.t.Helper()
	scripts := func() (n int) {
		for _, node := range w.nodes {
			n += len(node.Commands(virtual.Name("EVALSHA"))) + len(node.Commands(virtual.Name("EVAL")))
		}
		return n
	}
	before := scripts()
	m := (&process{locks: locks}).mutex()
	for range 20 {
		require.NoError(w.t, w.lock(m).Unlock(bg))
	}
	synctest.Wait()
	require.GreaterOrEqual(w.t, scripts()-before, 40)
	leases, errs := lock.TryTogether(bg, reentrant.New(locks, "{a}1"), reentrant.New(locks, "{a}2"))
	require.NoError(w.t, errors.Join(errs...))
	require.NoError(w.t, errors.Join(lock.UnlockTogether(bg, leases...)...))
}

// Commands of locks are sent by copies of the users' clients, to which go-redis does not copy hooks. So no hook can send
// one twice, or hold it up. The copies share the client's connections.
func TestNoHookSeesTheCommandsOfLocks(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		var before, after counter
		clients := virtual.NewHost(w.nodes).Clients(t)
		for _, c := range clients {
			c.AddHook(&before)
		}
		locks, err := lock.NewClient(clients, lock.WithoutProbe())
		require.NoError(t, err)
		defer locks.Close()
		for _, c := range clients {
			c.AddHook(&after)
		}
		w.requireScripts(locks)
		require.Zero(t, before.scripts.Load())
		require.Zero(t, after.scripts.Load())
		require.NotZero(t, before.dials.Load(), "the client makes the connections")
	})
}

// Nor does one of a ClusterClient, which has a client for each server, as long as it knows the server of a name.
func TestNoHookOfAClusterClientSeesTheCommandsOfLocks(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		virtual.NewCluster(w.nodes)
		var own, servers, after counter
		c := virtual.NewHost(w.nodes).Cluster(t)
		c.AddHook(&own)
		c.OnNewNode(func(server *redis.Client) { server.AddHook(&servers) })
		locks, err := lock.NewClient([]redis.UniversalClient{c}, lock.WithoutProbe())
		require.NoError(t, err)
		defer locks.Close()
		c.AddHook(&after)
		w.requireScripts(locks)
		for _, hook := range []*counter{&own, &servers, &after} {
			require.Zero(t, hook.scripts.Load())
		}
		require.NotZero(t, servers.dials.Load(), "its clients make the connections")
	})
}
