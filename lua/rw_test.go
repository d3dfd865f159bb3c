package lua_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// told runs calls and returns what clients were told.
func (f *frozen) told(calls ...lua.Call) []string {
	f.t.Helper()
	for _, client := range []string{"a", "b", "c"} {
		f.listen(line.Channel + client)
	}
	f.heard()
	f.run(calls...)
	return f.heard()
}

// message is what the client of the hold called id is told.
func message(id, about string) string { return line.Channel + id[:1] + " " + id + " " + about }

func (f *frozen) rw(call lua.Call) lua.Acquired {
	f.t.Helper()
	a, err := lua.ParseRWAcquired(f.run(call))
	require.NoError(f.t, err)
	return a
}

func TestThoseWhoReadStandTogetherAndEnterTogether(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(writer2), rwAsk(reader, proposal(0), 1), rwAsk(reader2, proposal(0), 1), rwAsk(writer, proposal(0), 1), rwAsk(reader3, proposal(0), 1))
	require.Equal(t, []string{message(reader, writer2), message(reader2, writer2)}, f.told(rwEnd(writer2, 0)), "those before the first that writes")
	a := f.rw(rwAsk(reader3, final(4), 2))
	require.Zero(t, a.Token, "one that writes is before it")
	require.Equal(t, writer, a.Head)
	// The second one may be first to come.
	a = f.rw(rwAsk(reader2, final(2), 2))
	require.EqualValues(t, 1<<52, a.Token)
	require.EqualValues(t, 3, a.Waiter)
	require.EqualValues(t, 1<<52, f.rw(rwAsk(reader, final(1), 2)).Token)
	a = f.rw(rwAsk(writer, final(3), 2))
	require.Zero(t, a.Token)
	require.True(t, a.Reads)
	require.Empty(t, f.told(rwEnd(reader, 0)), "the other one still reads")
	require.Equal(t, []string{message(writer, reader2)}, f.told(rwEnd(reader2, 0)))
	require.EqualValues(t, 1<<52+1, f.rw(rwAsk(writer, final(3), 3)).Token)
}

// Whoever comes to a node with its ticket may be before all that wait there, and then it is its turn at once.
func TestOneThatComesWithItsTicketIsBeforeThoseWhoCameLater(t *testing.T) {
	t.Parallel()
	for _, id := range []string{writer, reader} {
		f := freeze(t)
		f.run(rwTry(third+"w"), rwAsk(writer2, final(5), 1), rwEnd(third+"w", 0))
		require.Positive(t, f.rw(rwAsk(id, final(3), 2)).Token, id)
		require.Equal(t, writer2, f.rw(rwAsk(third+"w", proposal(0), 1)).Head)
	}
}

func TestOneThatWaitsToWriteTellsThoseWhoRead(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(reader), rwTry(reader2))
	require.Equal(t, []string{message(reader, "waits"), message(reader2, "waits")}, f.told(rwAsk(writer, proposal(0), 1)))
	require.Empty(t, f.told(rwAsk(writer, final(1), 2)), "once")
	// Those who wait to read are told, too, of one that is behind them.
	f.run(rwAsk(reader3, proposal(0), 1))
	require.Contains(t, f.told(rwAsk(writer2, proposal(0), 1)), message(reader3, "waits"))
	f.run(rwEnd(reader3, 0), rwEnd(writer2, 0))
	l, err := lua.ParseLooked(f.run(rwLook(reader)))
	require.NoError(t, err)
	require.Equal(t, lua.Looked{Writer: true}, l)
	f.run(rwEnd(writer, 0))
	l, err = lua.ParseLooked(f.run(rwLook(reader)))
	require.NoError(t, err)
	require.Equal(t, lua.Looked{}, l)
	f.run(rwEnd(reader, 0))
	l, err = lua.ParseLooked(f.run(rwLook(reader)))
	require.NoError(t, err)
	require.Equal(t, lua.Looked{Gone: true}, l)
}

func TestOneThatStopsWaitingToWriteLetsThoseBehindItRead(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(reader), rwAsk(writer, proposal(0), 1), rwAsk(reader2, proposal(0), 1), rwAsk(reader3, proposal(0), 1))
	require.Equal(t, []string{message(reader2, writer), message(reader3, writer)}, f.told(rwEnd(writer, 0)))
}

