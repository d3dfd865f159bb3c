package conformance

import (
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A deployment is a way to run the nodes that a lock lives on.
type deployment struct {
	name  string
	start func(*testing.T) []*node
}

var deployments = []deployment{
	{"embedded", func(t *testing.T) []*node { return embedded(t, 1) }},
	{"five embedded", func(t *testing.T) []*node { return embedded(t, 5) }},
	{"one", func(t *testing.T) []*node { return servers(t, 1) }},
	{"three", func(t *testing.T) []*node { return servers(t, 3) }},
	{"five", func(t *testing.T) []*node { return servers(t, 5) }},
	{"cluster", func(t *testing.T) []*node {
		c := redistest.StartCluster(t)
		return []*node{newNode(func() redis.UniversalClient {
			return c.Client(t, func(o *redis.ClusterOptions) { o.PoolSize = pool })
		})}
	}},
	{"sentinel", func(t *testing.T) []*node {
		s := redistest.StartSentinel(t)
		return []*node{newNode(func() redis.UniversalClient {
			return s.Client(t, func(o *redis.FailoverOptions) { o.PoolSize = pool })
		})}
	}},
}

// pool is enough connections for every lock client of a deployment. It is the one
// setting that is not go-redis' own.
const pool = 100

// servers starts n independent redis-servers.
func servers(t *testing.T, n int) []*node {
	var nodes []*node
	for _, s := range redistest.StartN(t, n) {
		nodes = append(nodes, newNode(func() redis.UniversalClient {
			return s.Client(t, func(o *redis.Options) { o.PoolSize = pool })
		}))
	}
	return nodes
}

// embedded starts n servers inside this process, as users' own unit tests do.
func embedded(t *testing.T, n int) []*node {
	var nodes []*node
	for range n {
		m := miniredis.NewMiniRedis()
		m.ClockTTL(true) // by itself it lets no TTL pass
		require.NoError(t, m.Start())
		t.Cleanup(m.Close)
		nodes = append(nodes, newNode(func() redis.UniversalClient {
			c := redis.NewClient(&redis.Options{Addr: m.Addr(), PoolSize: pool})
			t.Cleanup(func() { assert.NoError(t, c.Close()) })
			return c
		}))
	}
	return nodes
}
