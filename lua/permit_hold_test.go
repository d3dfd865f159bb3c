package lua_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

func (f *frozen) inspectPermits() lua.PermitInspected {
	f.t.Helper()
	in, err := lua.ParsePermitInspected(f.run(lua.PermitInspect{Permit: permit}.Call()))
	require.NoError(f.t, err)
	return in
}

// holds are those that an inspection tells of, with their slots.
func holds(in lua.PermitInspected) (all []string) {
	for _, h := range in.Holds {
		all = append(all, h.Hold+" "+string(h.Slots))
	}
	return all
}

// Whoever extends a hold, or gives it back, states its count, and has it and all that belongs to it live longer.
func TestTheCountOfPermitsIsStated(t *testing.T) {
	t.Parallel()
	counted := func(d time.Duration) lua.PermitExtend {
		e := permitHeld(two, d, 1<<52, "0-1")
		e.Count = 2
		return e
	}
	for name, c := range map[string]struct {
		before []lua.Call
		call   lua.Call
		want   lua.Extended
	}{
		"extend":               {calls(permitTry(two)), counted(longer).Call(), lua.ExtendDone},
		"extend, with others":  {calls(permitTry(two), permitTry(one2)), counted(longer).Call(), lua.ExtendDone},
		"restore, where it is": {calls(permitTry(two)), lua.PermitRestore{PermitExtend: counted(longer), Uptime: time.Second}.Call(), lua.ExtendDone},
		"restore":              {calls(permitTry(one2), permitEnd(one2, 0)), lua.PermitRestore{PermitExtend: counted(longer), Uptime: time.Second}.Call(), lua.ExtendBack},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(c.before...)
			require.EqualValues(t, c.want, f.run(c.call))
			require.Equal(t, "2", f.client.HGet(bg, orders.Lock, two).Val())
			for _, key := range []string{orders.Lock, orders.Slots(), orders.Permits(), orders.Free()} {
				if f.memory.Exists(key) {
					require.GreaterOrEqual(t, f.memory.TTL(key), longer, key)
				}
			}
			_, lives := f.counter()
			require.Equal(t, kept, lives)
			require.Equal(t, longer, f.inspectPermits().Holds[len(f.inspectPermits().Holds)-1].TTL)
			f.run(permitExtend(two, ttl, "0-1"))
			require.Equal(t, longer, f.inspectPermits().Holds[len(f.inspectPermits().Holds)-1].TTL, "a late one makes it no shorter")
		})
	}
}

// A hold of which this server has lost a part is not there: nothing confirms it.
func TestAHoldOfWhichAPartIsLostIsNotThere(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*frozen){
		"until when": func(f *frozen) { f.client.ZRem(bg, orders.Permits(), two) },
		"its count":  func(f *frozen) { f.client.HDel(bg, orders.Lock, two) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(permitTry(one2))
			f.pass(time.Second)
			f.run(permitTry(two))
			lose(f)
			require.EqualValues(t, lua.ExtendFree, f.run(permitExtend(two, longer, "1-2")))
			require.EqualValues(t, lua.ExtendFree, f.run(permitRestore(two, 1<<52, "1-2")), "what is left is no proof")
			require.EqualValues(t, 0, f.run(permitRepair(two, "1-2")))
			require.Equal(t, []string{one2 + " 0"}, holds(f.inspectPermits()))
		})
	}
}

// Whoever would extend a hold, or give it back, is told whether another has one of its slots: a hold that is alone, too,
// and not the hold itself.
func TestWhoHasTheSlotsOfAHoldIsKnown(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(one))
	require.EqualValues(t, lua.ExtendTaken, f.run(permitExtend(two2, ttl, "0-1")))
	require.EqualValues(t, lua.ExtendTaken, f.run(permitRestore(two2, 1<<52, "0-1")))
	require.EqualValues(t, 0, f.run(permitRepair(two2, "0-1")))
	require.EqualValues(t, lua.ExtendFree, f.run(permitExtend(two2, ttl, "1-2")))
	require.EqualValues(t, lua.ExtendBack, f.run(permitRestore(two2, 1<<52, "1-2")))
	require.Empty(t, f.permits(permitTry(one3)).Slots)

	const mine, other = "a:1p2/5", "b:1p1/5"
	f = freeze(t)
	f.run(permitTry(mine), permitTry(other))
	require.EqualValues(t, lua.ExtendFree, f.run(permitExtend(mine, ttl, "1 3")), "1 is its own")
	require.EqualValues(t, lua.ExtendTaken, f.run(permitExtend(mine, ttl, "1-2")))
	require.EqualValues(t, lua.ExtendFree, f.run(permitRestore(mine, 1<<52, "1 3")), "it has others here")
}

