package redlock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/redlock"
)

// What was prepared for a far node waits for no flight that is away: nobody else may come
// along for the length of a round trip.
func TestSendDoesNotWaitForAFlightToAFarNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const trip = 80 * time.Millisecond
		nodes := virtual.StartN(t, 1)
		g := met(t, virtual.NewHost(nodes).Clients(t)...)
		nodes[0].SetDelay(trip/2, trip/2)
		for range 100 { // it is known to be far then, and there are connections
			g.Vote(probe())
			time.Sleep(trip / 4)
		}
		time.Sleep(10 * trip)
		g.Vote(probe())
		time.Sleep(trip / 4)
		start := time.Now()
		b := prepare(g, probe())
		b.Send(bg)
		require.NoError(t, b.Wait(bg))
		require.NoError(t, b.Err())
		require.Equal(t, trip, time.Since(start))
	})
}

// A removal leaves, and only then a creation of the same key is prepared behind it: that
// need not wait until the removal has landed, and leaves soon after.
func TestSendOfAClaimDoesNotWaitForTheReleaseThatHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const trip = 80 * time.Millisecond
		nodes := virtual.StartN(t, 3)
		g := met(t, virtual.NewHost(nodes).Clients(t)...)
		first, mine, next := newHold(t, g, "orders"), newHold(t, g, "orders"), newHold(t, g, "orders")
		require.True(t, decide(t, g, first.acquire()).Won()) // the scripts are known then
		require.True(t, decide(t, g, first.release()).Won())
		require.True(t, decide(t, g, mine.acquire()).Won())
		for _, n := range nodes {
			n.SetDelay(trip/2, trip/2)
		}
		for range 100 { // they are known to be far then, and there are connections
			g.Vote(probe())
			time.Sleep(trip / 4)
		}
		time.Sleep(10 * trip)

		start := time.Now()
		release := prepare(g, mine.release())
		g.Vote(probe()) // somebody else's motion takes it along
		synctest.Wait()
		order := prepare(g, next.acquire())
		order.Send(bg)
		require.NoError(t, order.Wait(bg))
		require.LessOrEqual(t, time.Since(start), trip+trip/8)
		require.True(t, order.Won())
		require.NoError(t, release.Wait(bg))
		require.True(t, release.Won())
	})
}

// near is a group with one node near by, which is known to be near and has connections
// for two flights.
func near(t *testing.T, trip time.Duration) *redlock.Group {
	nodes := virtual.StartN(t, 1)
	g := met(t, virtual.NewHost(nodes).Clients(t)...)
	nodes[0].SetDelay(trip/2, trip/2)
	for range 100 {
		g.Vote(probe())
		time.Sleep(trip / 4)
		for range 32 {
			g.Vote(probe())
		}
		time.Sleep(10 * trip)
	}
	return g
}

// While one flight is away, a few commands wait until it has landed, so that more can come
// along; a crowd does not.
func TestACrowdDoesNotWaitForAFlightToANearNode(t *testing.T) {
	const trip = 800 * time.Microsecond
	for _, c := range []struct {
		commands int
		takes    time.Duration
	}{{15, trip*3/4 + trip}, {16, trip}, {40, trip}} {
		synctest.Test(t, func(t *testing.T) {
			g := near(t, trip)
			g.Vote(probe())
			time.Sleep(trip / 4)
			start := time.Now()
			var ballots []*redlock.Ballot
			for range c.commands {
				ballots = append(ballots, g.Vote(probe()))
			}
			// Who comes when the crowd has left is none again.
			last := ballots[min(c.commands, 16)-1]
			require.NoError(t, last.Wait(bg))
			require.NoError(t, last.Err())
			require.Equal(t, c.takes, time.Since(start), "%d commands", c.commands)
		})
	}
}

// Two flights to a near node may overtake each other: what is about the key of one that
// is away stays behind, and nothing else does.
func TestACrowdLeavesWithoutWhoHasToWaitForAFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const trip = 800 * time.Microsecond
		g := near(t, trip)
		first, mine, next := newHold(t, g, "orders"), newHold(t, g, "orders"), newHold(t, g, "orders")
		require.True(t, decide(t, g, first.acquire()).Won()) // the scripts are known then
		require.True(t, decide(t, g, first.release()).Won())
		require.True(t, decide(t, g, mine.acquire()).Won())

		start := time.Now()
		release := g.Vote(mine.release())
		time.Sleep(trip / 4)
		acquire := g.Vote(next.acquire())
		var ballots []*redlock.Ballot
		for range 20 {
			ballots = append(ballots, g.Vote(probe()))
		}
		require.NoError(t, ballots[14].Wait(bg)) // with the acquire, sixteen were queued
		require.Equal(t, trip/4+trip, time.Since(start))
		require.NoError(t, acquire.Wait(bg))
		require.Equal(t, trip/4+2*trip, time.Since(start), "alone, it leaves beside nobody else")
		require.True(t, release.Won())
		require.True(t, acquire.Won())
	})
}
