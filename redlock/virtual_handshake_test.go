package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/redlock"
)

// When all processes of a service start at once, each is behind, and its nodes seem to be silent.
func TestAHandshakeOutlastsAProcessThatIsBehind(t *testing.T) {
	for _, n := range []int{1, 3, 5} {
		t.Run(fmt.Sprintf("N=%d", n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes := virtual.StartN(t, n)
				g := groupOf(t, timeout, virtual.NewHost(nodes).Clients(t))
				for _, node := range nodes {
					node.Pause()
					time.AfterFunc(3500*time.Millisecond, node.Resume)
				}
				require.NoError(t, g.Handshake(bg))
			})
		})
	}
}

func TestAHandshakeWaitsForNoMinority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := virtual.StartN(t, 3)
		g := groupOf(t, timeout, virtual.NewHost(nodes).Clients(t))
		nodes[1].Pause()
		defer nodes[1].Resume()
		start := time.Now()
		require.NoError(t, g.Handshake(bg))
		require.LessOrEqual(t, time.Since(start), 2*time.Second)
	})
}

func TestAHandshakeWithSilentNodesFailsAfterSomeSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := virtual.StartN(t, 3)
		g := groupOf(t, timeout, virtual.NewHost(nodes).Clients(t))
		nodes[0].Pause()
		defer nodes[0].Resume()
		nodes[2].Pause()
		start := time.Now()
		require.ErrorIs(t, g.Handshake(bg), redlock.ErrSilent)
		require.GreaterOrEqual(t, time.Since(start), 4*time.Second)
		require.LessOrEqual(t, time.Since(start), 10*time.Second)
		nodes[2].Resume()
		nodes[2].Kill() // a refusal tells at once
		start = time.Now()
		require.ErrorIs(t, g.Handshake(bg), redlock.ErrNoQuorum)
		require.LessOrEqual(t, time.Since(start), 10*time.Second)
	})
}

// A client of a Cluster waits for whoever is to tell the masters, a silent Sentinel for instance, for longer than for a node.
func TestAHandshakeWithAClusterThatNobodyTellsOfFailsAfterSomeSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		client := redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: []string{"sentinel:26379"},
			ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
				require.Equal(t, int32(1), asked.Add(1), "it need not be safe for concurrent use")
				defer asked.Add(-1)
				time.Sleep(5 * time.Second) // it heeds no context
				return nil, errors.New("all sentinels are unreachable")
			},
		})
		t.Cleanup(func() { _ = client.Close() })
		g := groupOf(t, timeout, []redis.UniversalClient{client})
		start := time.Now()
		require.ErrorIs(t, g.Handshake(bg), redlock.ErrNoQuorum)
		require.GreaterOrEqual(t, time.Since(start), 4*time.Second)
		require.LessOrEqual(t, time.Since(start), 10*time.Second)
		time.Sleep(10 * time.Second) // whatever was asked is asked again by go-redis, once, if that fails
	})
}
