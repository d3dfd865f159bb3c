package redlock_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/redlock"
)

// What is promised about time, exactly: on a real machine another program may have the
// processor meanwhile.

// inBubble runs f in virtual time with a group of n nodes that it has met.
func inBubble(t *testing.T, n int, f func(t *testing.T, g *redlock.Group, nodes []*virtual.Node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		nodes := virtual.StartN(t, n)
		g := hasty(t, timeout, virtual.NewHost(nodes).Clients(t)...)
		f(t, g, nodes)
	})
}

// deaden has the connections to a node be dead, and new ones work.
func deaden(n *virtual.Node) {
	n.Silence(true)
	n.Silence(false)
}

func TestSilenceIsOverAfterTheNodeTimeout(t *testing.T) {
	for _, n := range []int{1, 3} {
		inBubble(t, n, func(t *testing.T, g *redlock.Group, nodes []*virtual.Node) {
			for round := range 3 { // from the very first ballot after the handshake
				for _, node := range nodes {
					deaden(node)
				}
				start := time.Now()
				b := decide(t, g, probe())
				require.Equal(t, timeout, time.Since(start), "%d nodes, round %d", n, round)
				require.False(t, b.Won())
				start = time.Now()
				require.True(t, decide(t, g, probe()).Won(), "a new connection passes those that are dead")
				require.Less(t, time.Since(start), timeout)
				time.Sleep(time.Minute)
			}
		})
	}
}

func TestCallerLeavesAtOnceWhenItsContextEnds(t *testing.T) {
	for _, n := range []int{1, 3} {
		inBubble(t, n, func(t *testing.T, g *redlock.Group, nodes []*virtual.Node) {
			for _, node := range nodes {
				node.SetDelay(timeout/4, timeout/4)
			}
			ctx, cancel := context.WithCancel(bg)
			cancel()
			start := time.Now()
			b, err := g.Decide(ctx, probe())
			require.Zero(t, time.Since(start))
			require.ErrorIs(t, err, context.Canceled)
			require.NoError(t, b.Wait(bg), "the ballot goes on")
			require.True(t, b.Won())
		})
	}
}

func TestPreparedAndTheNextTakeOneRoundTrip(t *testing.T) {
	for _, n := range []int{1, 3} {
		inBubble(t, n, func(t *testing.T, g *redlock.Group, nodes []*virtual.Node) {
			mine, next := newHold(t, g, "orders"), newHold(t, g, "orders")
			prepare(g, probe())
			require.True(t, decide(t, g, mine.acquire()).Won()) // the scripts are known then
			require.True(t, decide(t, g, mine.release()).Won())
			mine = newHold(t, g, "orders")
			require.True(t, decide(t, g, mine.acquire()).Won())
			time.Sleep(time.Second)
			for _, node := range nodes {
				node.SetDelay(trip/2, trip/2)
			}
			start := time.Now()
			release := prepare(g, mine.release())
			require.True(t, decide(t, g, next.acquire()).Won(), "it is behind the release")
			require.NoError(t, release.Wait(bg))
			require.True(t, release.Won())
			require.Equal(t, trip, time.Since(start))
		})
	}
}

// Once a node is known to be silent, an urgent ballot that the others have not decided is lost at once. It is not
// lost before the others have answered, and not without a quorum of them; and a node that answers again counts.
func TestUrgentBallotDoesNotWaitForANodeThatIsSilentAlready(t *testing.T) {
	divided := func() redlock.Motion { // every other answer is a yes
		var answers atomic.Int32
		m := probe()
		m.Urgent = true
		m.Yes = func(any) (bool, error) { return answers.Add(1)%2 == 0, nil }
		return m
	}
	const late = timeout / 4
	for _, n := range []int{3, 5} {
		for name, fault := range map[string]func(*virtual.Node){"paused": (*virtual.Node).Pause, "silent": func(n *virtual.Node) { n.Silence(true) }} {
			t.Run(fmt.Sprint(n, " ", name), func(t *testing.T) {
				inBubble(t, n, func(t *testing.T, g *redlock.Group, nodes []*virtual.Node) {
					var last *redlock.Ballot
					took := func(m redlock.Motion) time.Duration {
						start := time.Now()
						last = decide(t, g, m)
						require.False(t, last.Won())
						return time.Since(start)
					}
					for _, node := range nodes[1:] {
						node.SetDelay(late/2, 0)
					}
					nodes[n-1].SetDelay(late, 0)
					fault(nodes[0])
					require.Equal(t, timeout, took(divided()), "nobody knows yet")
					for range 5 {
						require.Equal(t, late, took(divided()), "the others are waited for")
						require.ErrorIs(t, last.Answer(0).Err, redlock.ErrSilent)
					}
					patient := divided()
					patient.Urgent = false
					require.Equal(t, timeout, took(patient))

					for _, node := range nodes[1 : n/2+1] {
						fault(node)
					}
					require.Equal(t, timeout, took(divided()), "too few of them are left")
					require.Equal(t, timeout, took(divided()), "and they do not suffice alone")
					for _, node := range nodes[:n/2+1] {
						node.Resume()
						node.Silence(false)
					}
					require.Eventually(t, func() bool { return decide(t, g, probe()).Won() }, time.Minute, time.Second)
					time.Sleep(time.Minute)
					decide(t, g, probe())
					time.Sleep(time.Second)
					nodes[0].SetDelay(2*late, 0)
					start := time.Now()
					b := decide(t, g, divided())
					require.Equal(t, 2*late, time.Since(start), "it is back, and is waited for")
					require.NoError(t, b.Answer(0).Err)
				})
			})
		}
	}
}

