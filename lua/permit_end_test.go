package lua_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// companions are the keys of permits that several have.
var companions = []string{orders.Lock, orders.Slots(), orders.Permits(), orders.Free()}

// live is how long the keys of permits live, all of them.
func (f *frozen) live() time.Duration {
	f.t.Helper()
	lives := f.memory.TTL(orders.Lock)
	for _, key := range companions[1:] {
		require.GreaterOrEqual(f.t, f.memory.TTL(key), lives, key)
		require.LessOrEqual(f.t, f.memory.TTL(key), lives*3/2, key)
	}
	return lives
}

// What stays taken for a while has the slots of the hold, and no longer than that had them; nothing else is left of it.
func TestPermitsThatStayTaken(t *testing.T) {
	t.Parallel()
	lingers := two + lua.Lingers
	for name, others := range map[string][]lua.Call{"alone": nil, "with others": calls(permitTry(one2))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := func(c ...lua.Call) *frozen {
				f := freeze(t)
				f.listen(line.Channel + "c")
				f.run(permitTry(two), permitNote(two))
				f.run(others...)
				f.run(c...)
				f.heard()
				return f
			}
			f := start(permitKeep(two, time.Second))
			require.Equal(t, "0", f.client.HGet(bg, orders.Lock, lingers).Val())
			require.False(t, f.client.HExists(bg, orders.Lock, two).Val())
			require.Empty(t, f.slots(two))
			require.Empty(t, f.slots(two+" note"))
			require.NotEmpty(t, f.slots(lingers))
			require.Regexp(t, " web-3\nexport$", f.slots(lingers+" note"), "people see whose they were")
			require.ErrorContains(t, f.client.ZScore(bg, orders.Permits(), two).Err(), "nil")
			require.Equal(t, time.Second, f.permits(permitTry("c:1p2/3")).TTL)
			if others == nil {
				require.Equal(t, time.Second, f.live(), "another kind would find the lock taken")
			} else {
				require.Equal(t, ttl, f.live())
			}
			f.run(permitKeep(two, time.Millisecond))
			require.Equal(t, time.Millisecond, f.permits(permitTry("c:1p2/3")).TTL, "a later one may bring the end nearer")
			f.pass(time.Millisecond)
			require.Equal(t, lua.Slots("0-1"), f.permits(permitTry("c:1p2/3")).Slots)
			require.Empty(t, f.slots(lingers+" note"))

			f = start(permitKeep(two, longer))
			require.Equal(t, ttl, f.permits(permitTry(all)).TTL)

			// Whoever waits is told, and finds the end itself.
			f = start(permitAsk("c:1p2/3", proposal(0), 1))
			f.run(permitKeep(two, time.Second))
			require.Equal(t, []string{message("c:1p2/3", two+" kept")}, f.heard())
			require.Equal(t, ttl, f.live())
			f.run(permitKeep(two, time.Second), permitKeep(two, 2*time.Second))
			require.Empty(t, f.heard(), "it is no earlier than before")
			f = start(permitAsk("c:1p2/3", proposal(0), 1), permitKeep(two, longer))
			require.Empty(t, f.heard())
		})
	}
}

// A note is written of a hold that is there with its slots, and of no other.
func TestANoteOfPermitsIsOfAHoldThatIsThere(t *testing.T) {
	t.Parallel()
	for _, key := range []string{orders.Lock, orders.Slots()} {
		f := freeze(t)
		f.run(permitTry(two), permitTry(one2))
		f.client.HDel(bg, key, two)
		require.EqualValues(t, 0, f.run(permitNote(two)))
		require.Empty(t, f.slots(two+" note"))
	}
}

// Whatever a server has lost of permits, their end leaves nothing of them.
func TestTheEndOfPermitsLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, lost := range append(companions, orders.Queue(), orders.Waiters(), "") {
		for name, take := range map[string]lua.Call{"at once": permitTry(one), "with a round": permitAsk(one, proposal(5), 1)} {
			f := freeze(t)
			f.run(take, permitTry("x:1p2/3"), permitAsk(one3, proposal(0), 1), permitNote(one))
			f.memory.Del(lost)
			f.run(permitEnd(one3, 0), permitEnd("x:1p2/3", 0), permitEnd(one, 0))
			require.Equal(t, []string{orders.Token()}, f.memory.Keys(), "%s, without %s", name, lost)

			f = freeze(t)
			f.run(take, permitAsk(all, proposal(0), 1))
			f.memory.Del(lost)
			f.run(permitEnd(one, 0), permitEnd(all, 0))
			require.Equal(t, []string{orders.Token()}, f.memory.Keys(), "%s, without %s", name, lost)
		}
	}
	f := freeze(t)
	f.run(permitTry(one))
	require.NoError(t, f.client.HSet(bg, orders.Waiters(), one2+" round", "1 5").Err()) // of one that has expired
	f.run(permitEnd(one, 0))
	require.Equal(t, []string{orders.Token()}, f.memory.Keys())
}

