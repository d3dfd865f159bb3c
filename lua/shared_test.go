package lua_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// forced marks a hold as ended by force, and ends it.
func forced(hold string, end lua.Call) []lua.Call {
	return calls(lua.Force{Keys: orders, Hold: hold, Life: time.Minute}.Call(), end)
}

// Whoever would extend a hold, or give it back, is told that it was ended by force.
func TestAHoldThatWasEndedByForceIsNotExtended(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		take, end lua.Call
		hold      string
		extends   []lua.Call
	}{
		"mutex":   {take(mine, ttl), end(mine, 0), mine, calls(extend(mine, longer, 7), restore(mine, 1<<52))},
		"writer":  {rwTry(writer), rwEnd(writer, 0), writer, calls(rwExtend(writer, longer, false), rwRestore(writer, 1<<52, false))},
		"reader":  {rwTry(reader), rwEnd(reader, 0), reader, calls(rwExtend(reader, longer, true), rwRestore(reader, 1<<52, true))},
		"permits": {permitTry(two), permitEnd(two, 0), two, calls(permitExtend(two, longer, "0-1"), permitRestore(two, 1<<52, "0-1"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(c.take)
			f.run(forced(c.hold, c.end)...)
			before := f.contents()
			for _, call := range c.extends {
				require.EqualValues(t, lua.ExtendForced, f.run(call), call.Script().Name)
			}
			require.Equal(t, before, f.contents())
		})
	}
}

// A hold that asks again for what it has lives for its TTL from then on, with all that belongs to it.
func TestWhoAsksAgainLivesForItsTTL(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		take, other lua.Call
		keys        []string
	}{
		"writer":           {rwTry(writer), rwTry(writer2), []string{orders.Lock}},
		"reader":           {rwTry(reader), rwTry(writer2), []string{orders.Lock, orders.Readers()}},
		"permit, alone":    {permitTry(all), permitTry(one), []string{orders.Lock, orders.Slots()}},
		"permits, several": {permitTry(two), permitTry(two2), []string{orders.Lock, orders.Slots(), orders.Permits(), orders.Free()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			if strings.HasSuffix(name, "several") {
				f.run(permitTry(one3)) // which expires
			}
			f.run(c.take)
			for range 3 {
				f.pass(ttl * 3 / 4)
				f.run(c.take)
				for _, key := range c.keys {
					require.GreaterOrEqual(t, f.memory.TTL(key), ttl, key)
				}
			}
			f.pass(ttl - time.Second)
			require.Equal(t, time.Second.Milliseconds(), first(f.run(c.other)))
		})
	}
}

// Signs of life keep the places of those that wait; who has none is told to ask for one.
func TestSignsOfLifeKeepThePlacesOfEveryKind(t *testing.T) {
	t.Parallel()
	for kind, k := range queued {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			holder, waiter := "b:1"+k.mark, "a:1"+k.mark
			if kind == "readers" {
				holder = writer2
			}
			f.run(k.ask(holder, proposal(0), 0), k.ask(waiter, proposal(0), 1))
			for range 10 {
				f.pass(life)
				require.Equal(t, []any{int64(0), waiter}, f.run(k.beat(waiter)))
			}
			require.NoError(t, f.client.ZScore(bg, orders.Queue(), waiter).Err())
			none, none2 := "c:7"+k.mark, "c:8"+k.mark
			require.Equal(t, []any{none, none2, int64(0), waiter}, f.run(k.beat(none, waiter, none2)))
			f.memory.Del(orders.Queue()) // as an eviction does
			require.Equal(t, []any{waiter, none}, f.run(k.beat(waiter, none)))
		})
	}
}

// A yield takes back what it was granted, and the word of it: also the token, as nobody was told it.
func TestAYieldLeavesNothingOfTheGrant(t *testing.T) {
	t.Parallel()
	for kind, k := range queued {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.setCounter(1000)
			hold := "a:1" + k.mark
			f.run(k.ask(hold, proposal(0), 1))
			require.NotEmpty(t, f.record(hold))
			f.run(k.yield(hold, proposal(0), 1))
			require.Empty(t, f.record(hold))
			require.False(t, f.memory.Exists(orders.Lock))
			n, _ := f.counter()
			if kind == "permits" { // whose tokens others may have had since
				require.EqualValues(t, 1001, n)
			} else {
				require.EqualValues(t, 1000, n)
			}
			f.run(k.yield(hold, proposal(0), 1))
			again, _ := f.counter()
			require.Equal(t, n, again, "once")
		})
	}
	f := freeze(t)
	f.setCounter(1000)
	f.run(rwTry(writer), rwUndo(writer))
	n, _ := f.counter()
	require.EqualValues(t, 1000, n, "nor does an attempt without a place that is undone")
}

// The time of one that reads is its own: the keys may live on for others, or by mistake.
func TestAReaderWhoseTimeIsOverHasNothing(t *testing.T) {
	t.Parallel()
	over := func() *frozen {
		f := freeze(t)
		f.run(rwTry(reader))
		f.keepAll()
		f.pass(ttl + time.Second)
		return f
	}
	f := over()
	require.Empty(t, f.inspect().Holder)
	require.Empty(t, f.inspect().Readers)
	require.EqualValues(t, 1, f.run(rwRepair(writer, false)), "nobody is in its way")
	require.Equal(t, writer, f.holder())
	require.EqualValues(t, lua.ExtendFree, over().run(rwRestore(writer, 1<<52, false)))

	f = freeze(t)
	require.EqualValues(t, 1, f.run(rwRepair(reader, true)))
	require.Equal(t, ttl, f.memory.TTL(orders.Lock))
	require.Equal(t, ttl, f.memory.TTL(orders.Readers()))
}

// Those that wait for a mutex that stays taken for a while are told when it would have been free.
func TestWhatStaysTakenIsTold(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(take(mine, ttl))
	f.heard()
	f.run(keep(mine, time.Second))
	require.Equal(t, []string{orders.Channel() + " " + mine + " kept"}, f.heard())
	f.run(keep(mine, 2*time.Second))
	require.Empty(t, f.heard(), "it is no longer than before")
}

// What is written about a hold goes with it.
func TestANoteGoesWithItsHold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ take, end lua.Call }{
		"mutex":  {take(mine, ttl), endNoted(mine)},
		"fair":   {try(mine), leaveNoted(mine)},
		"writer": {rwTry(mine + "w"), lua.RWRelease{RW: rw, Hold: mine + "w", Noted: true}.Call()},
	} {
		f := freeze(t)
		f.run(c.take)
		hold := f.holder()
		f.run(note(hold, "nightly export"))
		require.True(t, f.memory.Exists(orders.Note()), name)
		f.run(c.end)
		require.False(t, f.memory.Exists(orders.Note()), name)
	}
}
