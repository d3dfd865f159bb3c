package lua_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// Many slots are taken, given back and compared one by one, however many commands that takes.
func TestManySlotsOfOneHold(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	slots := func(hold string) lua.Slots { return f.permits(permitTry(hold)).Slots }
	require.Equal(t, lua.Slots("0-1499"), slots("x:1p1500/4000"))
	require.Equal(t, lua.Slots("1500"), slots("x:2p1/4000"))
	f.run(permitEnd("x:1p1500/4000", 0))
	require.Equal(t, lua.Slots("0-1499"), slots("x:3p1500/4000"))
	require.Equal(t, lua.Slots("1501"), slots("x:6p1/4000"))
	f.run(permitEnd("x:3p1500/4000", 0))
	named := permitAskFor("x:4p1/4000", proposal(0), 1, "999")
	require.Equal(t, lua.Slots("999"), f.permits(named).Slots)
	require.Equal(t, lua.Slots("0-998 1000-1001"), f.permits(permitAskFor("x:5p1001/4000", proposal(0), 1, "0-1000")).Slots, "one of them is taken")
}

// Gaps are found however many there are, and whoever cannot have the slots that it names is told of all of them.
func TestManyGapsBetweenSlots(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	id := func(i int) string { return fmt.Sprintf("x:%dp1/100", i) }
	for i := range 80 {
		f.run(permitTry(id(i)))
	}
	var gaps []int
	for i := 0; i < 80; i += 2 {
		f.run(permitEnd(id(i), 0))
		gaps = append(gaps, i)
	}
	for i := range 20 {
		gaps = append(gaps, 80+i)
	}
	got := f.permits(permitAskFor("a:1p1/100", proposal(0), 1, "1"))
	require.Equal(t, lua.Slots("0"), got.Slots)
	require.Equal(t, lua.SlotsOf(gaps), got.Free)
	f.run(permitEnd("a:1p1/100", 0))
	require.Equal(t, lua.SlotsOf(gaps[:50]), f.permits(permitTry("a:2p50/100")).Slots)
}

// A server that has lost which slots are free gives none though some come back: it does not know whose the others are.
func TestWhatComesBackIsNotAllThatIsKnown(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(one), permitTry(one3))
	f.memory.Del(orders.Free())
	f.run(permitEnd(one, 0))
	require.Empty(t, f.permits(permitTry(one2)).Slots, "another has one")
}

// What is left of permits whose lock was deleted is taken away, and keeps nobody from others.
func TestNothingIsLeftOfPermitsWhoseLockWasDeleted(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(one), permitTry(one3), permitNote(one))
	f.memory.Del(orders.Lock)
	require.Equal(t, lua.Slots("0"), f.permits(permitTry(one2)).Slots)
	require.Equal(t, []string{one2}, f.client.HKeys(bg, orders.Slots()).Val())
	require.Equal(t, lua.Slots("1-2"), f.permits(permitTry(two)).Slots)
	require.Equal(t, []string{two + " 1-2", one2 + " 0"}, holds(f.inspectPermits()))
}

// A note goes with its hold, and is never from the future.
func TestANoteOfPermitsGoesWithItsHold(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(one), permitTry(two2), permitNote(one))
	require.NotEmpty(t, f.slots(one+" note"))
	require.NoError(t, f.client.HSet(bg, orders.Slots(), one+" note", "2000000000000000 web-3\nexport").Err())
	refused := permitCall(one3, ttl)
	refused.Noted = true
	require.Equal(t, lua.Noted{Label: "web-3", Text: "export"}, f.permits(refused.Call()).Noted)
	f.run(permitEnd(one, 0))
	require.Empty(t, f.slots(one+" note"))
}