// A node that has refused something answers.
func TestUrgentBallotWaitsForANodeThatRefusedAnother(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, g *redlock.Group, nodes []*virtual.Node) {
		nodes[0].Refuse(func([]string) bool { return true })
		require.True(t, decide(t, g, probe()).Won())
		time.Sleep(time.Second)
		nodes[0].Refuse(nil)
		nodes[0].SetDelay(timeout/2, 0)
		var answers atomic.Int32
		m := probe()
		m.Urgent, m.Yes = true, func(any) (bool, error) { return answers.Add(1)%2 == 0, nil }
		start := time.Now()
		require.NoError(t, decide(t, g, m).Answer(0).Err)
		require.Equal(t, timeout/2, time.Since(start))
	})
}

// Whatever the way past a stopped node costs, nobody waits for it.
func TestStoppedNodeDelaysNobody(t *testing.T) {
	inBubble(t, 5, func(t *testing.T, g *redlock.Group, nodes []*virtual.Node) {
		cycle := func() {
			h := newHold(t, g, "orders")
			require.NoError(t, decide(t, g, h.acquire()).Err())
			require.NoError(t, decide(t, g, h.release()).Err())
		}
		for range 10 {
			cycle()
		}
		nodes[4].Pause()
		for range 1000 {
			start := time.Now()
			cycle()
			require.Zero(t, time.Since(start))
			time.Sleep(3 * time.Millisecond) // 15 node timeouts in all
		}
		var callers sync.WaitGroup
		start := time.Now()
		for range 64 {
			callers.Go(func() {
				for range 100 {
					if b, err := g.Decide(bg, probe()); err != nil || !b.Won() {
						t.Error("not won")
					}
				}
			})
		}
		callers.Wait()
		require.Zero(t, time.Since(start))
		nodes[4].Resume()
	})
}

func TestDeadConnectionsOfALaneArePassedAtOnce(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, g *redlock.Group, nodes []*virtual.Node) {
		for _, n := range nodes {
			deaden(n)
		}
		require.False(t, decide(t, g, probe()).Won())
		// The flights are stuck for another 1.8 s, which is not waited for.
		all := probe()
		all.All = true
		start := time.Now()
		b := decide(t, g, all)
		require.Less(t, time.Since(start), timeout)
		require.NoError(t, b.Err())
		for i := range nodes {
			require.NoError(t, b.Answer(i).Err)
		}
	})
}

func TestDialThatHangsCostsTheCallerANodeTimeout(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, g *redlock.Group, nodes []*virtual.Node) {
		require.True(t, decide(t, g, probe()).Won())
		nodes[0].Kill()
		nodes[0].Silence(true)
		require.False(t, decide(t, g, probe()).Won(), "its connection is gone")
		for range 2 {
			start := time.Now()
			b := decide(t, g, probe())
			require.False(t, b.Won())
			require.ErrorIs(t, b.Err(), redlock.ErrSilent)
			require.NotErrorIs(t, b.Err(), context.DeadlineExceeded, "it is nobody's deadline")
			require.Equal(t, timeout, time.Since(start))
		}
	})
}

func TestCloseGivesUpADialThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := virtual.StartN(t, 3)
		nodes[2].Silence(true)
		g := hasty(t, timeout, virtual.NewHost(nodes).Clients(t)...)
		require.True(t, decide(t, g, probe()).Won())
		start := time.Now()
		g.Close()
		require.LessOrEqual(t, time.Since(start), 2*timeout+2*time.Second)
	})
}

