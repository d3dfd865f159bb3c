package lua_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// reconnect is how long a client that does not listen has for that.
const reconnect = 300 * time.Millisecond

// everyone has the clients of these tests listen.
func (f *frozen) everyone() {
	for _, client := range []string{"a", "b", "c"} {
		f.listen(line.Channel + client)
	}
}

// told is a message to the client of a hold, that its turn may have come.
func told(hold, about string) string {
	return line.Channel + hold[:1] + " " + hold + " " + about
}

// places are who waits, in order, with their tickets.
func (f *frozen) places() string {
	return fmt.Sprint(f.client.ZRangeWithScores(bg, orders.Queue(), 0, -1).Val())
}

func (f *frozen) asked(hold string, ticket lua.Ticket, round int64) lua.Acquired {
	f.t.Helper()
	got, err := lua.ParseFairAcquired(f.run(ask(hold, ticket, round)))
	require.NoError(f.t, err)
	return got
}

func (f *frozen) inspect() lua.Inspected {
	f.t.Helper()
	in, err := lua.ParseInspected(f.run(lua.Inspect{Keys: orders}.Call()))
	require.NoError(f.t, err)
	return in
}

// waiting is a lock that other has, and these wait for, each for a second longer than the next.
func waiting(t *testing.T, holds ...string) *frozen {
	t.Helper()
	f := freeze(t)
	f.run(try("holder:1"))
	for _, h := range holds {
		f.run(ask(h, proposal(0), 1))
		f.pass(time.Second)
	}
	f.heard()
	return f
}

// keepAll has no key expire.
func (f *frozen) keepAll() {
	for _, key := range f.memory.Keys() {
		f.memory.SetTTL(key, time.Hour)
	}
}

// release is the holder's, where the listeners may be connected to another server, or not.
func release(alone bool) lua.Call {
	queue := line
	queue.Alone = alone
	return lua.FairRelease{Fair: queue, Hold: "holder:1"}.Call()
}

// Who ends a hold tells the head, once, and nobody else.
func TestTheEndOfAHoldIsToldToTheHeadAlone(t *testing.T) {
	t.Parallel()
	f := waiting(t, mine, third)
	f.everyone()
	f.run(release(true))
	require.Equal(t, []string{told(mine, "holder:1")}, f.heard())
	f.run(release(true))
	require.Empty(t, f.heard(), "it has ended before")
}

// Those that were served within a hold leave the queue with it, and the next one is told once.
func TestThoseThatWereServedLeaveTogether(t *testing.T) {
	t.Parallel()
	f := waiting(t, "a:1", "a:2", "b:1", "c:1")
	f.everyone()
	f.run(leaveAll("a:1", "a:2"))
	require.Empty(t, f.heard(), "the lock is held")
	f.run(ask("a:3", lua.Ticket{Number: 1, Final: true}, 1))
	f.run(leaveAll("holder:1", "a:3", "a:4"))
	require.Equal(t, []string{told("b:1", "holder:1")}, f.heard())
	require.ElementsMatch(t, []string{"b:1", "c:1"}, f.client.HKeys(bg, orders.Waiters()).Val())
	require.Equal(t, []string{"b:1", "c:1"}, f.client.ZRange(bg, orders.Queue(), 0, -1).Val())

	// Where the hold was not granted, the lock is free, or a minority has let in one that was served.
	f.run(leaveAll("a:5", "b:1"))
	require.Equal(t, []string{told("c:1", "a:5")}, f.heard())
	token := f.asked("c:1", lua.Ticket{Number: 4, Final: true}, 2).Token
	f.run(ask("b:2", proposal(0), 1))
	f.run(leaveAll("a:6", "c:1"))
	require.Equal(t, []string{told("b:2", "a:6")}, f.heard())
	require.Equal(t, token, f.asked("b:2", proposal(0), 2).Token, "nobody was told the one before")
	f.run(leave("b:2", 0))
	for _, key := range f.memory.Keys() {
		require.Equal(t, orders.Token(), key, "nothing stays but the counter")
	}
}

