package lua_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	peers "github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// Whatever is taken and given back in whatever order, each gets the lowest slots that nobody has.
func TestTheLowestFreeSlotsAreGiven(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 0))
		f := freeze(t)
		const permits = 12
		taken := make(map[int]bool)
		held := make(map[string][]int)
		for i := range 150 {
			if len(held) > 0 && random.IntN(2) == 0 {
				ids := make([]string, 0, len(held))
				for id := range held {
					ids = append(ids, id)
				}
				slices.Sort(ids)
				id := ids[random.IntN(len(ids))]
				require.EqualValues(t, 1, f.run(permitEnd(id, 0)))
				for _, slot := range held[id] {
					delete(taken, slot)
				}
				delete(held, id)
				continue
			}
			n := 1 + random.IntN(4)
			id := fmt.Sprintf("a:%d%s", i, lua.PermitMark(n, permits))
			var want []int
			for slot := 0; slot < permits && len(want) < n; slot++ {
				if !taken[slot] {
					want = append(want, slot)
				}
			}
			got, err := lua.ParsePermitAcquired(f.run(permitTry(id)))
			require.NoError(t, err)
			if len(want) < n {
				require.Empty(t, got.Slots, "all or none")
				require.Zero(t, got.Token)
				continue
			}
			require.Equal(t, lua.SlotsOf(want), got.Slots)
			held[id] = want
			for _, slot := range want {
				taken[slot] = true
			}
		}
		for id := range held {
			f.run(permitEnd(id, 0))
		}
		require.Equal(t, []string{orders.Token()}, f.memory.Keys(), "no key stays")
	}
}

// What a script costs does not grow with the permits that it does not touch.
func TestTheCostOfAPermitDoesNotGrowWithOthers(t *testing.T) {
	t.Parallel()
	memory := miniredis.RunT(t)
	commands := 0
	memory.Server().SetPreHook(func(*peers.Peer, string, ...string) bool { commands++; return false })
	client := redis.NewClient(&redis.Options{Addr: memory.Addr(), Protocol: 2})
	t.Cleanup(func() { _ = client.Close() })
	run := func(c lua.Call) int {
		before := commands
		_, err := c.Run(bg, client)
		require.NoError(t, err)
		return commands - before
	}
	cost := func() int {
		const mine = "m:1p1/10000"
		n := 0
		for range 2 { // the second time the server knows the scripts
			n = run(permitTry(mine)) + run(permitExtend(mine, ttl, "")) + run(permitEnd(mine, 0))
		}
		return n
	}
	run(permitTry("a:1p1/10000"))
	few := cost()
	require.Greater(t, few, 20, "commands inside scripts are counted")
	for i := range 50 {
		run(permitTry(fmt.Sprintf("a:%dp100/10000", i+2)))
	}
	for i := range 20 { // so that there are gaps
		run(permitEnd(fmt.Sprintf("a:%dp100/10000", 2*i+2), 0))
	}
	require.InDelta(t, few, cost(), 2)
}

// A node tells whoever fits, in the order of the queue, and nobody behind one who does not.
func TestWhoIsToldOfAReleaseOfPermits(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.listeners = map[string]int{"lock:channel:a": 1, "lock:channel:b": 1, "lock:channel:c": 1}
	f.run(permitTry(all), permitAsk(one, proposal(0), 1), permitAsk(two2, proposal(0), 1), permitAsk(two, proposal(0), 1), permitAsk(one3, proposal(0), 1))
	f.heard()
	f.run(permitEnd(all, 0))
	require.Equal(t, []string{"lock:channel:a " + one + " " + all, "lock:channel:b " + two2 + " " + all}, f.heard())
	// The second one asks first: it gets the slots that are left when the first one has its own.
	got, err := lua.ParsePermitAcquired(f.run(permitAsk(two2, final(2), 2)))
	require.NoError(t, err)
	require.Equal(t, lua.Slots("1-2"), got.Slots)
	got, err = lua.ParsePermitAcquired(f.run(permitAsk(two, final(3), 2)))
	require.NoError(t, err)
	require.Zero(t, got.Token)
	got, err = lua.ParsePermitAcquired(f.run(permitAsk(one, final(1), 2)))
	require.NoError(t, err)
	require.Equal(t, lua.Slots("0"), got.Slots)
}