// The end of one that has permits leaves the others what they have: how long, and what they may give back.
func TestTheEndOfAPermitLeavesOthersWhatTheyHave(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitAsk(one, proposal(0), 1), permitAsk(one2, proposal(0), 1), permitCall(one3, 5*ttl).Call())
	require.Equal(t, 5*ttl, f.live())
	f.run(permitExtend(two2, longer, "0"), permitExtend(one2, longer, "1"))
	f.run(permitEnd(one3, 0))
	require.Equal(t, longer, f.live(), "for as long as the last of them")
	require.Equal(t, "1 0", f.record(one))
	f.run(permitCall(one3, longer+ttl).Call(), permitEnd(one3, 0))
	require.Equal(t, longer+ttl, f.live(), "a little longer does no harm")

	f = freeze(t)
	f.run(permitTry(one), permitCall("x:1p2/3", 5*ttl).Call(), permitAsk(all, proposal(0), 1), permitEnd("x:1p2/3", 0))
	require.Equal(t, 5*ttl, f.live(), "whoever waits has to find what has ended")
}

// Those who joined one that was alone, for a shorter time, have keys that end with it.
func TestWhatIsWrittenDownOfOneThatWasAloneEndsWithIt(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(two), permitCall(one2, time.Second).Call())
	require.Equal(t, ttl, f.live())
	require.Equal(t, []string{one2 + " 2", two + " 0-1"}, holds(f.inspectPermits()))
}

// A mark voids a hold of permits for as long as it says, and those that are over go with the next.
func TestMarksOfPermitsLiveAsLongAsTheySay(t *testing.T) {
	t.Parallel()
	for name, with := range map[string][]lua.Call{"alone": nil, "with others": calls(permitTry(one3))} {
		f := freeze(t)
		f.run(with...)
		f.run(permitTry(one), permitEnd(one, marked))
		f.pass(marked / 2)
		f.run(permitEnd(one2, marked))
		f.pass(marked/2 - time.Millisecond)
		require.Equal(t, lua.Acquired{Void: true}, f.permits(permitTry(one)), "%s: until the last moment", name)
		f.pass(time.Millisecond)
		f.run(permitEnd(two, marked))
		marks, err := f.memory.ZMembers(orders.Void())
		require.NoError(t, err)
		require.ElementsMatch(t, []string{one2, two}, marks, name)
	}
}

// Who leaves tells nothing of what it did not have.
func TestWhoWasNotThereTellsNobody(t *testing.T) {
	t.Parallel()
	start := func() *frozen { // one is free, whose turn it is was told
		f := freeze(t)
		f.everyone()
		f.run(permitTry("x:1p2/3"), permitTry("x:2p1/3"), permitAsk(one, proposal(0), 1), permitAsk(one2, proposal(0), 1), permitEnd("x:2p1/3", 0))
		f.heard()
		return f
	}
	f := start()
	f.run(permitSettle(one3))
	require.Empty(t, f.heard(), "it did not wait")
	f = start()
	f.run(permitYield(one2, final(2), 1), permitYield(one, proposal(9), 1))
	require.Empty(t, f.heard(), "they stay where they are")
	require.EqualValues(t, 1, f.client.ZScore(bg, orders.Queue(), one).Val())
	f.run(permitYield(one, final(3), 1))
	require.NotEmpty(t, f.heard())
	f.run(permitYield(one, final(3), 1))
	require.Empty(t, f.heard(), "once")
}

// Who yields goes back to where it was before the others, and is not told what it knows.
func TestWhoYieldsPermitsIsBeforeThoseWhoCame(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.everyone()
	f.run(permitTry("x:1p3/3"), permitAsk(one, proposal(0), 1), permitAsk(two2, proposal(0), 1), permitAsk(one3, proposal(0), 1), permitEnd("x:1p3/3", 0))
	f.run(permitAsk(one, proposal(0), 2))
	f.heard()
	require.EqualValues(t, 1, f.run(permitYield(one, proposal(0), 2)))
	require.Equal(t, fmt.Sprint([]string{one, two2, one3}), fmt.Sprint(f.client.ZRange(bg, orders.Queue(), 0, -1).Val()))
	require.Equal(t, []string{message(two2, one+" asked")}, f.heard())
	require.Empty(t, f.slots(one))
}

// However many have come to their end at once, all of them are over.
func TestThoseWhoseTimeIsOverAreOverTogether(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(one), permitTry(one2), permitTry(one3))
	f.keepAll()
	f.pass(ttl)
	require.Equal(t, lua.Slots("0-2"), f.permits(permitTry(all)).Slots, "at that very moment")
	require.Equal(t, []string{all + " 0-2"}, holds(f.inspectPermits()))
}

// Without both zsets several are not one that is alone, nor is one whose key has no end.
func TestWhoIsAloneIsKnown(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(one), permitTry(one3))
	f.memory.Del(orders.Permits())
	f.memory.Del(orders.Free())
	require.Empty(t, f.permits(permitTry(one2)).Slots)

	f = freeze(t)
	f.run(permitTry(one))
	f.client.Persist(bg, orders.Lock) // by hand
	require.Empty(t, f.permits(permitTry(one2)).Slots)

	f = freeze(t)
	f.run(permitTry(one2))
	require.EqualValues(t, lua.ExtendTaken, f.run(permitExtend(one, longer, "0")), "that of another is not its own")
	require.Equal(t, ttl, f.inspectPermits().Holds[0].TTL)
}
