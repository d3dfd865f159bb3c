package redlock_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// reloadAfter is how often a client is asked to look at a Cluster again, at the most.
const reloadAfter = 500 * time.Millisecond

// A virtualCluster has all slots on one of its servers, and tells that as soon as somebody asks.
type virtualCluster struct {
	servers []*virtual.Node
	master  atomic.Int32 // the server that has the slots
	asked   atomic.Int32 // how often a client has asked for them
}

// group returns a group that has met the Cluster.
func (c *virtualCluster) group(t *testing.T, timeout time.Duration) *redlock.Group {
	t.Helper()
	dials := make(map[string]func(context.Context, string, string) (net.Conn, error))
	for i, client := range virtual.NewHost(c.servers).Clients(t) {
		dials[c.servers[i].Addr()] = client.(*redis.Client).Options().Dialer
	}
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{c.servers[0].Addr()},
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
			c.asked.Add(1)
			master := redis.ClusterNode{Addr: c.servers[c.master.Load()].Addr()}
			return []redis.ClusterSlot{{Start: 0, End: 16383, Nodes: []redis.ClusterNode{master}}}, nil
		},
		Dialer: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dials[address](ctx, network, address)
		},
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = client.Close() })
	g := groupOf(t, timeout, []redis.UniversalClient{client})
	require.NoError(t, g.Handshake(bg))
	return g
}

// won has a runner send an acquisition of the name, as renewals are sent, and reports whether it was granted.
func won(t *testing.T, g *redlock.Group, name string) bool {
	t.Helper()
	b := g.Vote(newHold(t, g, name).acquire())
	require.NoError(t, b.Wait(bg))
	synctest.Wait()
	return b.Won()
}

// A master that falls silent, as a machine without power does, refuses nothing: its connections tell much later
// than the node timeout that they lead nowhere. Nobody waits for that before the client looks for another master.
func TestANewMasterIsFoundThoughTheOldOneIsSilent(t *testing.T) {
	for name, silence := range map[string]func(*virtual.Node){
		"stopped": (*virtual.Node).Pause,
		"cut off": func(n *virtual.Node) { n.Silence(true) },
		"slow":    func(n *virtual.Node) { n.SetDelay(0, time.Minute) },
	} {
		for _, timeout := range []time.Duration{timeout, time.Second, 2 * time.Second} {
			t.Run(fmt.Sprint(name, " ", timeout), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := &virtualCluster{servers: virtual.StartN(t, 2)}
					g := c.group(t, timeout)
					require.True(t, won(t, g, "before"))
					start := time.Now()
					silence(c.servers[0])
					require.False(t, won(t, g, "orders"), "nobody has taken over")
					c.master.Store(1)
					time.Sleep(reloadAfter)
					require.False(t, won(t, g, "orders"), "nobody here knows of the new master")
					require.True(t, won(t, g, "orders"), "now the client does")
					require.Equal(t, 2*timeout+reloadAfter, time.Since(start))
				})
			})
		}
	}
}

// Nor does a stuck master's lane, all of whose runners are stuck, forget to look.
func TestANewMasterIsFoundThoughNothingMoreIsSentToTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &virtualCluster{servers: virtual.StartN(t, 2)}
		g := c.group(t, timeout)
		require.True(t, won(t, g, "before"))
		c.servers[0].Pause()
		start := time.Now()
		for time.Since(start) < 4*timeout { // a flight is given up after ten
			require.False(t, won(t, g, "orders"))
		}
		c.master.Store(1)
		for !won(t, g, "orders") {
			time.Sleep(timeout / 20)
			require.Less(t, time.Since(start), time.Minute)
		}
		require.LessOrEqual(t, time.Since(start), 4*timeout+reloadAfter+timeout)
	})
}

// However many callers a shard has that nobody takes over, and however long it is silent, the
// servers are asked for the slots twice a second; and not at all while nobody wants anything.
func TestASilentMasterMakesFewQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const silence, most = 20 * time.Second, 20 * time.Second / reloadAfter
		c := &virtualCluster{servers: virtual.StartN(t, 1)}
		g := c.group(t, timeout)
		require.True(t, won(t, g, "before"))
		c.servers[0].Pause()
		before := c.asked.Load()
		for end := time.Now().Add(silence); time.Now().Before(end); time.Sleep(timeout / 20) {
			g.Vote(newHold(t, g, "orders").acquire())
		}
		asked := c.asked.Load() - before
		require.LessOrEqual(t, asked, int32(most))
		require.GreaterOrEqual(t, asked, int32(most/2))
		time.Sleep(silence) // the last flights are over
		before = c.asked.Load()
		time.Sleep(silence)
		require.Equal(t, before, c.asked.Load())
		c.servers[0].Resume()
	})
}

// replicated makes a group of a Cluster of n servers, the first of which has all slots.
func replicated(t *testing.T, n int) (*redlock.Group, *virtual.Cluster, []*virtual.Node) {
	t.Helper()
	g, c, nodes, _ := replicatedBy(t, n)
	return g, c, nodes
}