// Each hold has a deadline of its own: no renewal of others keeps it, by the node's clock.
func TestAPermitEndsWithItsOwnTTL(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(one), permitTry(one2))
	f.pass(ttl - time.Second)
	require.EqualValues(t, 1, f.run(permitExtend(one2, longer, "1")))
	f.run(permitTry(two))
	require.False(t, f.memory.Exists(orders.Queue()))
	f.pass(2 * time.Second)
	got, err := lua.ParsePermitAcquired(f.run(permitTry(two)))
	require.NoError(t, err)
	require.Equal(t, lua.Slots("0 2"), got.Slots)
	require.EqualValues(t, -1, f.run(permitExtend(one, longer, "0")), "it is gone, and another has its slot")
}

// A server that has lost a part of what it knew of the permits gives none until they have ended.
func TestWhoHasLostAPartOfThePermitsGivesNone(t *testing.T) {
	t.Parallel()
	for _, key := range []string{orders.Permits(), orders.Slots(), orders.Free()} {
		f := freeze(t)
		f.run(permitAsk(one, proposal(0), 1), permitTry(one3))
		f.memory.Del(key)
		got, err := lua.ParsePermitAcquired(f.run(permitTry(one2)))
		require.NoError(t, err)
		require.Zero(t, got.Token)
		require.Contains(t, []string{one, one3}, got.Holder)
		had := f.slots(one)
		f.run(permitAskFor(one, final(1), 2, "2"))
		require.Equal(t, had, f.slots(one), "nor others than it has")
		require.Zero(t, f.permits(permitTry(one2)).Token)
		f.run(permitEnd(one, 0), permitEnd(one3, 0))
		got, err = lua.ParsePermitAcquired(f.run(permitTry(one2)))
		require.NoError(t, err)
		require.Equal(t, lua.Slots("0"), got.Slots)
	}
}

// Nor does a minimum hold let others in there: until the other holds have ended, nobody can tell what is free.
func TestWhatStaysTakenWhereAPartIsLostLeavesNothingToOthers(t *testing.T) {
	t.Parallel()
	for key, then := range map[string]lua.Slots{orders.Permits(): "", orders.Free(): "1"} {
		f := freeze(t)
		f.run(permitTry(one), permitTry(one3))
		f.memory.Del(key)
		for range 2 {
			require.EqualValues(t, 1, f.run(permitKeep(one, time.Second)))
			require.Zero(t, f.permits(permitTry(one2)).Token)
		}
		f.run(permitEnd(one3, 0))
		require.Equal(t, then, f.permits(permitTry(one2)).Slots, "slot 0 stays taken")
		f.pass(ttl)
		require.NotZero(t, f.permits(permitTry("c:9p1/2")).Token)
	}
}

// The only hold lives as long as its key, and what the others need to know of it is written down when they come.
func TestAHoldThatIsAlone(t *testing.T) {
	t.Parallel()
	keys := []string{orders.Lock, orders.Slots(), orders.Token()}
	slices.Sort(keys)
	t.Run("it has two keys, and leaves none", func(t *testing.T) {
		t.Parallel()
		f := freeze(t)
		f.run(permitTry(two))
		require.Equal(t, keys, f.memory.Keys())
		f.pass(time.Second)
		require.EqualValues(t, 1, f.run(permitExtend(two, longer, "0-1")))
		require.Equal(t, longer, f.memory.TTL(orders.Lock))
		require.GreaterOrEqual(t, f.memory.TTL(orders.Slots()), longer)
		f.run(permitNote(two))
		require.EqualValues(t, 1, f.run(permitEnd(two, 0)))
		require.Equal(t, []string{orders.Token()}, f.memory.Keys())
	})
	t.Run("it ends with its own TTL when another has come", func(t *testing.T) {
		t.Parallel()
		f := freeze(t)
		f.run(permitTry(one))
		f.pass(ttl - time.Second)
		got, err := lua.ParsePermitAcquired(f.run(permitTry(two2)))
		require.NoError(t, err)
		require.Equal(t, lua.Slots("1-2"), got.Slots)
		f.pass(999 * time.Millisecond)
		got, err = lua.ParsePermitAcquired(f.run(permitTry(one3)))
		require.NoError(t, err)
		require.Zero(t, got.Token)
		require.Equal(t, time.Millisecond, got.TTL)
		f.pass(time.Millisecond)
		got, err = lua.ParsePermitAcquired(f.run(permitTry(one3)))
		require.NoError(t, err)
		require.Equal(t, lua.Slots("0"), got.Slots)
	})
	t.Run("who waits behind it waits for its end", func(t *testing.T) {
		t.Parallel()
		f := freeze(t)
		f.listeners = map[string]int{"lock:channel:b": 1}
		f.run(permitTry(two), permitAsk(two2, proposal(0), 1))
		require.Empty(t, f.heard())
		f.run(permitEnd(two, 0))
		require.Equal(t, []string{"lock:channel:b " + two2 + " " + two}, f.heard())
	})
	t.Run("without its slots nothing is given", func(t *testing.T) {
		t.Parallel()
		f := freeze(t)
		f.run(permitTry(one))
		f.memory.Del(orders.Slots())
		got, err := lua.ParsePermitAcquired(f.run(permitTry(one2)))
		require.NoError(t, err)
		require.Zero(t, got.Token)
		require.Equal(t, one, got.Holder)
	})
	t.Run("a mutex is no such hold", func(t *testing.T) {
		t.Parallel()
		f := freeze(t)
		f.run(permitTry(one))
		f.memory.Del(orders.Lock)
		f.run(take("x:1", ttl))
		got, err := lua.ParsePermitAcquired(f.run(permitTry(one2)))
		require.NoError(t, err)
		require.Equal(t, "x:1", got.Holder)
		f.run(permitEnd(one, 0))
		require.Equal(t, ttl, f.memory.TTL(orders.Lock))
	})
	t.Run("it is inspected", func(t *testing.T) {
		t.Parallel()
		f := freeze(t)
		f.run(permitTry(two))
		f.pass(time.Second)
		got, err := lua.ParsePermitInspected(f.run(lua.PermitInspect{Permit: permit}.Call()))
		require.NoError(t, err)
		require.Len(t, got.Holds, 1)
		require.Equal(t, two, got.Holds[0].Hold)
		require.Equal(t, lua.Slots("0-1"), got.Holds[0].Slots)
		require.Equal(t, ttl-time.Second, got.Holds[0].TTL)
		require.Empty(t, got.Other)
	})
}