// Those who waited for permits and died are passed from that moment on, and whoever finds it tells those behind them.
func TestWhoDiedWaitingForPermitsIsPassed(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(one), permitAsk(all, proposal(0), 1))
	f.pass(life)
	require.Equal(t, lua.Slots("1"), f.permits(permitTry(one2)).Slots, "at that very moment")

	// The one at the head has died; behind it waits one who fits.
	start := func(behind ...string) *frozen {
		f := freeze(t)
		f.run(permitTry("x:1p1/3"), permitTry("x:2p1/3"), permitTry("x:3p1/3"), permitAsk(two2, proposal(0), 1), permitAsk(one, proposal(0), 1))
		for _, hold := range behind {
			f.run(permitAsk(hold, proposal(0), 1))
		}
		f.run(permitEnd("x:1p1/3", 0))
		f.pass(life - time.Second)
		f.run(permitBeat(append(behind, one)...))
		f.pass(time.Second)
		return f
	}
	require.Equal(t, []string{message(one, one3+" asked")}, start().told(permitTry(one3)))
	require.Equal(t, []string{message(one, one3+" asked")}, start(all).told(permitTry(one3)))
	require.Equal(t, []string{message(one, "x:2p1/3")}, start().told(permitEnd("x:2p1/3", 0)), "it was in the way before")

	// Of several that seem to be dead, the first that will be dropped counts.
	f = freeze(t)
	f.run(permitTry(all), permitAsk(one, proposal(0), 1))
	f.pass(100 * time.Millisecond)
	f.run(permitAsk(one2, proposal(0), 1))
	f.pass(life - 200*time.Millisecond)
	f.run(permitEnd(all, 0))
	require.Equal(t, 100*time.Millisecond, f.permits(permitTry("c:9p3/3")).Dying)
}

// A lock of another kind is nobody's turn to have permits, whatever happens in the queue.
func TestALockOfAnotherKindIsNoTurnForPermits(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(take(mine, ttl), permitAsk(one, proposal(0), 1), permitAsk(one2, proposal(0), 1))
	require.Empty(t, f.told(permitEnd(one, 0)))
}

// Of waiters that do not listen, it is kept how long they have waited, and no life is prolonged.
func TestADeafWaiterForPermitsKeepsItsTimes(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(all), permitAsk(one, proposal(0), 1))
	f.pass(time.Second)
	f.run(permitEnd(all, 0))
	f.pass(reconnect / 2)
	require.Equal(t, []lua.Waiting{{Hold: one, Ticket: 1, Waited: time.Second + reconnect/2}}, f.inspectPermits().Queue)
	f.run(permitBeat(one2))
	f.pass(reconnect / 2)
	require.Empty(t, f.inspectPermits().Queue, "it has its moment once")
	f.run(permitTry("x:1p2/3"))
	require.Equal(t, lua.Slots("2"), f.permits(permitTry(one3)).Slots)
}

// Behind all that are let in at a time may be a place that has lost its sign of life: those behind it are told all the same,
// in place of one that does not listen.
func TestAPlaceWithoutASignOfLifeKeepsNobodyFromHearing(t *testing.T) {
	t.Parallel()
	const permits, lost = 18, 17
	f := freeze(t)
	holder := fmt.Sprintf("x:1p%d/%d", permits, permits)
	f.run(permitTry(holder))
	var want []string
	for i := range permits {
		client := fmt.Sprintf("c%d", i+1)
		id := fmt.Sprintf("%s:1p1/%d", client, permits)
		f.run(permitAsk(id, proposal(0), 1))
		if i > 0 && i+1 != lost {
			f.listen(line.Channel + client)
		}
		if i+1 == lost {
			f.memory.HDel(orders.Waiters(), id)
		}
		want = append(want, fmt.Sprintf("%s%s %s %s", line.Channel, client, id, holder))
	}
	f.heard()
	f.run(permitEnd(holder, 0))
	require.Equal(t, want, f.heard(), "the first does not listen, nor does the one without a sign")
}

// A client that does not listen is asked once, however many of its holds wait; and as many others are told as there are
// of those that fit, not of those in their place.
func TestAClientThatDoesNotListenIsAskedOnce(t *testing.T) {
	t.Parallel()
	id := func(client string) string { return client + ":1p1/3" }
	f := freeze(t)
	f.listen(line.Channel + "b")
	f.run(permitTry(all), permitAsk(one, proposal(0), 1), permitAsk("a:7p1/3", proposal(0), 1), permitAsk(one2, proposal(0), 1), permitEnd(all, 0))
	require.Equal(t, []string{message(one, all), message(one2, all)}, f.heard())

	f = freeze(t)
	f.run(permitTry("x:1p3/3"))
	for _, client := range []string{"a", "b", "c", "d", "e", "f"} {
		if client != "a" && client != "d" {
			f.listen(line.Channel + client)
		}
		f.run(permitAsk(id(client), proposal(0), 1))
	}
	f.run(permitEnd("x:1p3/3", 0))
	var want []string
	for _, client := range []string{"a", "b", "c", "d", "e"} {
		want = append(want, message(id(client), "x:1p3/3"))
	}
	require.Equal(t, want, f.heard())
}