// A server vouches for a hold by its counter: that of the hold itself is no later one, and without a counter it knows
// nothing.
func TestACounterVouchesForPermits(t *testing.T) {
	t.Parallel()
	for counter, want := range map[int64]lua.Extended{0: lua.ExtendFree, 6: lua.ExtendBack, 7: lua.ExtendBack, 8: lua.ExtendFree} {
		f := freeze(t)
		if counter > 0 {
			f.setCounter(counter)
		}
		require.EqualValues(t, want, f.run(permitRestore(two, 7, "0-1")), counter)
	}
}

// A repair takes the hold out of the queue, and the counter falls for it no more than it is forgotten.
func TestARepairGivesAllThatBelongsToPermits(t *testing.T) {
	t.Parallel()
	for before, want := range map[int64]int64{7: 1 << 52, 1<<52 + 5: 1<<52 + 5} {
		f := freeze(t)
		f.run(permitTry("x:1p2/3"), permitAsk(two, proposal(0), 1), permitEnd("x:1p2/3", 0))
		f.setCounter(before)
		require.EqualValues(t, 1, f.run(permitRepair(two, "1-2")))
		counter, lives := f.counter()
		require.Equal(t, want, counter)
		require.Equal(t, kept, lives)
		require.Empty(t, f.client.ZRange(bg, orders.Queue(), 0, -1).Val())
		require.False(t, f.client.HExists(bg, orders.Waiters(), two).Val())
		require.Equal(t, ttl, f.inspectPermits().Holds[0].TTL)
		require.Equal(t, ttl, f.memory.TTL(orders.Lock))
		require.Greater(t, f.permits(permitTry(one2)).Token, int64(1<<52))
	}
}

// A fence knows the token that a hold has already, and by which round it was granted, and where it goes back to.
func TestWhatAFenceFinds(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	token := f.permits(permitTry(two)).Token
	require.EqualValues(t, 1, f.run(permitFence(two, token, "0-1")), "it has that")
	require.EqualValues(t, token, f.run(permitFence(two, token-1, "0-1")), "the counter is beyond it")
	require.EqualValues(t, 1, f.run(permitFence(two, 1<<52, "0-1")))
	counter, lives := f.counter()
	require.EqualValues(t, 1<<52, counter)
	require.Equal(t, kept, lives)
	f.memory.Del(orders.Token())
	require.EqualValues(t, 1, f.run(permitFence(two, 1<<52+9, "0-1")), "the clock is behind it")
	require.Equal(t, "4503599627370505 0-1", f.slots(two))

	f = freeze(t)
	f.run(permitAsk(two, proposal(5), 1), permitFence(two, 1<<52, "0-1"))
	require.Equal(t, "2 5", f.record(two))
	f.run(permitAsk(two, proposal(5), 3), permitFence(two, 1<<52+9, "0-1"))
	require.Equal(t, "3 5", f.record(two), "a round is never lowered")
}