// A release tells those who fit since then. Who fitted before has been told, unless he may have been without a
// connection.
func TestNobodyIsToldTwiceOfHisTurn(t *testing.T) {
	t.Parallel()
	holder := func(i int) string { return fmt.Sprintf("h:%dp1/4", i) }
	waiter := func(i int) string { return fmt.Sprintf("%c:1p1/4", 'a'+i) }
	said := func(i int, about string) string { return fmt.Sprintf("lock:channel:%c %s %s", 'a'+i, waiter(i), about) }
	start := func(t *testing.T, waiters int) *frozen {
		f := freeze(t)
		for i := range 4 {
			f.run(permitTry(holder(i)))
		}
		for i := range waiters {
			f.listen(fmt.Sprintf("lock:channel:%c", 'a'+i))
			f.run(permitAsk(waiter(i), proposal(0), 1))
		}
		f.heard()
		return f
	}
	t.Run("one release after the other", func(t *testing.T) {
		t.Parallel()
		f := start(t, 6)
		for i := range 4 {
			f.run(permitEnd(holder(3-i), 0))
			require.Equal(t, []string{said(i, holder(3-i))}, f.heard())
		}
	})
	t.Run("those who have come do not count", func(t *testing.T) {
		t.Parallel()
		f := start(t, 6)
		f.run(permitEnd(holder(2), 0), permitEnd(holder(0), 0))
		f.heard()
		f.run(permitAsk(waiter(1), final(2), 2)) // before the head
		f.run(permitEnd(holder(1), 0))
		require.Equal(t, []string{said(2, holder(1))}, f.heard())
	})
	t.Run("a big one behind a small one", func(t *testing.T) {
		t.Parallel()
		f := start(t, 1)
		big := "y:1p2/4"
		f.listen("lock:channel:y")
		f.run(permitAsk(big, proposal(0), 1), permitEnd(holder(1), 0))
		require.Equal(t, []string{said(0, holder(1))}, f.heard())
		f.run(permitEnd(holder(3), 0))
		require.Empty(t, f.heard(), "there is room for one of the two that it wants")
		f.run(permitEnd(holder(0), 0))
		require.Equal(t, []string{"lock:channel:y " + big + " " + holder(0)}, f.heard())
	})
	t.Run("who leaves lets in those behind it", func(t *testing.T) {
		t.Parallel()
		f := start(t, 3)
		f.run(permitEnd(holder(1), 0))
		f.heard()
		f.run(permitEnd(waiter(0), 0))
		require.Equal(t, []string{said(1, waiter(0))}, f.heard())
	})
	t.Run("who has died lets in those behind it", func(t *testing.T) {
		t.Parallel()
		f := start(t, 3)
		f.run(permitEnd(holder(1), 0))
		f.heard()
		f.pass(line.Life - 100*time.Millisecond)
		f.run(permitBeat(waiter(1), waiter(2)))
		f.heard()
		f.pass(200 * time.Millisecond)
		f.run(permitAsk(waiter(2), final(3), 2))
		require.Equal(t, []string{said(1, waiter(2)+" asked")}, f.heard())
	})
	t.Run("who may not have heard is told again", func(t *testing.T) {
		t.Parallel()
		f := start(t, 3)
		f.run(permitEnd(holder(1), 0))
		f.heard()
		f.pass(line.Life - 100*time.Millisecond)
		f.run(permitBeat(waiter(1), waiter(2)))
		f.heard()
		f.run(permitEnd(holder(2), 0))
		require.Equal(t, []string{said(0, holder(2)), said(1, holder(2))}, f.heard())
	})
	t.Run("a sign of life tells all again", func(t *testing.T) {
		t.Parallel()
		f := start(t, 3)
		f.run(permitEnd(holder(1), 0), permitEnd(holder(2), 0))
		f.heard()
		f.run(permitBeat(waiter(2)))
		require.Equal(t, []string{said(0, "beat"), said(1, "beat")}, f.heard())
	})
}

