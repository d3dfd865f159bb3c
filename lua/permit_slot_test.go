package lua_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

func (f *frozen) permits(call lua.Call) lua.Acquired {
	f.t.Helper()
	a, err := lua.ParsePermitAcquired(f.run(call))
	require.NoError(f.t, err)
	return a
}

// slots is what is written about a hold's token and slots.
func (f *frozen) slots(hold string) string { return f.client.HGet(bg, orders.Slots(), hold).Val() }

// Whoever asks for slots by name that it cannot have is told all that it could have: those that it has got, and those
// that are free.
func TestWhoCannotHaveTheSlotsItNamesIsToldWhichItCould(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry("x:1p1/5"), permitTry("x:2p1/5"), permitTry("x:3p1/5"), permitEnd("x:2p1/5", 0)) // 0 and 2 are taken
	got := f.permits(permitAskFor("a:1p1/5", proposal(0), 1, "2"))
	require.Equal(t, lua.Slots("1"), got.Slots)
	require.Equal(t, lua.Slots("1 3-4"), got.Free)
	got = f.permits(permitAskFor("a:2p1/5", proposal(0), 1, "4"))
	require.Equal(t, lua.Slots("4"), got.Slots)
	require.Empty(t, got.Free, "it has what it has named")

	f = freeze(t)
	f.run(permitTry("x:1p1/7"), permitTry("x:2p1/7"), permitTry("x:3p1/7"), permitEnd("x:2p1/7", 0)) // 0 and 2 are taken
	got = f.permits(permitAskFor("a:1p2/7", proposal(0), 1, "2 4"))
	require.Equal(t, lua.Slots("1 3"), got.Slots)
	require.Equal(t, lua.Slots("1 3-6"), got.Free, "all of its own among the free ones")
}

// A place that a quorum has settled may be before those that are in the way here.
func TestAPlaceThatIsSettledMayBeAHoldsTurn(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry("x:1p2/3"), permitAsk(two, final(5), 1), permitAsk(one2, proposal(9), 1))
	require.Empty(t, f.permits(permitAsk(one2, final(9), 2)).Slots, "who wants two is before it")
	require.Equal(t, lua.Slots("2"), f.permits(permitAsk(one2, final(3), 3)).Slots)
}

// A hold that has other slots here than everywhere else gives those back, whether or not it can have its own, and
// whoever fits in then is told.
func TestWhatARepairFreesIsTold(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(two), permitTry(one3), permitAsk(two2, proposal(0), 1)) // 0-1, 2
	f.listen(line.Channel + "b")
	f.heard()
	require.EqualValues(t, 0, f.run(permitRepair(two, "1-2")), "2 is another's")
	require.Equal(t, []string{message(two2, two+" repaired")}, f.heard())
	require.Equal(t, lua.Slots("0-1"), f.permits(permitAsk(two2, final(1), 2)).Slots)

	f = freeze(t)
	f.run(permitTry(one3), permitAsk(all, proposal(0), 1))
	f.listen(line.Channel + "d")
	f.heard()
	require.EqualValues(t, 1, f.run(permitRepair(two, "1-2")))
	require.Empty(t, f.heard(), "it has freed nothing")
}

// Whatever gives a hold its slots or its token writes both down.
func TestSlotsAndTokensAreWrittenDown(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(one2), permitEnd(one2, 0))
	require.EqualValues(t, lua.ExtendBack, f.run(permitRestore(two, 1<<52, "1-2")))
	require.Equal(t, "4503599627370496 1-2", f.slots(two))
	require.Equal(t, lua.Slots("0"), f.permits(permitTry(one2)).Slots)
	require.Empty(t, f.permits(permitTry(one3)).Slots, "none is left")

	f = freeze(t)
	f.run(permitTry(two))
	require.EqualValues(t, 1, f.run(permitFence(two, 1<<52, "0-1")))
	require.Equal(t, "4503599627370496 0-1", f.slots(two))
	require.Greater(t, f.permits(permitTry(one2)).Token, int64(1<<52))
}

// What people may know of a hold is told with a refusal, and only of a hold that is there.
func TestANoteOfPermitsIsTold(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(all), permitNote(all)) // it has been held for a second by then
	f.pass(2 * time.Second)
	refused := permitCall(one, ttl)
	require.Equal(t, lua.Noted{}, f.permits(refused.Call()).Noted, "it was not asked for")
	refused.Noted = true
	require.Equal(t, lua.Noted{Label: "web-3", Text: "export", Age: 3 * time.Second}, f.permits(refused.Call()).Noted)

	f.memory.Del(orders.Lock) // by hand
	f.client.HDel(bg, orders.Slots(), all+" note")
	before := f.contents()
	require.EqualValues(t, 0, f.run(permitNote(all)))
	require.Equal(t, before, f.contents())
}
