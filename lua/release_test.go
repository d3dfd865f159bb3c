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

func TestReleaseTellsWhetherAnybodyListens(t *testing.T) {
	ctx := context.Background()
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	acquire := lua.Acquire{Keys: keys, Hold: "client:1", TTL: time.Minute, Retention: time.Hour}
	release := lua.Release{Keys: keys, Hold: "client:1"}
	quiet := release
	quiet.Quiet = true

	for name, c := range map[string]struct {
		listeners int
		call      lua.Call
		want      lua.Released
	}{
		"nobody":              {0, release.Call(), lua.Released{Found: true, OnlyOne: true}},
		"one":                 {1, release.Call(), lua.Released{Found: true, OnlyOne: true}},
		"two":                 {2, release.Call(), lua.Released{Found: true}},
		"nothing is told":     {0, quiet.Call(), lua.Released{Found: true}},
		"the hold is another": {0, lua.Release{Keys: keys, Hold: "client:2"}.Call(), lua.Released{}},
	} {
		t.Run(name, func(t *testing.T) {
			server := miniredis.RunT(t)
			client := redis.NewClient(&redis.Options{Addr: server.Addr()})
			defer client.Close()
			for range c.listeners {
				s := client.Subscribe(ctx, keys.Channel)
				defer s.Close()
				_, err := s.Receive(ctx)
				require.NoError(t, err)
			}
			_, err := acquire.Call().Run(ctx, client)
			require.NoError(t, err)
			reply, err := c.call.Run(ctx, client)
			require.NoError(t, err)
			got, err := lua.ParseReleased(reply)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}