// In place of whoever does not listen as many others are told, wherever it stands.
func TestOthersAreToldInPlaceOfWhoDoesNotListen(t *testing.T) {
	t.Parallel()
	waiters := []string{"a:1p1/3", "b:1p1/3", "c:1p1/3", "d:1p1/3", "e:1p1/3"}
	for deaf := range 3 {
		f := freeze(t)
		f.run(permitTry(all))
		for _, id := range waiters {
			f.run(permitAsk(id, proposal(0), 1))
		}
		var want []string
		for i, id := range waiters {
			if i != deaf {
				f.listen(line.Channel + id[:1])
			}
			want = append(want, line.Channel+id[:1]+" "+id+" "+all)
		}
		f.heard()
		f.run(permitEnd(all, 0))
		require.Equal(t, want[:4], f.heard(), "the first three, and one more")
	}
}

// What is left of permits whose lock was deleted by hand is of nobody, and no permit is given on a name that
// another kind has taken since.
func TestPermitsWhoseLockWasDeleted(t *testing.T) {
	t.Parallel()
	for _, holds := range [][]string{{two}, {one, one3}} { // that of one alone has fewer keys
		f := freeze(t)
		for _, id := range holds {
			f.run(permitTry(id))
		}
		f.memory.Del(orders.Lock)
		f.run(take("x:1", ttl))
		got, err := lua.ParsePermitAcquired(f.run(permitTry(one2)))
		require.NoError(t, err)
		require.Zero(t, got.Token)
		require.Equal(t, "x:1", got.Holder)
		f.run(end("x:1", 0))
		got, err = lua.ParsePermitAcquired(f.run(permitTry(one2)))
		require.NoError(t, err)
		require.Equal(t, lua.Slots("0"), got.Slots)
	}
}

func TestSlotsAsText(t *testing.T) {
	t.Parallel()
	for text, list := range map[lua.Slots][]int{
		"": nil, "0": {0}, "0-1": {0, 1}, "0-3 7": {0, 1, 2, 3, 7}, "2 4 6-8": {2, 4, 6, 7, 8}, "9998-9999": {9998, 9999},
	} {
		require.Equal(t, list, text.List())
		require.Equal(t, text, lua.SlotsOf(list))
	}
	require.Nil(t, lua.Slots("x").List())
}

// A node that gave a hold other slots than a quorum did does not count for it: not for its renewals, nor for
// its token.
func TestAHoldIsExtendedOnlyWhereItHasItsSlots(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(one2), permitTry(one))
	require.EqualValues(t, -1, f.run(permitExtend(one, ttl, "0")), "another has it")
	require.EqualValues(t, 0, f.run(permitExtend(one, ttl, "2")), "it is free")
	require.EqualValues(t, 1, f.run(permitExtend(one, ttl, "1")))
	require.EqualValues(t, 0, f.run(permitFence(one, 1<<52, "2")))
	require.EqualValues(t, 1, f.run(permitRepair(one, "2")))
	require.EqualValues(t, 1, f.run(permitExtend(one, ttl, "2")))
	require.EqualValues(t, 0, f.run(permitRepair(one, "0")), "it loses what it has no right to all the same")
	require.EqualValues(t, -1, f.run(permitExtend(one, ttl, "0")))
	got, err := lua.ParsePermitAcquired(f.run(permitTry(two)))
	require.NoError(t, err)
	require.Equal(t, lua.Slots("1-2"), got.Slots)
}