// replicatedBy is replicated, with the client.
func replicatedBy(t *testing.T, n int) (*redlock.Group, *virtual.Cluster, []*virtual.Node, *redis.ClusterClient) {
	t.Helper()
	nodes := virtual.StartN(t, n)
	c := virtual.NewCluster(nodes)
	client := virtual.NewHost(nodes).Cluster(t)
	g := groupOf(t, timeout, []redis.UniversalClient{client})
	require.NoError(t, g.Handshake(bg))
	require.True(t, won(t, g, "before"))
	return g, c, nodes, client
}

// The client asks servers for the slots in random order, waits for a silent one, and asks nobody else meanwhile: for
// 5 seconds for an answer, and for 25 to dial. The replica need not be asked who it is.
func TestAReplicaThatTakesOverIsFoundThoughTheClientWaitsForTheSilentMaster(t *testing.T) {
	for name, silence := range map[string]func(*virtual.Node){
		"stopped": (*virtual.Node).Pause,
		"cut off": func(n *virtual.Node) { n.Silence(true) },
	} {
		for _, replicas := range []int{1, 2} {
			t.Run(fmt.Sprint(name, " ", replicas), func(t *testing.T) {
				for range 20 { // the order is random
					synctest.Test(t, func(t *testing.T) {
						g, c, nodes := replicated(t, 1+replicas)
						silence(nodes[0])
						for start := time.Now(); time.Since(start) < 10*time.Second; {
							require.False(t, won(t, g, "orders"), "nobody has taken over")
						}
						c.Promote(1)
						start := time.Now()
						for !won(t, g, "orders") {
							time.Sleep(timeout / 20)
							require.Less(t, time.Since(start), time.Minute)
						}
						require.LessOrEqual(t, time.Since(start), time.Duration(replicas)*(timeout+timeout/20))
						require.True(t, won(t, g, "others"))
						require.LessOrEqual(t, time.Since(start), time.Duration(replicas)*(timeout+timeout/20))
					})
				}
			})
		}
	}
}

// A master that was silent is asked again when it answers, whatever its replica has come to.
func TestAMasterThatIsBackIsFoundBehindItsReplica(t *testing.T) {
	for name, fate := range map[string]func(*virtual.Cluster, *virtual.Node){
		"well":      func(*virtual.Cluster, *virtual.Node) {},
		"shut out":  func(c *virtual.Cluster, _ *virtual.Node) { c.Leave(1) },
		"stopped":   func(_ *virtual.Cluster, n *virtual.Node) { n.Pause() },
		"cut off":   func(_ *virtual.Cluster, n *virtual.Node) { n.Silence(true) },
		"shut down": func(_ *virtual.Cluster, n *virtual.Node) { n.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, c, nodes := replicated(t, 2)
				nodes[0].Pause()
				for range 10 {
					require.False(t, won(t, g, "late"))
				}
				fate(c, nodes[1])
				nodes[0].Resume()
				start := time.Now()
				for !won(t, g, "orders") {
					time.Sleep(timeout / 20)
					require.Less(t, time.Since(start), time.Minute)
				}
				require.LessOrEqual(t, time.Since(start), 2*(timeout+timeout/20))
				require.True(t, won(t, g, "others"))
				require.True(t, won(t, g, "others still"))
				require.LessOrEqual(t, time.Since(start), 2*timeout)
			})
		})
	}
}

// goesFor has servers leave the Cluster for so long that go-redis closes its clients for them, and come back.
func goesFor(c *virtual.Cluster, nodes []*virtual.Node, gone []int, client *redis.ClusterClient) {
	for _, i := range gone {
		c.Leave(i)
		nodes[i].Kill()
	}
	for range 6 { // it looks at the Cluster once a minute, if it is used
		client.ReloadState(bg)
		time.Sleep(time.Minute)
	}
	for _, i := range gone {
		nodes[i].Start()
		c.Join(i)
	}
}

// A replica that had taken over is gone for so long that there is another client for it when it comes back, while the lane
// of its master, to which nothing was sent meanwhile, still leads to the one before.
func TestAShardIsServedThoughAReplicaThatHadTakenOverWasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c, nodes, client := replicatedBy(t, 3)
		nodes[0].Pause()
		for range 10 {
			require.False(t, won(t, g, "late"))
		}
		c.Promote(1)
		for start := time.Now(); !won(t, g, "orders"); time.Sleep(timeout / 20) {
			require.Less(t, time.Since(start), time.Minute)
		}
		time.Sleep(5 * time.Second)
		require.True(t, won(t, g, "orders of later"))
		nodes[0].Resume()
		time.Sleep(10 * time.Second)
		require.True(t, won(t, g, "orders of even later"))
		c.Promote(0) // and nobody here wants anything
		client.ReloadState(bg)
		time.Sleep(time.Second)
		goesFor(c, nodes, []int{1, 2}, client)
		client.ReloadState(bg)
		time.Sleep(2 * time.Second)
		require.True(t, won(t, g, "at last"))
	})
}

