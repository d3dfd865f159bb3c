package lua_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lua"
)

// A server does nothing else while it runs a script: a crowd that died in the queue is dropped
// by several calls, and whoever comes after it waits for them.
func TestManyDeadWaitersAreDroppedByAFewCalls(t *testing.T) {
	const dead, most = 20_000, 1200 // of one call
	bg := context.Background()
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	client := redistest.Start(t).Client(t)
	queue := lua.Fair{Keys: keys, Channel: lua.ClientChannels("lock"), Alone: true, Life: time.Minute}
	run := func(call lua.Call) any {
		reply, err := call.Run(bg, client)
		require.NoError(t, err)
		return reply
	}
	ask := func(hold string) lua.Acquired {
		c := lua.FairAcquire{Fair: queue, Hold: hold, TTL: time.Minute, Retention: time.Hour, Wait: true, Round: 1}
		a, err := lua.ParseFairAcquired(run(c.Call()))
		require.NoError(t, err)
		return a
	}
	left := func() int64 { return client.ZCard(bg, keys.Queue()).Val() }

	const holder, waiter = "a:1", "b:1"
	require.Positive(t, ask(holder).Token)
	places, signs := make([]redis.Z, dead), make([]any, 0, 2*dead)
	for i := range places {
		id := fmt.Sprint("c:", i+1)
		places[i] = redis.Z{Member: id}
		signs = append(signs, id, "1 1")
	}
	require.NoError(t, client.ZAdd(bg, keys.Queue(), places...).Err())
	require.NoError(t, client.HSet(bg, keys.Waiters(), signs...).Err())
	require.Equal(t, holder, ask(waiter).Holder)

	before := left()
	run(lua.FairRelease{Fair: queue, Hold: holder}.Call())
	require.InDelta(t, before, left(), most, "of the release")
	before = left()
	beaten, err := lua.ParseFairBeat(run(lua.FairBeat{Fair: queue, Name: "b.1", Holds: []string{waiter}}.Call()))
	require.NoError(t, err)
	require.Equal(t, []string{waiter}, beaten.Due, "who lives is to go on with it")
	require.InDelta(t, before, left(), 2*most, "of a sign of life")

	for calls := 1; ; calls++ {
		before = left()
		a := ask(waiter)
		require.InDelta(t, before, left(), most, "of a request")
		if a.Token > 0 {
			require.Greater(t, calls, dead/most-3)
			break
		}
		require.NotEqual(t, waiter, a.Head, "those before it are not passed until they are dropped")
		require.Positive(t, a.Dying, "it is worth asking again")
		require.Less(t, calls, 2*dead/most, "each call does its part")
	}
	require.Zero(t, left())
	require.Zero(t, client.HLen(bg, keys.Waiters()).Val()-1, "but for the round of the grant")
}