func TestADowngradeLetsThoseAtTheHeadRead(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(writer), rwAsk(reader, proposal(0), 1), rwAsk(writer2, proposal(0), 1))
	require.Equal(t, []string{message(reader, writer+" reads")}, f.told(rwExtend(writer, ttl, true)))
	require.Empty(t, f.told(rwExtend(writer, ttl, true)))
	require.EqualValues(t, 7, f.rw(rwAsk(reader, final(1), 2)).Token, "that of who wrote last")
	require.Zero(t, f.rw(rwAsk(writer2, final(2), 2)).Token)
}

// Each hold that reads has a deadline of its own, by the node's clock.
func TestARenewalKeepsNobodyElse(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTake(reader, 10*time.Second), rwTake(reader2, 10*time.Second))
	f.pass(6 * time.Second)
	f.run(rwExtend(reader, 10*time.Second, true))
	f.pass(5 * time.Second) // the other one has been dead for a second
	in, err := lua.ParseInspected(f.run(lua.Inspect{Keys: orders}.Call()))
	require.NoError(t, err)
	require.Equal(t, []lua.Reading{{Hold: reader, TTL: 5 * time.Second}}, in.Readers)
	require.Equal(t, 5*time.Second, in.TTL)
	done, err := lua.ParseExtended(f.run(rwExtend(reader2, 10*time.Second, true)))
	require.NoError(t, err)
	require.Equal(t, lua.ExtendFree, done)
	a := f.rw(rwTry(writer))
	require.Equal(t, reader, a.Holder)
	require.Equal(t, 5*time.Second, a.TTL)
	f.pass(5 * time.Second)
	require.Positive(t, f.rw(rwTry(writer)).Token)
}

func TestALaterOneThatReadsForLessTimeEndsNobody(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTake(reader, 30*time.Second), rwTake(reader2, 2*time.Second))
	f.pass(3 * time.Second)
	require.Equal(t, reader, f.rw(rwTry(writer)).Holder)
	require.Equal(t, 27*time.Second, f.memory.TTL(orders.Lock))
	f.run(rwTake(reader2, 2*time.Second), rwEnd(reader, 0))
	require.Equal(t, 2*time.Second, f.memory.TTL(orders.Lock), "the keys live for as long as who is left")
	require.Equal(t, 2*time.Second, f.memory.TTL(orders.Readers()))
}

func TestDeadWaitersThatReadHoldUpNobodyBehindThem(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTake(writer2, time.Minute), rwAsk(reader, proposal(0), 1), rwAsk(writer, proposal(0), 1), rwAsk(reader2, proposal(0), 1))
	f.pass(life + time.Second)
	f.run(rwBeat(reader2), rwEnd(writer2, 0))
	a := f.rw(rwAsk(reader2, final(3), 2))
	require.Positive(t, a.Token)
	require.Zero(t, a.Waiter, "it is dead")
	require.Empty(t, f.memory.Exists(orders.Queue()))
}

// What is left of the zset alone says nothing: the hash is what counts.
func TestWhatIsLeftOfThoseWhoReadIsNoHold(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(reader))
	f.memory.Del(orders.Lock)
	require.Positive(t, f.rw(rwTry(writer)).Token)
	require.False(t, f.memory.Exists(orders.Readers()))
	require.Zero(t, f.rw(rwTry(reader2)).Token)
}

func TestNobodyVouchesForOneThatWrites(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(reader), rwEnd(reader, 0))
	for call, want := range map[*lua.Call]lua.Extended{
		new(rwRestore(writer, 1<<52, false)): lua.ExtendFree,
		new(rwRestore(reader2, 1, true)):     lua.ExtendFree,
		new(rwRestore(reader, 1<<52, true)):  lua.ExtendBack,
	} {
		got, err := lua.ParseRestored(f.run(*call))
		require.NoError(t, err)
		require.Equal(t, want, got)
		f.run(rwEnd(reader, 0))
	}
}

// A crowd of one's own process is nobody else, however large it is. Whoever is far behind it has time.
func TestACrowdOfItsOwnDoesNotMakeAWriterStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait, at int // so many wait, and one of another client there
		others   bool
	}{
		"nobody": {0, -1, false}, "own": {50, -1, false}, "a crowd": {1200, -1, false},
		"the first": {150, 0, true}, "the second page": {150, 4, true}, "the last page": {310, 303, true}, "far behind": {310, 304, false},
	} {
		f := freeze(t)
		f.run(rwTry(writer2))
		for i := range c.wait {
			id := fmt.Sprintf("b:%dw", i+10)
			if i == c.at {
				id = "z:1w"
			}
			f.run(rwAsk(id, proposal(0), 1))
		}
		r, err := lua.ParseRWReserved(f.run(rwReserve(writer2, 1<<52)))
		require.NoError(t, err)
		require.Equal(t, lua.RWReserved{Others: c.others}, r, name)
		require.Equal(t, c.others, f.rw(rwAsk(writer2, proposal(0), 1)).Waiter > 0, name)
	}
}

