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
		require.NoError(t, server.Set(keys.Token, counter))
		now := time.Now().UnixMicro()
		reply, err := lua.Acquire{Keys: keys, Hold: "client:1", TTL: time.Minute, Retention: time.Hour}.Call().Run(bg, client)
		require.NoError(t, err)
		require.GreaterOrEqual(t, reply, now)
	}
}