// In a Cluster a message goes to listeners of every server, and a server counts its own. So a
// head whom nobody seems to hear is not dead for that.
func TestAHeadThatListensElsewhereIsTakenForAlive(t *testing.T) {
	t.Parallel()
	for _, alone := range []bool{false, true} {
		f := waiting(t, mine, third)
		f.listen(line.Channel + "c")
		f.run(release(alone))
		if !alone {
			require.Equal(t, []string{told(mine, "holder:1")}, f.heard())
			f.pass(reconnect + time.Millisecond)
			require.Equal(t, mine, f.asked(third, final(2), 2).Head)
			continue
		}
		require.Equal(t, []string{told(mine, "holder:1"), told(third, "holder:1")}, f.heard(), "who listens learns when to ask")
		got := f.asked(third, final(2), 2)
		require.Equal(t, mine, got.Head)
		require.Equal(t, reconnect, got.Dying)
		f.pass(reconnect - time.Millisecond)
		require.Equal(t, time.Millisecond, f.asked(third, final(2), 2).Dying)
		f.pass(time.Millisecond)
		require.Positive(t, f.asked(third, final(2), 2).Token, "its turn")
	}
}

// A client that does not listen is asked once, however many of its holds wait, and each of
// them has a moment left; no moment lengthens a life.
func TestEveryWaiterOfADeafClientIsPassed(t *testing.T) {
	t.Parallel()
	f := waiting(t, "a:1", "a:2", "b:1", "c:1", "a:3")
	f.listen(line.Channel + "c")
	f.pass(life - 3*time.Second - 100*time.Millisecond) // the first ones are dead, the third has a tenth of a second
	f.run(beat("a:2"))
	f.heard()
	f.run(release(true))
	require.Equal(t, []string{told("a:2", "holder:1"), told("b:1", "holder:1"), told("c:1", "holder:1")}, f.heard())
	for hold, left := range map[string]time.Duration{"a:2": reconnect, "b:1": 100 * time.Millisecond} {
		require.Contains(t, f.memory.HGet(orders.Waiters(), hold), fmt.Sprint(f.now.Add(left).UnixMicro()), hold)
	}
}

// What a head has left when it seems to be dead is told to who asks, of a free lock only.
func TestALifeThatIsShortAnywayIsNotProlonged(t *testing.T) {
	t.Parallel()
	f := waiting(t, mine)
	f.run(ask(third, proposal(0), 1))
	f.listen(line.Channel + "c")
	f.pass(life - time.Second - 100*time.Millisecond)
	require.Zero(t, f.asked(third, final(2), 2).Dying, "somebody has the lock")
	f.heard()
	f.run(release(true))
	require.Equal(t, 100*time.Millisecond, f.asked(third, final(2), 2).Dying)
}

