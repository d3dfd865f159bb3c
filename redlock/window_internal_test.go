package redlock

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// keyed is an op about a key.
func keyed(creates bool) *op {
	keys, _ := lua.NewKeys("lock", "orders")
	return &op{ballot: &Ballot{motion: Motion{Creates: creates, Call: lua.Release{Keys: keys, Hold: "a"}.Call()}}}
}

// On the way to a far node, a creation may follow a removal soon. Nothing else follows what is about the same key.
func TestWhatMayFollowOnTheWayToAFarNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const trip = 80 * time.Millisecond
		for _, first := range []bool{true, false} {
			for _, second := range []bool{true, false} {
				for _, far := range []bool{true, false} {
					a := nearAir(40)
					if far {
						a = newWindow(40)
						require.Equal(t, maxWidth, fly(&a, 1, trip))
					}
					f := a.depart([]*op{keyed(first)})
					a.index()
					now := time.Now()
					blocked, wait := a.blocks(keyed(second), now)
					follows := far && !first && second
					require.Equal(t, !follows, blocked)
					if follows {
						require.Equal(t, trip/8, wait)
						require.Equal(t, trip/2/maxWidth, a.wait(now), "flights are spread")
					} else {
						require.Zero(t, wait)
					}
					a.stick(f)
					a.index()
					blocked, _ = a.blocks(keyed(second), now)
					require.False(t, blocked, "nobody waits for a stuck flight")
					require.Empty(t, a.keys)
				}
			}
		}
	})
}

// A flight that failed or was stuck does not tell how far away the node is; nor may more be away than there are
// connections for.
func TestOnlyAnswersInTimeTellOfTheDistance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for what, c := range map[string]struct {
			end   landing
			stuck bool
		}{"failed": {failed, false}, "unsent": {unsent, false}, "stuck": {answered, true}} {
			a := newWindow(40)
			for range 2 * enough {
				f := a.depart(someOps(1))
				if c.stuck {
					a.stick(f)
				}
				time.Sleep(100 * time.Millisecond)
				a.land(f, c.end)
			}
			require.Zero(t, a.trips, what)
			require.Equal(t, 1, a.width, what)
		}
		few := newWindow(6)
		require.Equal(t, 3, fly(&few, 1, 100*time.Millisecond))
	})
}

// The shortest time of a period counts, and that of the period before.
func TestTheShortestTripOfTwoPeriodsCounts(t *testing.T) {
	var a window
	now := time.Now()
	measured := func(trip time.Duration) time.Duration {
		a.measure(trip, now)
		return a.trip
	}
	require.Equal(t, 30*time.Millisecond, measured(30*time.Millisecond))
	require.Equal(t, 20*time.Millisecond, measured(20*time.Millisecond))
	require.Equal(t, 20*time.Millisecond, measured(40*time.Millisecond))
	now = now.Add(periodLength)
	require.Equal(t, 20*time.Millisecond, measured(50*time.Millisecond))
	require.Equal(t, 10*time.Millisecond, measured(10*time.Millisecond))
	now = now.Add(periodLength)
	measured(50 * time.Millisecond)
	now = now.Add(periodLength)
	require.Equal(t, 50*time.Millisecond, measured(60*time.Millisecond), "it has moved away")
}

// What is removed, or not known, and what may come is told apart for each node, and outlives what is recorded of it later.
func TestWhatAFootprintRecords(t *testing.T) {
	g := &Group{nodes: make([]*node, 1)}
	f := g.NewFootprint()
	require.True(t, f.create(0))
	require.True(t, f.create(0))
	require.True(t, f.open(0), "it is under way")
	require.False(t, f.Gone())
	f.created(0, false, false, 0)
	f.created(0, true, true, 7)
	require.True(t, f.open(0), "the first may come later")
	require.True(t, f.Has(0))
	require.False(t, f.Forget(0, 3), "it is not the last one")
	require.Equal(t, uint64(7), f.Grant(0))
	require.True(t, f.create(0))
	f.created(0, false, true, 0)
	require.True(t, f.Has(0), "as before")
	require.True(t, f.open(0))
	require.True(t, f.create(0))
	f.Close()
	f.created(0, true, true, 8)
	f.removed(0, false)
	require.Equal(t, trace{}, f.traces[0])

	unknown := g.NewFootprint()
	unknown.create(0)
	unknown.created(0, false, false, 0)
	require.False(t, unknown.Gone())
	late, other := g.NewFootprint(), g.NewFootprint()
	late.create(0)
	late.Close()
	late.created(0, true, true, 1)
	require.True(t, other.Absorb(late))
	require.True(t, other.open(0), "it came after the end of its hold")
}
