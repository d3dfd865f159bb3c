package lua_test

import (
	"context"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lua"
)

// A counter that is none of ours begins anew, at the clock. A token of 0 or less would not
// be one, and the lock would be held for nobody.
func TestCounterThatSomebodySetIsNoToken(t *testing.T) {
	bg := context.Background()
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	for _, counter := range []string{"-5", "-1", "0"} {
		server := miniredis.RunT(t)
		client := redis.NewClient(&redis.Options{Addr: server.Addr()})
		defer client.Close()
		require.NoError(t, server.Set(keys.Token(), counter))
		now := time.Now().UnixMicro()
		reply, err := lua.Acquire{Keys: keys, Hold: "client:1", TTL: time.Minute, Retention: time.Hour}.Call().Run(bg, client)
		require.NoError(t, err)
		require.GreaterOrEqual(t, reply, now)
	}
}

// A grant that cannot be told leaves nothing: who asked may be gone before it could give it back.
func TestNoTokenIsNoGrant(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client(t)
	require.NoError(t, client.Set(bg, orders.Token(), "many", 0).Err())
	for _, call := range []lua.Call{take(mine, ttl), ask(mine, lua.Ticket{}, 1)} {
		_, err := call.Run(bg, client)
		require.ErrorContains(t, err, "not a number that can grow")
		require.Zero(t, client.Exists(bg, orders.Lock).Val())
	}
}

// The last number is none.
func TestTheLastTokenIsNone(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	for counter, granted := range map[int64]bool{1<<53 - 2: true, 1<<53 - 1: false, 1 << 53: false} {
		require.NoError(t, f.client.Set(bg, orders.Token(), counter, 0).Err())
		_, err := take(mine, ttl).Run(bg, f.client)
		if granted {
			require.NoError(t, err)
			f.run(end(mine, 0))
			continue
		}
		require.ErrorContains(t, err, "not a number that can grow")
		require.False(t, f.memory.Exists(orders.Lock))
	}
}

// A counter that could be raised and not be written is taken away: it would have no end, and the next token would be
// no date.
func TestACounterThatCannotBeWrittenIsTakenAway(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	admin := s.Client(t)
	app := s.Client(t, func(o *redis.Options) { o.Username, o.Password = "app", "any" })
	for _, right := range []string{"-set", "-time"} {
		require.NoError(t, admin.Do(bg, "ACL", "SETUSER", "app", "on", "nopass", "~*", "&*", "+@all", right).Err())
		for name, call := range map[string]lua.Call{
			"mutex": take(mine, ttl), "fair": try(mine), "fair, waiting": ask(mine, proposal(0), 1), "writer": rwTry(writer), "reader": rwTry(reader),
			"permits": permitTry(two), "permits, waiting": permitAsk(two, proposal(0), 1),
		} {
			_, err := call.Run(bg, app)
			require.Error(t, err, "%s %s", name, right)
			require.Zero(t, admin.Exists(bg, orders.Token()).Val(), "%s %s", name, right)
			require.NoError(t, admin.FlushDB(bg).Err()) // what a lock leaves is another matter
		}
		_, err := take(mine, ttl).Run(bg, app)
		require.Error(t, err)
		token, err := take(mine, ttl).Run(bg, admin)
		require.NoError(t, err)
		require.Greater(t, token, int64(1e15), "a date")
		require.NoError(t, admin.FlushDB(bg).Err())
	}
}

// Of a grant without a token no round stays either, which would be taken for that of a later one.
func TestNoTokenLeavesNoRound(t *testing.T) {
	t.Parallel()
	for kind, k := range queued {
		f := freeze(t)
		require.NoError(t, f.client.Set(bg, orders.Token(), "many", 0).Err())
		if kind == "readers" {
			continue // its token is that of who wrote last
		}
		hold := "a:1" + k.mark
		_, err := k.ask(hold, proposal(0), 1).Run(bg, f.client)
		require.ErrorContains(t, err, "not a number that can grow", kind)
		require.Empty(t, f.record(hold), kind)
		require.False(t, f.memory.Exists(orders.Lock), kind)
	}
}

// A lost counter begins at the clock, not at the least that a guard allows: there may have been later tokens.
func TestALostCounterBeginsAtTheClockUnderAGuard(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	call := lua.Acquire{Keys: orders, Hold: mine, TTL: ttl, Retention: kept, Guard: time.Minute}.Call()
	require.Equal(t, f.now.UnixMicro(), f.run(call))
}
