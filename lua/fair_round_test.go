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

// Rounds of one hold whose commands reach a node in an order of their own. Whether the
// hold has the lock there is what counts.
func TestYieldLeavesAloneWhatALaterRoundReliesOn(t *testing.T) {
	const hold = "client:1"
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	queue := lua.Fair{Keys: keys, Channel: lua.ClientChannels("lock"), Life: time.Second}
	ask := func(round int64) lua.Call {
		return lua.FairAcquire{Fair: queue, Hold: hold, TTL: time.Minute, Retention: time.Hour, Wait: true, Round: round}.Call()
	}
	yield := func(round int64) lua.Call {
		return lua.FairYield{Fair: queue, Hold: hold, Ticket: lua.Ticket{Number: 1}, Round: round}.Call()
	}
	extend := lua.Extend{Keys: keys, Hold: hold, Count: 1, TTL: time.Minute, Token: 1, Retention: time.Hour, Queued: true}.Call()
	leave := lua.FairRelease{Fair: queue, Hold: hold, Mark: time.Second}.Call()

	for name, c := range map[string]struct {
		calls []lua.Call
		held  bool
	}{
		"in order":                            {[]lua.Call{ask(1), yield(1)}, false},
		"twice":                               {[]lua.Call{ask(1), yield(1), yield(1)}, false},
		"of an earlier round":                 {[]lua.Call{ask(1), ask(2), yield(1)}, true},
		"of the later round":                  {[]lua.Call{ask(1), ask(2), yield(1), yield(2)}, false},
		"then the later round":                {[]lua.Call{ask(1), yield(1), ask(2)}, true},
		"earlier round late":                  {[]lua.Call{ask(2), ask(1), yield(1)}, true},
		"of an earlier round than was heard":  {[]lua.Call{ask(1), yield(2)}, false},
		"after an extension":                  {[]lua.Call{ask(1), extend, yield(1)}, true},
		"after an extension and a late asker": {[]lua.Call{ask(2), extend, ask(1), yield(1)}, true},
		"after the leave":                     {[]lua.Call{ask(1), leave, yield(1)}, false},
		"before the asker":                    {[]lua.Call{yield(1), ask(1)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := miniredis.RunT(t)
			client := redis.NewClient(&redis.Options{Addr: server.Addr()})
			defer client.Close()
			for _, call := range c.calls {
				_, err := call.Run(context.Background(), client)
				require.NoError(t, err)
			}
			held := client.HExists(context.Background(), keys.Lock, hold).Val()
			require.Equal(t, c.held, held)
			// Who gave the lock back waits on, unless it has left.
			waits := client.ZScore(context.Background(), keys.Queue(), hold).Err() == nil
			require.Equal(t, !held && name != "after the leave", waits)
		})
	}
}

// What a minority granted can be given back for as long as it stands, however late: without
// the record of its round it would be taken for a hold that lasts, and each ask would make it
// live longer.
func TestGrantCanBeYieldedAsLongAsItStands(t *testing.T) {
	const hold, ttl, life = "client:1", time.Minute, time.Second
	bg := context.Background()
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer client.Close()
	queue := lua.Fair{Keys: keys, Channel: lua.ClientChannels("lock"), Life: life}
	ask := func(round int64) {
		_, err := lua.FairAcquire{Fair: queue, Hold: hold, TTL: ttl, Retention: time.Hour, Wait: true, Round: round}.Call().Run(bg, client)
		require.NoError(t, err)
		require.True(t, client.HExists(bg, keys.Lock, hold).Val())
	}
	ask(1)
	server.FastForward(ttl - time.Millisecond)
	ask(2)
	server.FastForward(ttl - time.Millisecond)
	ask(2)
	server.FastForward(ttl - time.Millisecond)
	ticket, err := lua.FairYield{Fair: queue, Hold: hold, Ticket: lua.Ticket{Number: 1, Final: true}, Round: 2}.Call().Run(bg, client)
	require.NoError(t, err)
	require.EqualValues(t, 1, ticket)
	require.Zero(t, client.Exists(bg, keys.Lock).Val())
}

// Who waits has a sign of life and a place. Either may be lost without the other.
func TestBeatTellsWhoHasNoPlaceToAsk(t *testing.T) {
	bg := context.Background()
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	for name, lose := range map[string]func(*redis.Client){
		"nothing":      func(*redis.Client) {},
		"the place":    func(c *redis.Client) { c.ZRem(bg, keys.Queue(), "a:2") },
		"the sign":     func(c *redis.Client) { c.HDel(bg, keys.Waiters(), "a:2") },
		"the queue":    func(c *redis.Client) { c.Del(bg, keys.Queue()) },
		"all signs":    func(c *redis.Client) { c.Del(bg, keys.Waiters()) },
		"both of both": func(c *redis.Client) { c.Del(bg, keys.Queue(), keys.Waiters()) },
	} {
		t.Run(name, func(t *testing.T) {
			server := miniredis.RunT(t)
			client := redis.NewClient(&redis.Options{Addr: server.Addr()})
			defer client.Close()
			queue := lua.Fair{Keys: keys, Channel: lua.ClientChannels("lock"), Life: time.Minute}
			for _, hold := range []string{"holder:1", "a:1", "a:2"} {
				_, err := lua.FairAcquire{Fair: queue, Hold: hold, TTL: time.Minute, Retention: time.Hour, Wait: true}.Call().Run(bg, client)
				require.NoError(t, err)
			}
			lose(client)
			due, err := lua.FairBeat{Fair: queue, Holds: []string{"a:1", "a:2"}, Name: "beat"}.Call().Run(bg, client)
			require.NoError(t, err)
			want := []any{"a:1", "a:2"}
			switch name {
			case "nothing":
				want = []any{int64(0), "a:1"}
			case "the place", "the sign":
				want = []any{"a:2", int64(0), "a:1"}
			}
			require.Equal(t, want, due)
		})
	}
}
