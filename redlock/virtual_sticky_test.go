package redlock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/redlock"
)

// A pool is what a node's client tells of its connections.
type pool struct{ *redis.Client }

// taken counts how often a command has taken a connection from the pool so far.
func (p pool) taken() int { return int(p.PoolStats().Hits) }

// away counts the connections that are not in the pool now.
func (p pool) away() int {
	s := p.PoolStats()
	return int(s.TotalConns - s.IdleConns)
}

// steady runs f in virtual time with a group of one node whose caller has run command after command.
func steady(t *testing.T, connections int, f func(g *redlock.Group, node *virtual.Node, p pool)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		nodes := virtual.StartN(t, 1)
		host := virtual.NewHost(nodes)
		host.PoolSize = connections
		clients := host.Clients(t)
		g := hasty(t, timeout, clients...)
		for range 20 {
			require.True(t, decide(t, g, probe()).Won())
		}
		f(g, nodes[0], pool{clients[0].(*redis.Client)})
	})
}

func TestCommandAfterCommandGoesOverAConnectionThatIsKept(t *testing.T) {
	steady(t, 10, func(g *redlock.Group, _ *virtual.Node, p pool) {
		before := p.taken()
		for range 100 {
			require.True(t, decide(t, g, probe()).Won())
		}
		require.Equal(t, before, p.taken())
		require.Equal(t, 1, p.away())
	})
}

func TestAConnectionIsLookedAtAfterAPause(t *testing.T) {
	steady(t, 10, func(g *redlock.Group, _ *virtual.Node, p pool) {
		for range 10 {
			before := p.taken()
			time.Sleep(time.Millisecond)
			require.True(t, decide(t, g, probe()).Won())
			require.Equal(t, before+1, p.taken())
			require.Zero(t, p.away())
		}
	})
}

func TestAConnectionIsBackInThePoolSoonAfterTheLastCommand(t *testing.T) {
	steady(t, 10, func(_ *redlock.Group, _ *virtual.Node, p pool) {
		require.Equal(t, 1, p.away())
		time.Sleep(2 * timeout)
		synctest.Wait()
		require.Zero(t, p.away())
	})
}

func TestAConnectionIsBackInThePoolOnceASecond(t *testing.T) {
	steady(t, 10, func(g *redlock.Group, _ *virtual.Node, p pool) {
		before, start := p.taken(), time.Now()
		for time.Since(start) < 3500*time.Millisecond {
			require.True(t, decide(t, g, probe()).Won())
			time.Sleep(500 * time.Microsecond)
		}
		require.Equal(t, before+3, p.taken())
	})
}

func TestAClientOfFewConnectionsKeepsThemInItsPool(t *testing.T) {
	for connections, away := range map[int]int{1: 0, 7: 0, 8: 1} {
		steady(t, connections, func(_ *redlock.Group, _ *virtual.Node, p pool) {
			require.Equal(t, away, p.away(), "%d connections", connections)
		})
	}
}

func TestAConnectionThatFailsIsNotKept(t *testing.T) {
	steady(t, 10, func(g *redlock.Group, node *virtual.Node, p pool) {
		deaden(node)
		require.False(t, decide(t, g, probe()).Won())
		require.Zero(t, p.away())
		require.True(t, decide(t, g, probe()).Won(), "over a new one")
	})
}

func TestAConnectionOverWhichANodeRefusesIsNotKept(t *testing.T) {
	steady(t, 10, func(g *redlock.Group, node *virtual.Node, p pool) {
		node.Refuse(func([]string) bool { return true })
		require.False(t, decide(t, g, probe()).Won())
		require.Zero(t, p.away())
		node.Refuse(nil)
		require.True(t, decide(t, g, probe()).Won())
	})
}

// The answer may come when nobody waits for it any more.
func TestAConnectionIsNotKeptIfTheAnswerIsLate(t *testing.T) {
	steady(t, 10, func(g *redlock.Group, node *virtual.Node, p pool) {
		node.Pause()
		require.False(t, decide(t, g, probe()).Won())
		node.Resume()
		synctest.Wait()
		require.Zero(t, p.away())
		require.True(t, decide(t, g, probe()).Won())
	})
}

func TestCloseGivesTheConnectionBack(t *testing.T) {
	steady(t, 10, func(g *redlock.Group, _ *virtual.Node, p pool) {
		require.Equal(t, 1, p.away())
		g.Close()
		require.Zero(t, p.away())
		require.NoError(t, p.Ping(bg).Err())
	})
}
