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

// A repair may come when another has taken the lock on the node that lost the hold; and its
// holder may die before the next renewal.
func TestRepairTakesOnlyAFreeLockAndNotForEver(t *testing.T) {
	ctx := context.Background()
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer client.Close()
	repair := func() bool {
		t.Helper()
		reply, err := lua.Repair{Keys: keys, Hold: "client:1", Count: 1, TTL: time.Minute, Token: 7, Retention: time.Hour}.Call().Run(ctx, client)
		require.NoError(t, err)
		there, err := lua.ParseRepaired(reply)
		require.NoError(t, err)
		return there
	}
	server.HSet(keys.Lock, "client:2", "1")
	require.False(t, repair())
	holders, err := server.HKeys(keys.Lock)
	require.NoError(t, err)
	require.Equal(t, []string{"client:2"}, holders)

	server.FlushAll()
	require.True(t, repair())
	require.Equal(t, time.Minute, server.TTL(keys.Lock))
	require.Equal(t, time.Hour, server.TTL(keys.Token()))
	server.FastForward(time.Second)
	require.True(t, repair(), "twice")
	require.Equal(t, time.Minute-time.Second, server.TTL(keys.Lock))
}