func TestCloseIsBoundedWhileANodeIsSilent(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, g *redlock.Group, nodes []*virtual.Node) {
		nodes[0].Silence(true)
		all := probe()
		all.All = true
		require.True(t, decide(t, g, all).Won())
		start := time.Now()
		g.Close()
		require.LessOrEqual(t, time.Since(start), 10*timeout)
		g.Close() // again

		b := decide(t, g, probe())
		require.False(t, b.Won())
		require.ErrorContains(t, b.Err(), "closed")
	})
}

// distant has nodes that answer after their delays, and a group that knows how far they are.
func distant(t *testing.T, delays ...time.Duration) (nodes []*virtual.Node, clients []redis.UniversalClient, run func(name string) (lock, unlock time.Duration)) {
	nodes = virtual.StartN(t, len(delays))
	clients = virtual.NewHost(nodes).Clients(t)
	for i, n := range nodes {
		n.SetDelay(delays[i]/2, delays[i]/2)
	}
	g := met(t, clients...)
	run = func(name string) (lock, unlock time.Duration) {
		h := newHold(t, g, name)
		start := time.Now()
		won := decide(t, g, h.acquire()).Won()
		lock = time.Since(start)
		start = time.Now()
		require.True(t, decide(t, g, h.release()).Won())
		require.True(t, won, "it is behind the last release")
		return lock, time.Since(start)
	}
	for range 20 {
		run("warm up")
	}
	return nodes, clients, run
}

func TestCallersDoNotWaitForEachOthersRoundTripToAFarNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const trip = 40 * time.Millisecond
		_, clients, run := distant(t, trip/4, trip/2, trip, trip+trip/2, 3*trip)
		var mu sync.Mutex
		var locks, unlocks []time.Duration
		var callers sync.WaitGroup
		for i := range 32 {
			callers.Go(func() {
				for round := range 16 {
					lock, unlock := run(fmt.Sprint("name ", i))
					if round < 8 {
						continue // each new connection takes three round trips, once
					}
					mu.Lock()
					locks, unlocks = append(locks, lock), append(unlocks, unlock)
					mu.Unlock()
				}
			})
		}
		callers.Wait()
		t.Logf("the third fastest node answers in %v; median of acquire: %v, of release: %v", trip, median(locks), median(unlocks))
		// One flight at a time would take from half a round trip to a whole one more.
		require.Less(t, median(locks), trip*7/5)
		require.Less(t, median(unlocks), trip*7/5)
		// For each flight that finds none idle go-redis makes a connection, and keeps it. All are
		// of the pool of the user's client.
		for i, c := range clients {
			client := c.(*redis.Client)
			require.LessOrEqual(t, int(client.PoolStats().TotalConns), client.Options().PoolSize, "to node %d", i)
		}
	})
}

func TestCommandsAboutOneKeyReachAFarNodeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, _, run := distant(t, 2*time.Millisecond, 3*time.Millisecond, 30*time.Millisecond)
		var callers sync.WaitGroup
		for i := range 16 {
			callers.Go(func() {
				for range 20 {
					run(fmt.Sprint("name ", i))
				}
			})
		}
		callers.Wait()
		time.Sleep(time.Second)
		// A release that might overtake the acquisition would have to leave a mark.
		for _, n := range nodes {
			require.False(t, slices.ContainsFunc(n.Keys(), func(key string) bool {
				return strings.HasSuffix(key, "}") || strings.HasSuffix(key, ":void")
			}), "each hold is gone, and no mark is left: %v", n.Keys())
		}
	})
}

// Single calls and pipelines have connections of their own. Whoever is the first to need one
// does not wait for it: that takes four round trips, and would be too late here.
func TestTheFirstPipelineToAFarNodeIsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := virtual.StartN(t, 1)
		clients := virtual.NewHost(nodes).Clients(t)
		nodes[0].SetDelay(timeout/5, timeout/5)
		g := hasty(t, timeout, clients...)
		for _, n := range []int{1, 2} {
			open := clients[0].PoolStats().TotalConns
			_, acquires := crowd(t, g, n, fmt.Sprint(n, " together "))
			var last *redlock.Ballot
			for _, m := range acquires {
				last = prepare(g, m)
			}
			last.Send(bg)
			require.NoError(t, last.Wait(bg))
			require.True(t, last.Won(), last.Err())
			require.Equal(t, open, clients[0].PoolStats().TotalConns)
		}
	})
}