// One that writes is told of others: by the grant, of who waits already; by a message, of who begins to; and by the
// answer when its process reserves tokens.
func TestOneThatWritesIsToldWhoElseWaits(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	const own = "b:3r"
	reserved := func() lua.RWReserved {
		r, err := lua.ParseRWReserved(f.run(rwReserve(writer2, 1<<52+9)))
		require.NoError(t, err)
		return r
	}
	require.Equal(t, lua.RWReserved{Gone: true}, reserved())
	require.Zero(t, f.rw(rwAsk(writer2, proposal(0), 1)).Waiter)
	require.Equal(t, lua.RWReserved{}, reserved())
	require.Empty(t, f.told(rwAsk(own, proposal(0), 1)), "it is of the same process")
	require.Equal(t, lua.RWReserved{}, reserved())
	require.Equal(t, []string{message(writer2, "waits")}, f.told(rwAsk(reader, proposal(0), 1)))
	require.Empty(t, f.told(rwAsk(reader, final(2), 2)), "once")
	require.Equal(t, lua.RWReserved{Others: true}, reserved())
	token, err := f.memory.Get(orders.Token())
	require.NoError(t, err)
	require.Equal(t, "4503599627370505", token)
	require.EqualValues(t, 2, f.rw(rwAsk(writer2, proposal(0), 1)).Waiter, "the second run of a grant tells the same")

	f.pass(life + time.Second)
	f.run(rwBeat(own))
	require.Equal(t, lua.RWReserved{}, reserved(), "the other one is dead")
	f.run(rwExtend(writer2, ttl, true))
	require.Equal(t, lua.RWReserved{Reads: true}, reserved())
	f.run(rwEnd(writer2, 0), lua.Force{Keys: orders, Hold: writer2, Life: marked}.Call())
	require.Equal(t, lua.RWReserved{Gone: true, Forced: true}, reserved())
	for _, reply := range []any{nil, "1", int64(2), int64(-4)} {
		_, err := lua.ParseRWReserved(reply)
		require.Error(t, err)
	}
}

// However many of its own process wait before it.
func TestOneOfAnotherClientIsFoundBehindMany(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(writer2))
	for i := range 250 {
		f.run(rwAsk(fmt.Sprintf("b:%dw", i+10), proposal(0), 1))
	}
	r, err := lua.ParseRWReserved(f.run(rwReserve(writer2, 1)))
	require.NoError(t, err)
	require.False(t, r.Others)
	f.run(rwAsk(reader, proposal(0), 1))
	r, err = lua.ParseRWReserved(f.run(rwReserve(writer2, 1)))
	require.NoError(t, err)
	require.True(t, r.Others)
}

// What lingers of one that wrote is of nobody whom a message could concern.
func TestWhatLingersIsToldNothing(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(writer2), rwKeep(writer2, time.Second))
	require.Empty(t, f.told(rwAsk(reader, proposal(0), 1)))
}

// Whoever reads is to have the token of who wrote last. A counter falls to it only if nobody else can have been
// told a greater one by this node.
func TestACounterFallsOnlyAsFarAsItMay(t *testing.T) {
	t.Parallel()
	const now, late = 1e15, 1 << 52 // by the node's clock; that of another hold
	write := func(token int64) lua.Call { return lua.RWRelease{RW: rw, Hold: writer, Token: token}.Call() }
	first := calls(rwTry(writer))
	second := calls(rwTry(writer2), rwEnd(writer2, 0), rwTry(writer)) // and another had late
	for name, c := range map[string]struct {
		before  []lua.Call // the last one that grants the lock grants it to writer
		end     lua.Call
		counter int64 // afterwards
	}{
		"it was the first to count":     {first, write(now - 5), now - 5},
		"it was the first, and has one": {append(first, rwReserve(writer, now+40)), write(now - 5), now - 5},
		"it has a reserve":              {append(second, rwReserve(writer, late+40)), write(late + 3), late + 3},
		"it has two":                    {append(second, rwReserve(writer, late+40), rwReserve(writer, late+80)), write(late + 41), late + 41},
		"it was late":                   {second, write(late - 5), late + 1},
		"it was late, and has one":      {append(second, rwReserve(writer, late+40)), write(late - 5), late + 1},
		"it counted less":               {second, write(late + 9), late + 9},
		"it stays taken":                {first, lua.RWKeep{RW: rw, Hold: writer, For: time.Second, Token: now - 5}.Call(), now - 5},
		"it reads from then on":         {first, lua.RWExtend{RW: rw, Hold: writer, Count: 1, TTL: ttl, Token: now - 5, Retention: kept, Reads: true}.Call(), now - 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(c.before...)
			f.run(c.end, c.end)
			counter, err := f.client.Get(bg, line.Keys.Token()).Int64()
			require.NoError(t, err)
			require.Equal(t, c.counter, counter)
			require.Empty(t, f.client.HKeys(bg, line.Keys.Waiters()).Val())
		})
	}
}

