package redlock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
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
