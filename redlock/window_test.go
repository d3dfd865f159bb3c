package redlock

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

func someOps(n int) []*op {
	ops := make([]*op, n)
	for i := range ops {
		ops[i] = &op{ballot: new(Ballot)}
	}
	return ops
}

// fly has many flights of so many commands take so long each, and tells how many may be
// away at once then.
func fly(a *window, commands int, trip time.Duration) (width int) {
	for range enough {
		f := a.depart(someOps(commands))
		time.Sleep(trip)
		a.land(f, answered)
	}
	return a.width
}

// nearAir is on the way to a node that is known to be near.
func nearAir(connections int) window {
	a := newWindow(connections)
	fly(&a, 1, 0)
	return a
}

// A near node that looks far gets small flights, which cost more, just when it is busy.
func TestABurstTellsNothingOfTheDistance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := newWindow(20), newWindow(20)
		require.Equal(t, 1, fly(&near, 1, nearTrip/2))
		require.Equal(t, 1, fly(&near, 500, 5*nearTrip), "near, and busy")
		unknown := newWindow(20)
		require.Equal(t, 1, fly(&unknown, 500, 5*nearTrip), "busy from the start: it may be near")
		width := fly(&far, 1, 5*nearTrip)
		require.Greater(t, width, 1)
		require.Equal(t, width, fly(&far, 500, 6*nearTrip), "far, and busy")
	})
}

// What leaves beside a crowd waits for it at the node.
func TestAFlightBesideACrowdTellsNothingOfTheDistance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newWindow(20)
		for range enough {
			first, second := a.depart(someOps(2*telling)), a.depart(someOps(1))
			time.Sleep(5 * nearTrip)
			a.land(first, answered)
			a.land(second, answered)
		}
		require.Equal(t, 1, a.width)
	})
}

// A stuck flight leaves few tries to find a way past it.
func TestACrowdIsNoReasonForAnotherFlightBesideAStuckOne(t *testing.T) {
	l := &lane{window: nearAir(20), queue: make([]*op, crowd)}
	require.True(t, l.beside(1))
	require.False(t, l.beside(2))
	l.stuck = 1
	require.False(t, l.beside(1))
	few := &lane{window: nearAir(3), queue: make([]*op, crowd)}
	require.False(t, few.beside(1), "the user needs the connections too")
}

// What is sent in a second flight has its time to be answered, too.
func TestTwoFlightsToANearNodeAreNotLarge(t *testing.T) {
	l := &lane{window: nearAir(20), queue: someOps(2 * maxFlight), busy: 1}
	large := l.take()
	require.Len(t, large.ops, maxFlight)
	require.False(t, l.beside(1), "a large one is away")
	l.land(large, answered)
	require.True(t, l.beside(1))

	l.queue = someOps(2*maxBeside + crowd)
	l.busy = 2
	first := l.take()
	require.Len(t, first.ops, maxBeside)
	require.Len(t, l.take().ops, maxBeside, "beside the first")
	l.land(first, answered)
	require.Len(t, l.take().ops, crowd)
	require.Nil(t, l.take())
	require.Equal(t, 1, l.busy, "who had nothing to send has left")
}

// A node may move away while crowds hide it.
func TestACrowdLeavesBesideAFlightOnlyToANodeThatWasNearNotLongAgo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lane{window: newWindow(20), queue: make([]*op, crowd)}
		require.False(t, l.beside(1), "nobody knows yet")
		require.Equal(t, 1, fly(&l.window, 500, nearTrip/2))
		require.True(t, l.beside(1), "many were answered soon")
		fly(&l.window, 500, 5*nearTrip)
		require.True(t, l.beside(1), "it may be busy")
		time.Sleep(2 * periodLength)
		fly(&l.window, 500, 5*nearTrip)
		require.False(t, l.beside(1), "for long now nothing came back soon")
		fly(&l.window, 1, nearTrip/2)
		require.True(t, l.beside(1))
	})
}

// On the way to a far node a creation need not wait for a removal that left long ago, but for one
// that waits itself.
func TestNothingOvertakesWhatWaitsForItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, err := lua.NewKeys("lock", "orders")
		require.NoError(t, err)
		about := func(creates bool) *op {
			return &op{ballot: &Ballot{motion: Motion{Call: lua.Release{Keys: keys}.Call(), Creates: creates}}}
		}
		a := newWindow(20)
		require.Greater(t, fly(&a, 1, 5*nearTrip), 1)
		a.depart([]*op{about(false)})
		time.Sleep(5 * nearTrip)
		ops, rest := a.board([]*op{about(true)}, maxFlight)
		require.Len(t, ops, 1)
		require.Empty(t, rest)
		ops, rest = a.board([]*op{about(false), about(true)}, maxFlight)
		require.Empty(t, ops)
		require.Len(t, rest, 2)
	})
}
