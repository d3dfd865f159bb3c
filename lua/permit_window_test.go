package lua_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// whole has all of forty permits.
const whole = "h:1p40/40"

// single is one who wants one of forty permits.
func single(i int) string { return fmt.Sprintf("w%02d:1p1/40", i) }

// crowd has so many wait for one of forty permits each, which another holds.
func crowd(t *testing.T, n int) *frozen {
	f := freeze(t)
	f.run(permitTry(whole))
	f.wait(n)
	return f
}

// wait has so many wait for one of forty permits each.
func (f *frozen) wait(n int) {
	for i := range n {
		f.listen(fmt.Sprintf("%sw%02d", line.Channel, i))
		f.run(permitAsk(single(i), proposal(0), 1))
	}
	f.heard()
}

// said are the messages to waiters about an event.
func said(about string, waiters ...int) (all []string) {
	for _, i := range waiters {
		all = append(all, fmt.Sprintf("%sw%02d %s %s", line.Channel, i, single(i), about))
	}
	return all
}

// However many fit, sixteen are let in at a time, or a server would do nothing but look at those who wait. Whatever takes
// one of them out of the queue lets in the next one.
func TestSixteenAreLetInAtATime(t *testing.T) {
	t.Parallel()
	f := crowd(t, 24)
	f.run(permitEnd(whole, 0))
	require.Equal(t, said(whole, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), f.heard())
	require.Zero(t, f.permits(permitAsk(single(16), final(17), 2)).Token)

	require.Equal(t, lua.Slots("3"), f.permits(permitAsk(single(3), final(4), 2)).Slots)
	require.Equal(t, said(single(3)+" in", 16), f.heard())
	require.Equal(t, lua.Slots("16"), f.permits(permitAsk(single(16), final(17), 2)).Slots)
	require.Equal(t, said(single(16)+" in", 17), f.heard())

	f.run(permitEnd(single(0), 0))
	require.Equal(t, said(single(0), 18), f.heard(), "one that has left")
	f.run(permitSettle(single(1)))
	require.Equal(t, said(single(1)+" settled", 19), f.heard(), "one that others have granted a permit")
	f.run(permitYield(single(2), final(99), 1))
	require.Equal(t, said(single(2)+" placed", 20), f.heard(), "one whose place is behind")
	f.run(permitRepair(single(4), "30"))
	require.Equal(t, said(single(4)+" repaired", 21), f.heard(), "one that others have granted a permit, which it has here now")
	f.run(permitAsk(single(22), final(23), 2))
	require.Empty(t, f.heard())
}

// Who gives back what it was granted, or loses its place to another, lets in those who have not been told that there is
// room for them, and nobody else.
func TestWhoHasBeenToldOfRoomIsNotToldAgain(t *testing.T) {
	t.Parallel()
	f := crowd(t, 3)
	f.run(permitEnd(whole, 0))
	f.heard()
	f.run(permitAsk(single(1), final(2), 2), permitYield(single(1), final(2), 2))
	require.Empty(t, f.heard(), "it gives back what it was granted")
	f.run(permitSettle(single(0)))
	require.Empty(t, f.heard(), "it has a permit elsewhere")
	f.run(permitYield(single(1), final(9), 1))
	require.Empty(t, f.heard(), "it waits behind another")
	f.run(permitEnd(single(1), 0))
	require.Empty(t, f.heard(), "it leaves")

	// There is room for one of them.
	late := "w01:2p1/40"
	start := func(c ...lua.Call) *frozen {
		f := freeze(t)
		f.run(permitTry("x:1p39/40"), permitTry("y:1p1/40"))
		f.wait(3)
		f.run(permitEnd("y:1p1/40", 0))
		f.run(c...)
		f.heard()
		return f
	}
	f = start()
	f.run(permitSettle(single(0)))
	require.Equal(t, said(single(0)+" settled", 1), f.heard())
	f = start()
	f.run(permitYield(single(0), final(9), 1))
	require.Equal(t, said(single(0)+" placed", 1), f.heard())
	f = start()
	f.run(permitEnd(single(0), 0))
	require.Equal(t, said(single(0), 1), f.heard())
	f = start(permitAsk(single(0), final(5), 2), permitAsk(late, final(1), 1))
	f.run(permitYield(single(0), final(5), 2))
	require.Equal(t, []string{line.Channel + "w01 " + late + " " + single(0) + " asked"}, f.heard(), "one that is before it now")
}

// A place that is settled may be before others, and one that could have no permit kept out those behind it, for whom there
// was room: each of these has its turn only by that, and is told.
func TestWhoHasATurnByAPlaceIsTold(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.listen(line.Channel + "w01")
	f.run(permitTry("x:1p37/40"), permitAsk("w00:1p9/40", proposal(5), 1), permitAsk(single(1), proposal(7), 1))
	require.Empty(t, f.heard(), "there is room for it, but not for the one before it")
	f.run(permitYield(single(1), final(3), 1))
	require.Equal(t, said(single(1)+" placed", 1), f.heard())

	few := "w01:1p1/3" // of three permits, of which it leaves one
	f = freeze(t)
	f.listen(line.Channel + "w00")
	f.listen(line.Channel + "w01")
	f.run(permitTry("x:1p2/3"), permitAsk("y:1p9/9", proposal(0), 1), permitAsk(single(0), proposal(0), 1), permitAsk(few, proposal(0), 1), permitEnd("y:1p9/9", 0))
	require.Equal(t, said("y:1p9/9", 0), f.heard())
	require.Equal(t, lua.Slots("30"), f.permits(permitAskFor(single(0), final(2), 2, "30")).Slots)
	require.Equal(t, []string{line.Channel + "w01 " + few + " " + single(0) + " in"}, f.heard())

	small := "w00:1p1/3" // of fewer permits
	for about, c := range map[string]lua.Call{"": permitEnd(small, 0), " settled": permitSettle(small), " repaired": permitRepair(small, "3")} {
		f := freeze(t)
		f.run(permitTry("x:1p3/3"))
		f.run(permitAsk(small, proposal(0), 1))
		f.listen(line.Channel + "w01")
		f.run(permitAsk(single(1), proposal(0), 1))
		require.Empty(t, f.heard())
		f.run(c)
		require.Equal(t, said(small+about, 1), f.heard())
	}
}

// However many of those who wait are dead, the next one that comes is let in.
func TestADeadCrowdKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	f := crowd(t, 40)
	f.pass(line.Life + time.Millisecond)
	f.run(permitEnd(whole, 0))
	require.Equal(t, lua.Slots("0"), f.permits(permitAsk("z:1p1/40", proposal(0), 1)).Slots)

	f = crowd(t, 40)
	f.run(permitEnd(whole, 0))
	f.pass(line.Life + time.Millisecond)
	require.Equal(t, lua.Slots("0"), f.permits(permitAsk("z:1p1/40", proposal(0), 1)).Slots)

	// Those who live behind them are let in as if they were not there.
	f = crowd(t, 38)
	f.pass(line.Life - time.Millisecond)
	for i := 19; i < 38; i++ {
		f.run(permitBeat(single(i)))
	}
	f.pass(2 * time.Millisecond)
	f.heard()
	f.run(permitEnd(whole, 0))
	require.Equal(t, said(whole, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34), f.heard())
}
