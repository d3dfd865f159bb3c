package redlock

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// widthAfter is how many flights may be away after many that took so long each.
func widthAfter(t *testing.T, commands int, trip time.Duration) (width int) {
	synctest.Test(t, func(*testing.T) {
		a := newAir(20)
		for range enough {
			ops := make([]*op, commands)
			for i := range ops {
				ops[i] = &op{ballot: new(Ballot)}
			}
			f := a.depart(ops)
			time.Sleep(trip)
			a.land(f, answered)
		}
		width = a.width
	})
	return width
}

func TestABurstDoesNotMakeANearNodeLookFar(t *testing.T) {
	require.Equal(t, 1, widthAfter(t, 1, nearTrip/2), "near")
	require.Greater(t, widthAfter(t, 1, 5*nearTrip), 1, "far")
	require.Equal(t, 1, widthAfter(t, 500, 5*nearTrip), "near, and busy")
	require.Greater(t, widthAfter(t, 500, 10*nearTrip), 1, "far, and busy")
}