// How long somebody has waited does not begin anew when a server doubts that it lives, nor
// with a sign of life, nor with a place that it states again.
func TestHowLongAWaiterHasWaitedIsKept(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(f *frozen){
		"deaf":      func(f *frozen) { f.run(release(true)) },
		"beat":      func(f *frozen) { f.run(beat(mine)) },
		"ask again": func(f *frozen) { f.run(ask(mine, final(1), 2)) },
		"yield":     func(f *frozen) { f.run(yield(mine, final(9), 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := waiting(t, mine)
			f.pass(time.Second)
			do(f)
			f.pass(reconnect / 2)
			queue := f.inspect().Queue
			require.Len(t, queue, 1)
			require.Equal(t, 2*time.Second+reconnect/2, queue[0].Waited)
		})
	}
}

// A waiter whose life is over waits no more, whether or not anybody has dropped it.
func TestDeadWaitersAreNotShown(t *testing.T) {
	t.Parallel()
	f := waiting(t, mine, third)
	f.pass(life - 2*time.Second)
	require.Equal(t, []lua.Waiting{{Hold: third, Ticket: 2, Waited: life - time.Second}}, f.inspect().Queue)
	f.memory.HDel(orders.Waiters(), third)
	require.Empty(t, f.inspect().Queue, "it is not known to live")
}

// Whose turn it is gets a free lock, and nobody else.
func TestAFreeLockIsTheHeads(t *testing.T) {
	t.Parallel()
	f := waiting(t, mine, third)
	f.everyone()
	f.run(release(true))
	require.Equal(t, mine, f.asked(third, final(2), 2).Head)
	got, err := lua.ParseFairAcquired(f.run(try(other)))
	require.NoError(t, err)
	require.Equal(t, lua.Acquired{Head: mine}, got, "who only tries passes nobody and has no place")
	require.Equal(t, "[{1 a:1} {2 c:1}]", f.places())
	require.Positive(t, f.asked(mine, final(1), 2).Token)
	require.Equal(t, "[{2 c:1}]", f.places())
}

// Behind a holder a waiter that seems to be dead keeps its place for ten lives; nobody is held up
// by it. Once the lock is free it is dropped.
func TestALateWaiterKeepsItsPlaceBehindAHolder(t *testing.T) {
	t.Parallel()
	f := waiting(t, mine)
	f.keepAll()
	f.pass(11*life - time.Second - time.Millisecond)
	require.Equal(t, mine, f.asked(third, proposal(0), 1).Head)
	require.Equal(t, "[{1 a:1} {2 c:1}]", f.places())
	f.run(release(true))
	require.Equal(t, "[{2 c:1}]", f.places())

	f = waiting(t, mine)
	f.keepAll()
	f.pass(11*life - time.Second)
	require.Equal(t, third, f.asked(third, proposal(0), 1).Head)
	require.Equal(t, "[{2 c:1}]", f.places())
}

// Tickets: who is new comes behind all that wait, and behind a holder that may come back; a
// proposal raises and never lowers; a final one is taken as it is.
func TestTickets(t *testing.T) {
	t.Parallel()
	f := waiting(t, mine)
	require.EqualValues(t, 2, f.asked(third, proposal(0), 1).Ticket)
	require.EqualValues(t, 2, f.asked(third, proposal(1), 1).Ticket)
	require.EqualValues(t, 7, f.asked(third, proposal(7), 1).Ticket)
	require.EqualValues(t, 8, f.asked(other, proposal(0), 1).Ticket)
	require.EqualValues(t, 20, f.asked("c:2", proposal(20), 1).Ticket, "another node proposed more")
	require.EqualValues(t, 5, f.asked(third, final(5), 2).Ticket, "a quorum has it")
	require.EqualValues(t, 6, f.asked(third, final(6), 2).Ticket)
	require.EqualValues(t, 3, f.asked("c:3", final(3), 2).Ticket, "a node that had forgotten it")
	require.Equal(t, "[{1 a:1} {3 c:3} {6 c:1} {8 b:1} {20 c:2}]", f.places())

	f = freeze(t)
	require.Positive(t, f.asked(mine, final(41), 1).Token)
	require.EqualValues(t, 42, f.asked(third, proposal(0), 1).Ticket, "the holder may yield, and wait with 41")
	f = freeze(t)
	f.run(try(mine))
	require.EqualValues(t, 1, f.asked(third, proposal(0), 1).Ticket)
}

// The queue and the signs of life outlive their waiters, and a while longer only.
func TestTheQueueEndsAfterItsWaiters(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(try("holder:1"), ask(mine, proposal(0), 1))
	for _, key := range []string{orders.Queue(), orders.Waiters()} {
		require.Equal(t, 3*life, f.memory.TTL(key))
	}
	f.pass(life + time.Millisecond)
	f.run(beat(mine))
	for _, key := range []string{orders.Queue(), orders.Waiters()} {
		require.Equal(t, 3*life, f.memory.TTL(key), "less than two lives were left")
	}
	f.pass(life)
	f.run(beat(mine))
	require.Equal(t, 2*life, f.memory.TTL(orders.Queue()), "enough was left")
}

// A record of a grant lives as long as the grant, or longer.
func TestTheRecordOfAGrantOutlivesIt(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	require.Positive(t, f.asked(mine, proposal(0), 1).Token)
	require.Equal(t, ttl*3/2, f.memory.TTL(orders.Waiters()))
	f.pass(ttl / 2)
	f.run(ask(mine, proposal(0), 2))
	require.Equal(t, ttl, f.memory.TTL(orders.Waiters()), "enough was left")
	f.pass(time.Millisecond)
	f.run(ask(mine, proposal(0), 3))
	require.Equal(t, ttl*3/2, f.memory.TTL(orders.Waiters()))
}

// The successor of a release comes by itself, if it is the head; if another is, that one is told.
func TestAnHeirIsNotWoken(t *testing.T) {
	t.Parallel()
	for successor, message := range map[string][]string{mine: nil, third: {told(mine, "holder:1")}} {
		f := waiting(t, mine, third)
		f.everyone()
		f.run(lua.FairRelease{Fair: line, Hold: "holder:1", Successor: successor}.Call())
		require.Equal(t, message, f.heard())
		require.Empty(t, f.holder())
	}
}

// A part of a release that has ended the hold has told nobody: what follows it does, unless another has the lock.
func TestWhatFollowsAPartOfAReleaseWakesTheHead(t *testing.T) {
	t.Parallel()
	f := waiting(t, mine, third)
	f.everyone()
	f.run(lua.Release{Keys: orders, Hold: "holder:1"}.Call())
	f.heard()
	f.run(leave("holder:1", 0))
	require.Empty(t, f.heard(), "as it was not there")
	f.run(leaveAgain("holder:1"))
	require.Equal(t, []string{told(mine, "holder:1")}, f.heard())
	f.run(ask(mine, final(1), 2), leaveAgain("holder:1"))
	require.Empty(t, f.heard(), "it has the lock")
}

// Who leaves a queue, or is taken out of it, wakes the next one if the lock is free: nobody else
// would. While somebody has the lock nobody need know.
func TestWhoLeavesAQueueWakesTheNextOfAFreeLock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		out   lua.Call
		about string
	}{"leave": {leave(mine, 0), mine}, "settle": {settle(mine), mine + " settled"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, free := range []bool{false, true} {
				f := waiting(t, mine, third)
				f.everyone()
				var want []string
				if free {
					f.memory.Del(orders.Lock)
					want = []string{told(third, c.about)}
				}
				f.run(c.out)
				require.Equal(t, "[{2 c:1}]", f.places())
				require.Empty(t, f.memory.HGet(orders.Waiters(), mine))
				require.Equal(t, want, f.heard())
			}
		})
	}
}