// Nor does it matter how a command is led to a server for which there is another client by now, whether or not that
// was ever reached: by a name that the server before it tells.
func TestACommandIsRedirectedToAServerThatWasGone(t *testing.T) {
	for name, met := range map[string]bool{"that was met": true, "that was never reached": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, c, nodes, client := replicatedBy(t, 2)
				nodes[1].Silence(!met)
				c.Promote(1)
				client.ReloadState(bg)
				time.Sleep(time.Minute)
				require.Equal(t, met, won(t, g, "orders"))
				nodes[1].Silence(false)
				c.Promote(0)
				goesFor(c, nodes, []int{1}, client)
				require.True(t, won(t, g, "orders of later"))
				c.Promote(1) // which nobody has told the client
				require.True(t, won(t, g, "at last"))
			})
		})
	}
}

// Of the servers that the client was given, one is a machine that is gone: it answers no dial. The client, which asks them
// in random order, would wait for it.
func TestAClusterIsMetThoughAServerThatItIsKnownByIsGone(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			nodes := virtual.StartN(t, 3)
			c := virtual.NewCluster(nodes)
			c.Leave(2)
			nodes[2].Silence(true)
			client := virtual.NewHost(nodes).Cluster(t)
			g := groupOf(t, timeout, []redis.UniversalClient{client})
			start := time.Now()
			require.NoError(t, g.Handshake(bg))
			require.Less(t, time.Since(start), 5*time.Second)
			require.True(t, won(t, g, "orders"))

			// Nor does a question for all keys wait for it.
			_, err := g.Scan(0, "*", 100).Next(bg)
			require.NoError(t, err)
			nodes[2].Silence(false)
		})
	}
}

// A client that may have one connection has none for a second question while the first is under way.
func TestAClusterThatIsFarIsMetByAClientWithOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := virtual.StartN(t, 1)
		virtual.NewCluster(nodes)
		nodes[0].SetDelay(75*time.Millisecond, 75*time.Millisecond)
		client := virtual.NewHost(nodes).Cluster(t, func(o *redis.ClusterOptions) { o.MaxActiveConns = 1 })
		g := groupOf(t, timeout, []redis.UniversalClient{client})
		require.NoError(t, g.Handshake(bg))
	})
}

// A client may have to wait for a replica, too, for as long as it was configured to. Close does not.
func TestCloseDoesNotWaitForASilentReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _, nodes := replicated(t, 2)
		for _, n := range nodes {
			n.Pause()
		}
		require.False(t, won(t, g, "orders"))
		start := time.Now()
		g.Close()
		require.Less(t, time.Since(start), 3*time.Second)
		for _, n := range nodes {
			n.Resume()
		}
	})
}

// While a slot moves, what needs several of its keys is refused. A removal is done as soon as they are together again,
// however long that took.
func TestARemovalIsDoneAsSoonAsASlotHasMoved(t *testing.T) {
	for _, moves := range []time.Duration{30 * time.Millisecond, 300 * time.Millisecond, 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			nodes := virtual.StartN(t, 1)
			cluster := virtual.NewCluster(nodes)
			client := virtual.NewHost(nodes).Cluster(t)
			g := groupOf(t, timeout, []redis.UniversalClient{client})
			require.NoError(t, g.Handshake(bg))
			h := newHold(t, g, "orders")
			b := g.Vote(h.acquire())
			require.NoError(t, b.Wait(bg))
			require.True(t, b.Won())
			cluster.Part(true)
			m := h.release()
			m.Call = m.Removal(true, false) // needs two keys
			m.Removal = func(bool, bool) lua.Call { return m.Call }
			g.Vote(m)
			time.Sleep(moves)
			synctest.Wait()
			holder, _ := nodes[0].Holder(h.keys.Lock)
			require.Equal(t, h.id, holder)
			cluster.Part(false)
			time.Sleep(60 * time.Millisecond)
			synctest.Wait()
			holder, _ = nodes[0].Holder(h.keys.Lock)
			require.Empty(t, holder, "it moved for %v", moves)
		})
	}
}

// Each master has its own lane, and what it owes there.
func TestSettleWaitsForWhatAShardHasToConfirm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &virtualCluster{servers: virtual.StartN(t, 1)}
		g := c.group(t, timeout)
		h := newHold(t, g, "orders")
		require.NoError(t, g.Vote(h.acquire()).Wait(t.Context()))
		c.servers[0].Refuse(virtual.Name("HDEL"))
		b := g.Vote(h.release())
		require.NoError(t, b.Wait(t.Context()))
		require.False(t, b.Won())
		start := time.Now()
		g.Settle(timeout)
		require.Equal(t, timeout, time.Since(start).Round(timeout/20), "it goes on refusing")
		c.servers[0].Refuse(nil)
		g.Settle(time.Minute)
		require.Less(t, time.Since(start), 2*timeout)
		require.True(t, h.footprint.Gone())
	})
}
