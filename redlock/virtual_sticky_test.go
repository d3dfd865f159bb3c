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

// steady runs f in virtual time with groups of one node, for which the caller sends its commands itself, and of
// three, for which lanes do. The caller has run command after command. f is about the first node.
func steady(t *testing.T, connections int, f func(g *redlock.Group, node *virtual.Node, p pool)) {
	t.Helper()
	for _, n := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			nodes := virtual.StartN(t, n)
			host := virtual.NewHost(nodes)
			host.PoolSize = connections
			clients := host.Clients(t)
			g := hasty(t, timeout, clients...)
			for range 20 {
				require.True(t, all(t, g))
			}
			f(g, nodes[0], pool{clients[0].(*redis.Client)})
		})
	}
}

// all reports whether every node says yes.
func all(t *testing.T, g *redlock.Group) bool {
	t.Helper()
	m := probe()
	m.All = true
	b := decide(t, g, m)
	synctest.Wait() // until the lanes are at rest
	for i := range g.Size() {
		if b.Answer(i).Vote != redlock.Yes {
			return false
		}
	}
	return true
}

func TestCommandAfterCommandGoesOverAConnectionThatIsKept(t *testing.T) {
	steady(t, 10, func(g *redlock.Group, _ *virtual.Node, p pool) {
		before := p.taken()
		for range 100 {
			require.True(t, all(t, g))
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
			require.True(t, all(t, g))
			require.Equal(t, before+1, p.taken())
			require.Zero(t, p.away())
		}
	})
}

func TestAConnectionIsBackInThePoolSoonAfterTheLastCommand(t *testing.T) {
	steady(t, 10, func(_ *redlock.Group, _ *virtual.Node, p pool) {
		require.Equal(t, 1, p.away())
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		require.Zero(t, p.away())
	})
}

func TestAConnectionIsBackInThePoolNowAndThen(t *testing.T) {
	steady(t, 10, func(g *redlock.Group, _ *virtual.Node, p pool) {
		before, start := p.taken(), time.Now()
		for time.Since(start) < 70*time.Millisecond {
			require.True(t, all(t, g))
			time.Sleep(500 * time.Microsecond)
		}
		require.Equal(t, before+3*2, p.taken(), "for a command, and to be kept again")
	})
}

func TestAClientOfFewConnectionsKeepsThemInItsPool(t *testing.T) {
	for connections, away := range map[int]int{1: 0, 3: 0, 4: 1} {
		steady(t, connections, func(_ *redlock.Group, _ *virtual.Node, p pool) {
			require.Equal(t, away, p.away(), "%d connections", connections)
		})
	}
}

func TestAConnectionIsKeptOnlyIfNobodyElseNeedsIt(t *testing.T) {
	steady(t, 10, func(g *redlock.Group, _ *virtual.Node, p pool) {
		time.Sleep(time.Second)
		for used := range 8 {
			c := p.Conn()
			require.NoError(t, c.Ping(bg).Err())
			defer c.Close()
			for range 20 {
				require.True(t, all(t, g))
			}
			kept := 0
			if 10-(used+1) >= 4 {
				kept = 1
			}
			require.Equal(t, used+1+kept, p.away())
			time.Sleep(time.Second)
		}
	})
}

func TestAConnectionThatFailsIsNotKept(t *testing.T) {
	steady(t, 10, func(g *redlock.Group, node *virtual.Node, p pool) {
		deaden(node)
		require.False(t, all(t, g))
		require.True(t, all(t, g), "over a new one")
		time.Sleep(time.Minute) // a lane waits longer than its callers
		require.Zero(t, p.away())
	})
}

func TestAConnectionOverWhichANodeRefusesIsNotKept(t *testing.T) {
	steady(t, 10, func(g *redlock.Group, node *virtual.Node, p pool) {
		node.Refuse(func([]string) bool { return true })
		require.False(t, all(t, g))
		require.Zero(t, p.away())
		node.Refuse(nil)
		require.True(t, all(t, g))
	})
}

// The answer may come when nobody waits for it any more.
func TestAConnectionIsNotKeptIfTheAnswerIsLate(t *testing.T) {
	steady(t, 10, func(g *redlock.Group, node *virtual.Node, p pool) {
		node.Pause()
		require.False(t, all(t, g))
		node.Resume()
		synctest.Wait()
		require.Zero(t, p.away())
		require.True(t, all(t, g))
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
