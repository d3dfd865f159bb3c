package redlock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/redlock"
)

// Nodes that failed, however many, tell nothing of who has the lock: those that have yet to answer
// are waited for.
func TestNodesThatFailedDoNotDecideForTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const trip = 50 * time.Millisecond
		nodes := virtual.StartN(t, 5)
		g := met(t, virtual.NewHost(nodes).Clients(t)...)
		require.True(t, decide(t, g, probe()).Won()) // there are connections
		for _, n := range nodes[:3] {
			n.Refuse(virtual.Name("EVALSHA", "EVAL"))
		}
		for _, n := range nodes[3:] {
			n.SetDelay(trip, 0)
		}
		start := time.Now()
		b := decide(t, g, probe())
		require.False(t, b.Won())
		require.GreaterOrEqual(t, time.Since(start), trip)
		for i := range nodes[3:] {
			require.Equal(t, redlock.Yes, b.Answer(3+i).Vote)
		}
	})
}
