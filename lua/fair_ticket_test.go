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
		return lua.FairAcquire{Fair: queue, Hold: hold, Count: 1, TTL: time.Minute, Retention: time.Hour, Wait: true, Ticket: ticket, Round: round}.Call()
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
			require.Equal(t, []redis.Z{{Score: 1, Member: first}, {Score: 2, Member: second}}, client.ZRangeWithScores(bg, keys.Queue, 0, -1).Val())
		})
	}
}