// A reserve tells whether the tokens are the hold's alone, and whether anybody else is among the first who wait.
func TestWhatAReserveOfPermitsTells(t *testing.T) {
	t.Parallel()
	reserve := func(f *frozen, after, last int64) lua.PermitReserved {
		r, err := lua.ParsePermitReserved(f.run(permitReserve(all, after, last, "0-2")))
		require.NoError(t, err)
		return r
	}
	f := freeze(t)
	f.run(permitTry(all))
	for counter, alone := range map[int64]bool{99: true, 100: true, 101: false} {
		f.setCounter(counter)
		require.Equal(t, alone, reserve(f, 100, 100+counter).Alone, counter)
	}
	f.setCounter(100)
	for range 2 {
		require.Equal(t, lua.PermitReserved{Alone: true, Counter: 1 << 52}, reserve(f, 1<<51, 1<<52), "it finds them with the hold")
	}
	require.Equal(t, "4503599627370496 0-2", f.slots(all))
	_, lives := f.counter()
	require.Equal(t, kept, lives)
	f.run(permitTry(one))
	f.run(forced(all, permitEnd(all, 0))...)
	require.Equal(t, lua.PermitReserved{Gone: true, Forced: true}, reserve(f, 1, 2))

	for name, c := range map[string]struct {
		wait, at int // so many wait, and one of another client there
		others   bool
	}{
		"nobody": {0, -1, false}, "own": {50, -1, false}, "a crowd": {450, -1, false},
		"the first": {150, 0, true}, "the hundredth": {150, 99, true}, "the next one": {150, 100, false}, "the last": {50, 49, true},
	} {
		f := freeze(t)
		f.run(permitTry(all))
		for i := range c.wait {
			id := fmt.Sprintf("d:%dp1/3", i+10)
			if i == c.at {
				id = "d2:1p1/3"
			}
			f.run(permitAsk(id, proposal(0), 1))
		}
		require.Equal(t, c.others, reserve(f, 1<<51, 1<<52).Others, name)
		require.Equal(t, c.others, reserve(f, 1<<51, 1<<52).Others, name+", once more")
	}
}

// Whoever inspects permits is told of holds that are there, by what is known of each of them.
func TestWhatAnInspectionOfPermitsTells(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(one), permitCall(one3, 90*time.Second).Call(), permitEnd(one3, 0))
	require.Equal(t, ttl, f.inspectPermits().Holds[0].TTL, "the keys live for longer")
	f.run(permitTry(one2), permitNote(one2), permitAsk(two2, proposal(7), 1))
	f.pass(time.Second)
	f.run(permitAsk(two, proposal(0), 1), permitBeat(two2))
	f.pass(time.Second)
	in := f.inspectPermits()
	require.Equal(t, []string{one + " 0", one2 + " 1"}, holds(in))
	require.Equal(t, lua.Noted{}, in.Holds[0].Noted)
	require.Equal(t, lua.Noted{Label: "web-3", Text: "export", Age: 3 * time.Second}, in.Holds[1].Noted)
	require.Equal(t, ttl-2*time.Second, in.Holds[1].TTL)
	require.Equal(t, []lua.Waiting{{Hold: two2, Ticket: 7, Waited: 2 * time.Second}, {Hold: two, Ticket: 8, Waited: time.Second}}, in.Queue)
	require.Empty(t, in.Other)
	f.client.HDel(bg, orders.Waiters(), two)
	f.pass(life - time.Second)
	require.Empty(t, f.inspectPermits().Queue, "they are dead, or not known to live")
	f.keepAll()
	f.pass(ttl)
	require.Empty(t, f.inspectPermits().Holds, "their time is over")

	lost := func(lose func(*frozen)) lua.PermitInspected {
		f := freeze(t)
		f.run(permitTry(one), permitTry(one3))
		lose(f)
		return f.inspectPermits()
	}
	in = lost(func(f *frozen) { f.memory.Del(orders.Permits()) })
	require.Empty(t, in.Holds, "nobody knows until when")
	require.NotEmpty(t, in.Other)
	in = lost(func(f *frozen) { f.client.ZRem(bg, orders.Permits(), one) })
	require.Equal(t, []string{one3 + " 1"}, holds(in))
	require.Empty(t, in.Other, "it is of the same kind")
	require.Equal(t, []string{one3 + " 1"}, holds(lost(func(f *frozen) { f.client.HDel(bg, orders.Slots(), one) })))
	require.Equal(t, []string{one3 + " 1"}, holds(lost(func(f *frozen) { f.client.HDel(bg, orders.Lock, one) })))
	in = lost(func(f *frozen) { f.memory.Del(orders.Lock); f.run(take(mine, ttl)) })
	require.Empty(t, in.Holds)
	require.Equal(t, mine, in.Other)
}
