package lua_test

import (
	"context"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// A waiter that a minority grants is out of the queue there until it yields. Who comes
// meanwhile must not get its ticket, or a lesser one (I7).
func TestGrantThatIsYieldedCostsTheWaiterNoPlace(t *testing.T) {
	bg := context.Background()
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	queue := lua.Fair{Keys: keys, Channel: lua.ClientChannels("lock"), Life: time.Minute}
	ask := func(hold string, ticket lua.Ticket, round int64) lua.Call {
		return lua.FairAcquire{Fair: queue, Hold: hold, TTL: time.Minute, Retention: time.Hour, Wait: true, Ticket: ticket, Round: round}.Call()
	}
	const holder, first, second = "a:1", "b:1", "c:1"
	settled := lua.Ticket{Number: 1, Final: true}

	for name, c := range map[string]struct {
		ask   lua.Call   // of the first waiter, which is granted
		yield lua.Ticket // as the yield knows it
	}{
		"with its final ticket":                {ask(first, settled, 2), settled},
		"by a late command of its first round": {ask(first, lua.Ticket{}, 1), lua.Ticket{}},
	} {
		t.Run(name, func(t *testing.T) {
			server := miniredis.RunT(t)
			client := redis.NewClient(&redis.Options{Addr: server.Addr()})
			defer client.Close()
			run := func(call lua.Call) any {
				reply, err := call.Run(bg, client)
				require.NoError(t, err)
				return reply
			}
			run(ask(holder, lua.Ticket{}, 1))
			run(ask(first, lua.Ticket{}, 1))
			run(lua.FairRelease{Fair: queue, Hold: holder}.Call())
			got, err := lua.ParseFairAcquired(run(c.ask))
			require.NoError(t, err)
			require.Positive(t, got.Token)
			run(ask(second, lua.Ticket{}, 1))
			run(lua.FairYield{Fair: queue, Hold: first, Ticket: c.yield, Round: 2}.Call())
			require.Equal(t, []redis.Z{{Score: 1, Member: first}, {Score: 2, Member: second}}, client.ZRangeWithScores(bg, keys.Queue(), 0, -1).Val())
		})
	}
}

// A node that proposed more than the others is told the ticket that they have.
func TestYieldStatesAFinalTicketToWhoWaits(t *testing.T) {
	bg := context.Background()
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	queue := lua.Fair{Keys: keys, Channel: lua.ClientChannels("lock"), Life: time.Minute}
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer client.Close()
	ask := func(hold string) lua.Call {
		return lua.FairAcquire{Fair: queue, Hold: hold, TTL: time.Minute, Retention: time.Hour, Wait: true}.Call()
	}
	yield := func(hold string, ticket int64, final bool) (now int64) {
		reply, err := lua.FairYield{Fair: queue, Hold: hold, Ticket: lua.Ticket{Number: ticket, Final: final}, Round: 1}.Call().Run(bg, client)
		require.NoError(t, err)
		now, err = lua.ParseFairYielded(reply)
		require.NoError(t, err)
		return now
	}
	requireQueue := func(places ...redis.Z) {
		t.Helper()
		require.Equal(t, places, client.ZRangeWithScores(bg, keys.Queue(), 0, -1).Val())
	}
	const holder, first, second = "a:1", "b:1", "c:1"
	for _, hold := range []string{holder, first, second} {
		_, err := ask(hold).Run(bg, client)
		require.NoError(t, err)
	}
	waits := []redis.Z{{Score: 1, Member: first}, {Score: 2, Member: second}}
	requireQueue(waits...)
	require.EqualValues(t, 1, yield(first, 9, false), "a proposal is no place")
	require.EqualValues(t, 0, yield("nobody:1", 9, true))
	requireQueue(waits...)
	for range 2 { // twice
		require.EqualValues(t, 9, yield(first, 9, true))
		requireQueue(redis.Z{Score: 2, Member: second}, redis.Z{Score: 9, Member: first})
	}
	require.EqualValues(t, 1, yield(first, 1, true))
	requireQueue(waits...)

	// Who becomes the head of a free lock is told.
	require.NoError(t, client.Del(bg, keys.Lock).Err())
	listening := client.Subscribe(bg, queue.Channel+"c")
	defer listening.Close()
	_, err = listening.Receive(bg)
	require.NoError(t, err)
	yield(first, 9, true)
	ctx, cancel := context.WithTimeout(bg, 10*time.Second)
	defer cancel()
	message, err := listening.ReceiveMessage(ctx)
	require.NoError(t, err)
	require.Equal(t, second+" "+first+" placed", message.Payload)
}
