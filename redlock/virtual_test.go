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
