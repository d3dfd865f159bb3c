package lua_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// A request that comes again after the hold was extended must not shorten it: its owner counts on the extension.
func TestAFairRequestThatComesAgainShortensNothing(t *testing.T) {
	f := freeze(t)
	first := f.asked("a:1", proposal(0), 1)
	require.Positive(t, first.Token)
	f.run(lua.Extend{Keys: orders, Hold: "a:1", Count: 1, TTL: time.Hour, Token: first.Token, Retention: time.Hour, Queued: true}.Call())
	require.Equal(t, time.Hour, f.memory.TTL(orders.Lock))
	require.Positive(t, f.asked("a:1", proposal(0), 1).Token)
	require.Equal(t, time.Hour, f.memory.TTL(orders.Lock))
}

// A waiter that a minority grants, and grants again, has its old place back when it yields: whoever came meanwhile is
// behind it (I7).
func TestWhoAsksAgainForWhatItHasKeepsItsTicket(t *testing.T) {
	f := waiting(t, "a:1", "b:1")
	f.run(release(true))
	require.Positive(t, f.asked("a:1", final(1), 2).Token)
	require.Positive(t, f.asked("a:1", final(1), 3).Token)
	f.run(lua.FairYield{Fair: line, Hold: "a:1", Ticket: proposal(0), Round: 3}.Call())
	require.Equal(t, "[{1 a:1} {2 b:1}]", f.places())
}

// If the counter was evicted meanwhile, the token is none that was given out before (I3).
func TestATokenIsNoLessThoughTheCounterWasEvicted(t *testing.T) {
	f := freeze(t)
	before := f.asked("a:1", proposal(0), 1)
	f.memory.Del(orders.Token())
	again := f.asked("a:1", proposal(0), 1)
	require.GreaterOrEqual(t, again.Token, before.Token)
}

// What was written about a hold that has expired is in nobody's way.
func TestANoteOfAHoldThatIsGoneKeepsNobodyFromAnAnswer(t *testing.T) {
	f := waiting(t, "a:1")
	f.memory.Del(orders.Lock)
	f.client.Set(bg, orders.Note(), "holder:1 1 backup", 0)
	call := lua.FairAcquire{
		Fair: line, Hold: "b:1", TTL: time.Minute, Retention: time.Hour, Wait: true, Round: 1, Noted: true,
	}.Call()
	got, err := lua.ParseFairAcquired(f.run(call))
	require.NoError(t, err)
	require.Empty(t, got.Holder)
	require.Equal(t, "a:1", got.Head)
}