// A sign of life keeps those alive who wait, creates no place, and tells who should ask: who has
// no place, and whose turn has come. It wakes another client's head.
func TestSignsOfLife(t *testing.T) {
	t.Parallel()
	f := waiting(t, mine, third)
	f.everyone()
	f.pass(time.Second)
	require.Equal(t, []any{"a:9", int64(0), mine}, f.run(beat(mine, "a:9")))
	require.Empty(t, f.heard(), "somebody has the lock")
	require.Empty(t, f.memory.HGet(orders.Waiters(), "a:9"))
	f.pass(life - time.Millisecond)
	require.Equal(t, []lua.Waiting{{Hold: mine, Ticket: 1, Waited: 3*time.Second + life - time.Millisecond}}, f.inspect().Queue)
	f.pass(time.Millisecond)
	require.Empty(t, f.inspect().Queue)

	f = waiting(t, mine, third)
	f.everyone()
	f.memory.Del(orders.Lock)
	require.Equal(t, []any{"a:2", mine}, f.run(beat("a:2", mine)))
	require.Empty(t, f.heard(), "it is told by the answer")
	require.Equal(t, []any{}, f.run(beat(third)))
	require.Equal(t, []string{told(mine, "beat")}, f.heard())
}

// Who yields stands where it stood, and the head is woken unless it is itself.
func TestWhoYieldsHasItsPlaceBack(t *testing.T) {
	t.Parallel()
	f := waiting(t, mine, third)
	f.everyone()
	f.run(release(true))
	require.Positive(t, f.asked(mine, final(1), 2).Token)
	f.run(ask(other, proposal(0), 1))
	f.heard()
	require.EqualValues(t, 1, f.run(yield(mine, final(1), 2)))
	require.Equal(t, "[{1 a:1} {2 c:1} {3 b:1}]", f.places())
	require.Empty(t, f.holder())
	require.Empty(t, f.heard(), "its client knows")

	require.Positive(t, f.asked(mine, final(1), 3).Token)
	require.EqualValues(t, 9, f.run(yield(mine, final(9), 3)), "a quorum has settled another place")
	require.Equal(t, []string{told(third, mine+" asked")}, f.heard())

	f.run(leave(mine, marked))
	require.Positive(t, f.asked(third, final(2), 2).Token)
	f.run(leave(third, marked))
	f.heard()
	require.EqualValues(t, 0, f.run(yield(third, final(2), 2)), "it has left")
	require.Equal(t, "[{3 b:1}]", f.places())
}

// For hours, without being asked for again: a sign of life is all it takes.
func TestSignsOfLifeKeepAPlace(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(take(other, time.Hour), ask(mine, lua.Ticket{}, 1), ask(third, lua.Ticket{}, 1))
	for range 20 {
		f.pass(3 * life / 4)
		require.Equal(t, []any{int64(0), mine}, f.run(beat(mine, third)), "nobody has to ask")
	}
	f.run(leave(other, 0))
	refused, err := lua.ParseFairAcquired(f.run(ask(third, lua.Ticket{}, 2)))
	require.NoError(t, err)
	require.Equal(t, mine, refused.Head)
	require.Positive(t, f.run(ask(mine, lua.Ticket{}, 2)))
}