// The hold of a node that gets it back may have expired there, and others have had the lock since. So may the one
// that a waiter was granted by an earlier request.
func TestAHoldThatIsGivenBackKnowsNoFloor(t *testing.T) {
	t.Parallel()
	const now, others = 1e15, 1 << 52
	for name, again := range map[string]lua.Call{
		"by a repair":        rwRepair(writer, false),
		"by another request": rwAsk(writer, proposal(0), 2),
		"by a late try":      rwTry(writer),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(rwAsk(writer, proposal(0), 1))
			require.Equal(t, "0", f.client.HGet(bg, line.Keys.Waiters(), writer+" floor").Val())
			require.NoError(t, f.client.Del(bg, line.Keys.Lock).Err()) // as when it expires
			f.run(rwTry(writer2), rwEnd(writer2, 0), again)
			f.run(lua.RWRelease{RW: rw, Hold: writer, Token: now + 3}.Call())
			counter, err := f.client.Get(bg, line.Keys.Token()).Int64()
			require.NoError(t, err)
			require.GreaterOrEqual(t, counter, int64(others))
		})
	}
}

func TestAFloorLastsAsLongAsItsHold(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(writer))
	for range 3 {
		f.pass(ttl * 9 / 10)
		f.run(rwExtend(writer, ttl, false))
	}
	require.Equal(t, "0", f.client.HGet(bg, line.Keys.Waiters(), writer+" floor").Val())
	f.run(rwEnd(writer, 0))
	require.Empty(t, f.client.HKeys(bg, line.Keys.Waiters()).Val())
}

func TestAFloorThatCannotBeWrittenDoesNoHarm(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	require.NoError(t, f.client.Set(bg, line.Keys.Waiters(), "of another program", 0).Err())
	require.EqualValues(t, 1e15, f.rw(rwTry(writer)).Token)
	require.Equal(t, map[string]string{writer: "1"}, f.client.HGetAll(bg, line.Keys.Lock).Val())
	require.Negative(t, f.client.TTL(bg, line.Keys.Waiters()).Val(), "it does not expire")
}

func TestALookTellsOfForce(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(reader))
	f.run(forced(reader, rwEnd(reader, 0))...)
	l, err := lua.ParseLooked(f.run(rwLook(reader)))
	require.NoError(t, err)
	require.Equal(t, lua.Looked{Gone: true, Forced: true}, l)
}

// Who gets the lock back on a node where the hash was deleted is not among those who read before.
func TestWhatIsLeftOfThoseWhoReadIsNoHoldBesideOneThatIsRepaired(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(reader))
	f.memory.Del(orders.Lock)
	require.EqualValues(t, 1, f.run(rwRepair(writer, false)))
	require.Zero(t, f.rw(rwTry(reader2)).Token, "one writes")

	f = freeze(t)
	f.run(rwTry(reader))
	f.memory.Del(orders.Lock)
	require.EqualValues(t, lua.ExtendBack, f.run(rwRestore(reader2, 1<<52, true)))
	require.Equal(t, []string{reader2}, f.client.ZRange(bg, orders.Readers(), 0, -1).Val())
}

// A repair lowers no counter.
func TestARepairOfOneThatReadsOrWritesLowersNoCounter(t *testing.T) {
	t.Parallel()
	for _, reads := range []bool{false, true} {
		f := freeze(t)
		require.NoError(t, f.client.Set(bg, orders.Token(), int64(1<<52+500), 0).Err())
		hold := writer
		if reads {
			hold = reader
		}
		require.EqualValues(t, 1, f.run(rwRepair(hold, reads)))
		require.EqualValues(t, 1<<52+500, must(f.client.Get(bg, orders.Token()).Int64()))
	}
}