func TestATryPassesNobodyWhoWaits(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(all), permitAsk(one, proposal(0), 1), permitEnd(all, 0))
	got, err := lua.ParsePermitAcquired(f.run(permitTry(one2)))
	require.NoError(t, err)
	require.Zero(t, got.Token, "though there is room for both")
	require.Equal(t, one, got.Head)
	got, err = lua.ParsePermitAcquired(f.run(permitAsk(one2, proposal(0), 1)))
	require.NoError(t, err)
	require.Equal(t, lua.Slots("1"), got.Slots, "who would wait has no need to")
}

func TestABigRequestAtTheHeadIsPassedByNobody(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitTry(one), permitAsk(all, proposal(0), 1))
	got, err := lua.ParsePermitAcquired(f.run(permitAsk(one2, proposal(0), 1)))
	require.NoError(t, err)
	require.Zero(t, got.Token, "though there is room for it")
	require.Equal(t, one, got.Holder)
	require.Equal(t, all, got.Head)
	f.run(permitEnd(all, 0))
	got, err = lua.ParsePermitAcquired(f.run(permitAsk(one2, final(2), 2)))
	require.NoError(t, err)
	require.Equal(t, lua.Slots("1"), got.Slots)
}

// Whoever gets other slots than before gets a token for them: somebody may have had them meanwhile.
func TestOtherSlotsComeWithAnotherToken(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(permitAsk(one, proposal(0), 1))
	other, err := lua.ParsePermitAcquired(f.run(permitTry(one2)))
	require.NoError(t, err)
	f.run(permitEnd(one2, 0))
	got, err := lua.ParsePermitAcquired(f.run(permitAskFor(one, proposal(0), 2, other.Slots)))
	require.NoError(t, err)
	require.Equal(t, other.Slots, got.Slots)
	require.Greater(t, got.Token, other.Token)
}

// Others may have had later tokens than the hold by which a node learns that its counter is gone.
func TestALostCounterOfPermitsGoesOnAtTheDate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given []lua.Call
		call  lua.Call
	}{
		"extend":                  {calls(permitTry(two)), permitExtend(two, longer, "0-1")},
		"restore, where it is":    {calls(permitTry(two)), permitRestore(two, 7, "0-1")},
		"repair":                  {nil, lua.PermitRepair{PermitExtend: permitHeld(two, ttl, 7, "0-1")}.Call()},
		"repair, others are here": {calls(permitTry(one)), lua.PermitRepair{PermitExtend: permitHeld(two, ttl, 7, "1-2")}.Call()},
		"fence":                   {calls(permitTry(two)), permitFence(two, 7, "0-1")},
		"reserve":                 {calls(permitTry(two)), permitReserve(two, 7, 9, "0-1")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(c.given...)
			f.pass(time.Second)
			f.memory.Del(orders.Token())
			f.run(c.call)
			counter, lives := f.counter()
			require.Equal(t, f.now.UnixMicro(), counter)
			require.Equal(t, kept, lives)
			if name != "reserve" { // a token of before, ahead of this node's clock, is no reason to fall behind
				return
			}
			f.memory.Del(orders.Token())
			reserved, err := lua.ParsePermitReserved(f.run(permitReserve(two, 1<<52, 1<<52+9, "0-1")))
			require.NoError(t, err)
			require.Equal(t, lua.PermitReserved{Alone: true, Counter: 1<<52 + 9}, reserved)
		})
	}
}

// The moment that waiters have to connect again begins for all of them that do not listen, not for one after the other.
func TestWaitersForPermitsThatHaveDiedAreWaitedForOnce(t *testing.T) {
	t.Parallel()
	for name, died := range map[string][]string{
		"each wants all": {"d:2p3/3", "d:3p3/3", "e:1p3/3", "f:1p3/3"},
		"each wants one": {"d:2p1/3", "d:3p1/3", "d:4p1/3", "d:5p1/3", "e:1p1/3", "f:1p1/3", "f:2p1/3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.listen(line.Channel + "a")
			f.run(permitTry(all))
			for _, hold := range died {
				f.run(permitAsk(hold, proposal(0), 1))
			}
			f.run(permitAsk(one, proposal(0), 1), permitEnd(all, 0))
			f.pass(301 * time.Millisecond)
			got, err := lua.ParsePermitAcquired(f.run(permitAsk(one, proposal(0), 2)))
			require.NoError(t, err)
			require.Equal(t, lua.SlotsOf([]int{0}), got.Slots)
		})
	}
}
