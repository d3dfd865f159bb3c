package lua_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// badCounter has the counter be no number.
func (f *frozen) badCounter() {
	f.t.Helper()
	require.NoError(f.t, f.client.Set(bg, orders.Token(), "many", 0).Err())
}

// More permits than there are is none, and a name that nobody has makes no difference.
func TestNobodyGetsMorePermitsThanThereAre(t *testing.T) {
	t.Parallel()
	require.Empty(t, freeze(t).permits(permitTry("a:1p4/3")).Slots)
	f := freeze(t)
	f.run(permitTry(one2))
	require.Empty(t, f.permits(permitTry("a:1p4/3")).Slots)
}

// Whoever gets no token gets no permits either: nothing of the grant stays, and other slots than before are given back.
func TestNoTokenIsNoPermit(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]lua.Call{"at once": permitTry(two), "with a round": permitAsk(two, proposal(0), 1)} {
		f := freeze(t)
		f.badCounter()
		_, err := call.Run(bg, f.client)
		require.ErrorContains(t, err, "not a number that can grow", name)
		require.Equal(t, "many", f.client.Get(bg, orders.Token()).Val(), name)
		require.False(t, f.memory.Exists(orders.Lock), name)
		require.False(t, f.memory.Exists(orders.Slots()), name)
		require.Empty(t, f.record(two), name)
	}

	f := freeze(t)
	f.run(permitAsk(one, proposal(0), 1))
	before := f.slots(one)
	f.badCounter()
	_, err := permitAskFor(one, proposal(0), 2, "1").Run(bg, f.client)
	require.ErrorContains(t, err, "not a number that can grow")
	require.Equal(t, before, f.slots(one))
	f.setCounter(7)
	require.Equal(t, lua.Slots("1"), f.permits(permitTry(one2)).Slots, "it still has 0")
}

// Under a guard, nobody gets a token from before the start of the server.
func TestAGuardHasTokensOfPermitsSkip(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{false, true} {
		f := freeze(t)
		f.setCounter(7) // of an old snapshot
		call := permitCall(one, ttl)
		call.Guard = time.Minute
		if waits {
			call.Wait, call.Round = true, 1
		}
		require.Greater(t, f.permits(call.Call()).Token, int64(1e14))
	}
}

// Slots that are asked for by name are given if they are free, also beside or to a hold that is alone.
func TestSlotsByName(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	call := permitCall(one, ttl)
	call.Slots = "2"
	require.Equal(t, lua.Slots("2"), f.permits(call.Call()).Slots, "of a name that nobody has")

	f = freeze(t)
	f.run(permitTry(one))
	require.Equal(t, lua.Slots("1-2"), f.permits(permitAskFor(two2, proposal(0), 1, "0-1")).Slots, "another has 0")

	f = freeze(t)
	f.run(permitTry(one))
	require.Equal(t, lua.Acquired{Token: 1e15 + 1, Slots: "1", Free: "1-2"}, f.permits(permitAskFor(one2, proposal(0), 1, "0")))

	f = freeze(t)
	f.run(permitTry(one))
	require.Equal(t, lua.Slots("0-2"), f.permits(permitAskFor(one, proposal(0), 2, "2")).Free, "it may have any")
}

// Whoever asks for other slots than it has gets them with what belongs to them: they are written down, the ones that it
// had are free for others, and so are those that it asked for if it cannot have them.
func TestOtherSlotsAreWrittenDown(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitAsk(two, proposal(5), 1))
	require.Equal(t, lua.Slots("1-2"), f.permits(permitAskFor(two, proposal(0), 2, "1-2")).Slots, "1 is its own")
	require.Equal(t, "1000000000000001 1-2", f.slots(two))
	require.Equal(t, "2 5", f.record(two), "the place to go back to stays")
	require.Equal(t, lua.Slots("0"), f.permits(permitTry(one2)).Slots)

	f = freeze(t)
	f.run(permitTry(one2), permitAsk(one, proposal(0), 1))
	require.Equal(t, lua.Slots("1"), f.permits(permitAskFor(one, proposal(0), 2, "0")).Slots, "another has 0")
	require.Equal(t, lua.Slots("2"), f.permits(permitTry(one3)).Slots)

	f = freeze(t)
	f.run(permitAsk(one, proposal(0), 1))
	f.memory.Del(orders.Permits())
	f.memory.Del(orders.Free()) // as if it was alone
	require.Equal(t, lua.Slots("2"), f.permits(permitAskFor(one, proposal(0), 2, "2")).Slots)
	require.Equal(t, lua.Slots("0"), f.permits(permitTry(one2)).Slots)
	require.Equal(t, lua.Slots("1"), f.permits(permitTry(one3)).Slots)
}

// Who comes is behind all that may yield what they were granted and come back, whoever of them was the last.
func TestWhoComesIsBehindThoseThatMayComeBack(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitAsk(one, proposal(5), 1), permitAsk(one2, proposal(0), 1), permitTry("a:7p1/3"))
	require.EqualValues(t, 6, f.permits(permitAsk(one3, proposal(0), 1)).Ticket)
	require.EqualValues(t, 7, f.permits(permitAsk(two, proposal(0), 1)).Ticket)

	f = freeze(t)
	f.run(permitAsk(one, proposal(5), 1), permitAsk(one2, proposal(0), 1))
	require.EqualValues(t, 6, f.run(permitYield(one2, proposal(0), 1)), "it had no place of its own")
}