// A dead one that waits to write keeps nobody from a lock that nobody has, if it is behind others, too.
func TestADeadWriterBetweenThoseWhoReadIsNoBarrier(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTake(writer2, time.Minute), rwAsk(reader, proposal(0), 1), rwAsk(writer, proposal(0), 1), rwAsk(reader2, proposal(0), 1))
	f.pass(life * 3 / 4)
	f.run(rwBeat(reader, reader2))
	f.pass(life / 2)
	f.run(rwEnd(writer2, 0))
	require.Positive(t, f.rw(rwAsk(reader2, final(3), 2)).Token)
}

// One that waits to write is told nothing as long as others read.
func TestOneThatWaitsToWriteIsNotTheNextWhileOthersRead(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(reader), rwAsk(writer, proposal(0), 1))
	require.Equal(t, []any{int64(0), writer}, f.run(rwBeat(writer)))
}

// Under a guard, nobody gets a token from before the start of the server, to read or to write.
func TestAGuardHasTokensSkip(t *testing.T) {
	t.Parallel()
	for _, hold := range []string{reader, writer} {
		f := freeze(t)
		require.NoError(t, f.client.Set(bg, orders.Token(), 7, 0).Err()) // of an old snapshot
		call := lua.RWAcquire{RW: rw, Hold: hold, TTL: ttl, Retention: kept, Guard: time.Minute}.Call()
		require.Greater(t, f.rw(call).Token, int64(1e14), hold)
	}
}

// The floor of one that writes is kept for as long as its hold, and not for ever: it may never be released.
func TestAFloorLivesAsLongAsItsHold(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(writer))
	require.Equal(t, "0", f.client.HGet(bg, line.Keys.Waiters(), writer+" floor").Val())
	require.GreaterOrEqual(t, f.memory.TTL(line.Keys.Waiters()), ttl)
}

// A grant to read keeps the counter.
func TestAGrantToReadKeepsTheCounter(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(writer), rwEnd(writer, 0))
	f.pass(kept / 2)
	f.run(rwTry(reader))
	require.Equal(t, kept, f.memory.TTL(orders.Token()))
}

// No grant to write without a token either.
func TestNoTokenIsNoGrantToWriteOrRead(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	require.NoError(t, f.client.Set(bg, orders.Token(), "many", 0).Err())
	for _, hold := range []string{writer, reader} {
		_, err := rwAsk(hold, proposal(0), 1).Run(bg, f.client)
		require.ErrorContains(t, err, "not a number that can grow")
		require.False(t, f.memory.Exists(orders.Lock))
	}
}

// The first one that reads lets those in who wait behind it to read.
func TestTheFirstOneThatReadsTellsTheOthers(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTake(writer2, time.Second), rwAsk(reader, proposal(0), 1), rwAsk(reader3, proposal(0), 1))
	f.pass(1100 * time.Millisecond) // that one has died
	require.Contains(t, f.told(rwAsk(reader, final(1), 2)), message(reader3, reader+" asked"))
}

func must[T any](v T, _ error) T { return v }

// Whoever is refused is told of the one that reads for longest, and until when; whoever inspects the lock, of the first.
func TestWhichOfThoseWhoReadIsTold(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTake(reader3, time.Second), rwTake(reader, 20*time.Second), rwTake(reader2, 10*time.Second))
	f.keepAll()
	a := f.rw(rwTry(writer))
	require.Equal(t, reader, a.Holder)
	require.Equal(t, 20*time.Second, a.TTL)
	f.run(rwTake("0:1r", 15*time.Second))
	in := f.inspect()
	require.Equal(t, "0:1r", in.Holder)
	require.Equal(t, 15*time.Second, in.TTL)
	require.Len(t, in.Readers, 4)
}

// One that begins to wait to write tells those who came last to wait to read, of however many.
func TestOneThatWaitsToWriteTellsTheLastOfMany(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(writer2))
	for i := range 120 {
		f.run(rwAsk(fmt.Sprintf("c:%dr", i+10), proposal(0), 1))
	}
	f.run(rwAsk(reader2, proposal(0), 1))
	require.Contains(t, f.told(rwAsk(writer, proposal(0), 1)), message(reader2, "waits"))
}

