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

// A name that is used for ever must not keep every mark that was ever left for it, and one
// that is not used again none at all.
func TestMarksThatAreOverAreForgotten(t *testing.T) {
	ctx := context.Background()
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	const mark = 10 * time.Second
	for name, release := range map[string]func(hold string) lua.Call{
		"reentrant": func(hold string) lua.Call { return lua.Release{Keys: keys, Hold: hold, Mark: mark}.Call() },
		"fair": func(hold string) lua.Call {
			return lua.FairRelease{Fair: lua.Fair{Keys: keys, Channel: lua.ClientChannels("lock"), Life: time.Second}, Hold: hold, Mark: mark}.Call()
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := miniredis.RunT(t)
			client := redis.NewClient(&redis.Options{Addr: server.Addr()})
			defer client.Close()
			start := time.Now()
			marks := func(hold string) []string {
				t.Helper()
				_, err := release(hold).Run(ctx, client)
				require.NoError(t, err)
				ids, err := client.ZRange(ctx, keys.Void(), 0, -1).Result()
				require.NoError(t, err)
				require.Equal(t, mark, server.TTL(keys.Void()))
				return ids
			}
			server.SetTime(start)
			require.Equal(t, []string{"client:1"}, marks("client:1"))
			server.SetTime(start.Add(mark - time.Millisecond))
			require.Equal(t, []string{"client:1", "client:2"}, marks("client:2"))
			server.SetTime(start.Add(mark))
			require.Equal(t, []string{"client:2", "client:3"}, marks("client:3"))
			server.FastForward(mark)
			require.Empty(t, server.Keys())
		})
	}
}

// A mark by force is not shortened by a later one, and does not stay for ever. It voids the hold, too.
func TestAMarkByForceIsAVoidThatLasts(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	force := func(hold string, life time.Duration) lua.Call {
		return lua.Force{Keys: orders, Hold: hold, Life: life}.Call()
	}
	f.run(force(mine, time.Hour))
	require.Equal(t, time.Hour, f.memory.TTL(orders.Void()), "it expires")
	f.run(force(other, time.Minute))
	require.Equal(t, time.Hour, f.memory.TTL(orders.Void()), "that of the first one stays")
	require.EqualValues(t, 0, f.run(repair(mine, 1, 7)), "it is voided")
	require.EqualValues(t, -1, f.run(take(mine, ttl)))
	f.pass(2 * time.Minute)
	f.run(force(third, time.Minute))
	require.EqualValues(t, 4, f.client.ZCard(bg, orders.Void()).Val(), "that of the other one is over")
}

// The end of a hold leaves the marks of others alone, of every kind.
func TestTheEndOfAHoldLeavesOtherMarksAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		take, end lua.Call
	}{
		"fair":                  {ask(mine, proposal(0), 0), leave(mine, marked)},
		"writer":                {rwTry(writer), rwEnd(writer, marked)},
		"permits":               {permitTry(two), permitEnd(two, marked)},
		"a mutex that lingers":  {take(mine, ttl), keepVoid(mine)},
		"a writer that lingers": {rwTry(writer), rwKeepVoid(writer)},
		"permits that linger":   {permitTry(two), permitKeepVoid(two)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(lua.Force{Keys: orders, Hold: "x:1", Life: time.Hour}.Call(), c.take, c.end)
			require.Equal(t, time.Hour, f.memory.TTL(orders.Void()))
			require.EqualValues(t, 3, f.client.ZCard(bg, orders.Void()).Val(), "it is marked, too")
		})
	}
}