// Who is let in by its final ticket as it comes does not wait any more.
func TestWhoIsLetInAsItComesHasNoPlace(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry("x:1p2/3"), permitAsk(two, final(5), 1))
	require.Equal(t, lua.Slots("2"), f.permits(permitAsk(one3, final(3), 2)).Slots)
	require.Equal(t, []string{two}, f.client.ZRange(bg, orders.Queue(), 0, -1).Val())
	require.False(t, f.client.HExists(bg, orders.Waiters(), one3).Val())
}

// What ends without a word is told by whoever finds it, granted or not: to those whose turn it is, but not to itself.
func TestWhoFindsAnEndTellsOthers(t *testing.T) {
	t.Parallel()
	expires := func(f *frozen) {
		f.keepAll() // as for another hold, which was released
		f.pass(1100 * time.Millisecond)
	}
	deleted := func(f *frozen) { f.memory.Del(orders.Lock) }
	brief := func(hold string) lua.Call { return permitCall(hold, time.Second).Call() }
	several := calls(brief("x:1p1/3"), brief("x:2p2/3"))
	for name, c := range map[string]struct {
		holds []lua.Call
		end   func(*frozen)
	}{
		"their time is over":               {several, expires},
		"their lock is deleted":            {several, deleted},
		"the lock of only one was deleted": {calls(brief("x:1p3/3")), deleted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := func(waits ...string) *frozen {
				f := freeze(t)
				f.listen(line.Channel + "d")
				f.run(c.holds...)
				for _, hold := range waits {
					f.run(permitAsk(hold, proposal(0), 1))
				}
				c.end(f)
				return f
			}
			require.Equal(t, []string{message(one2, one+" asked")}, start(one, one2, all).told(permitAsk(one, final(1), 2)))
			require.Empty(t, start(one, all).told(permitAsk(one, final(1), 2)), "there is no room for the other")
			f := start(two, one2, one3)
			require.Equal(t, []string{message(two, one3+" asked"), message(one2, one3+" asked")}, f.told(permitAsk(one3, final(3), 2)))
			const deaf = "y:1p2/3" // in its place others are told
			f = start(deaf, one2, one3, one)
			require.Equal(t, []string{message(deaf, one3+" asked"), message(one2, one3+" asked")}, f.told(permitAsk(one3, final(3), 2)))
		})
	}
}

// So it is if others have permits that last.
func TestWhoFindsAnEndTellsOthersWhileSomeLast(t *testing.T) {
	t.Parallel()
	start := func(waits ...string) *frozen {
		f := freeze(t)
		f.run(permitTry("x:1p1/3"), permitCall("x:2p2/3", time.Second).Call())
		for _, hold := range waits {
			f.run(permitAsk(hold, proposal(0), 1))
		}
		f.pass(1100 * time.Millisecond)
		return f
	}
	require.Equal(t, []string{message(one2, one+" asked")}, start(one, one2).told(permitAsk(one, final(1), 2)))
	require.Equal(t, []string{message(two, one2+" asked")}, start(two, one2).told(permitAsk(one2, final(2), 2)))
	f := freeze(t)
	f.run(permitTry("x:1p1/3"), permitCall("x:2p1/3", time.Second).Call(), permitTry("x:3p1/3"), permitAsk(one, proposal(0), 1), permitAsk(one2, proposal(0), 1))
	f.pass(1100 * time.Millisecond)
	require.Equal(t, []string{message(one, "x:3p1/3"), message(one2, "x:3p1/3")}, f.told(permitEnd("x:3p1/3", 0)), "a release finds it, too")
}

// Of a lock of another kind it is told who has it, how often, and for how long.
func TestPermitsAreRefusedBecauseOfAnotherKind(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(take(mine, ttl), lua.Extend{Keys: orders, Hold: mine, Count: 2, TTL: ttl, Token: 1, Retention: kept}.Call())
	f.pass(time.Second)
	require.Equal(t, lua.Acquired{Holder: mine, Count: 2, TTL: ttl - time.Second}, f.permits(permitTry(one)))
	require.EqualValues(t, lua.ExtendTaken, f.run(permitExtend(two, ttl, "0-1")))
	require.EqualValues(t, lua.ExtendTaken, f.run(permitRestore(two, 1<<52, "0-1")))
	require.EqualValues(t, 0, f.run(permitRepair(two, "0-1")))
}

// How long the first of them lasts is told in milliseconds, and never as nothing.
func TestTheRestOfAPermitIsToldToTheMillisecond(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(one), permitTry(two2))
	f.pass(ttl - 1500*time.Microsecond)
	require.Equal(t, 2*time.Millisecond, f.permits(permitTry(one3)).TTL)
	f.pass(1400 * time.Microsecond)
	require.Equal(t, time.Millisecond, f.permits(permitTry(one3)).TTL)
}