// As most nodes had another before it, one that waits to write may step behind readers, whose turn it is then.
func TestOneThatStepsBehindReadersTellsThem(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry("c:1r"), rwAsk(writer, proposal(1), 1), rwAsk(reader2, proposal(2), 1))
	require.Empty(t, f.told(rwAsk(writer, proposal(1), 1)))
	require.Equal(t, []string{message(reader2, writer+" behind")}, f.told(rwAsk(writer, proposal(3), 2)))
	require.Empty(t, f.told(rwAsk(writer, final(3), 2)))
	require.Empty(t, f.told(rwAsk(writer, final(9), 3)), "they were before it already")
}

// A yield takes away all that one who read or wrote had: among others, how long the keys live.
func TestAYieldOfOneThatReadsOrWritesLeavesNothing(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwAsk(reader, proposal(0), 1), rwTake(reader2, time.Second), rwYield(reader, proposal(0), 1))
	require.Equal(t, []string{reader2}, f.client.ZRange(bg, orders.Readers(), 0, -1).Val())
	require.Equal(t, time.Second, f.memory.TTL(orders.Lock))
	require.Equal(t, time.Second, f.memory.TTL(orders.Readers()))
	require.Equal(t, reader2, f.rw(rwTry(writer)).Holder)

	f = freeze(t)
	f.run(rwAsk(writer, proposal(0), 1))
	require.NotEmpty(t, f.client.HGet(bg, orders.Waiters(), writer+" floor").Val())
	f.run(rwYield(writer, proposal(0), 1))
	require.Equal(t, []string{writer}, f.client.HKeys(bg, orders.Waiters()).Val(), "it waits")
}

// A lock that stays taken after one that wrote or read has a note for as long, and whoever waits is told.
func TestOneThatReadOrWroteStaysWithItsNote(t *testing.T) {
	t.Parallel()
	for _, hold := range []string{reader, writer} {
		f := freeze(t)
		f.run(rwTry(hold), note(hold, "nightly export"), rwAsk("b:9w", proposal(0), 1))
		require.Equal(t, []string{message("b:9w", hold+" kept")}, f.told(lua.RWKeep{RW: rw, Hold: hold, For: time.Second, Noted: true}.Call()))
		require.Equal(t, time.Second, f.memory.TTL(orders.Note()), hold)
		require.Equal(t, time.Second, f.memory.TTL(orders.Lock), hold)
	}
}

// A crowd that waited to read or write and died is dropped by several calls, each of which tells whoever lives to go on.
func TestManyDeadWaitersToReadOrWriteAreDroppedByAFewCalls(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(writer2), rwAsk("c:1w", proposal(0), 1))
	places, signs := make([]redis.Z, 5000), make([]any, 0, 10_000)
	for i := range places {
		id := fmt.Sprintf("d:%dw", i)
		places[i] = redis.Z{Score: 2, Member: id}
		signs = append(signs, id, "1 1")
	}
	require.NoError(t, f.client.ZAdd(bg, orders.Queue(), places...).Err())
	require.NoError(t, f.client.HSet(bg, orders.Waiters(), signs...).Err())
	f.run(rwAsk(reader, final(3), 1))
	left := func() int64 { return f.client.ZCard(bg, orders.Queue()).Val() }
	f.run(rwEnd("c:1w", 0), rwEnd(writer2, 0))
	require.Greater(t, left(), int64(2000))
	require.Equal(t, []any{reader}, f.run(rwBeat(reader)), "who lives is to go on with it")
}

// A lease that was extended for longer than its lock's TTL lasts for as long when the hold reads, too.
func TestADowngradeEndsNoHoldEarlier(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(writer), rwExtend(writer, longer, false), rwExtend(writer, ttl, true))
	require.Equal(t, longer, f.memory.TTL(orders.Readers()))
	f.pass(longer - time.Second)
	a := f.rw(rwTry(writer2))
	require.Equal(t, writer, a.Holder)
	require.Equal(t, time.Second, a.TTL)
}

// A node that has not heard of a downgrade, and restores the hold, leaves it to the next extension, which tells those
// who can read then.
func TestARestorationIsNoDowngrade(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(rwTry(writer), rwAsk(reader, proposal(0), 1))
	require.EqualValues(t, lua.ExtendDone, f.run(rwRestore(writer, 1<<52, true)))
	require.Equal(t, []string{message(reader, writer+" reads")}, f.told(rwExtend(writer, ttl, true)))
}
