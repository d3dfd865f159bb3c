package redlock_test

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/auth"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A server that has ended since the last command costs no command: the dead connection is noticed
// before.
func TestARestartBetweenCommandsFailsNone(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	g := met(t, server.Client(t))
	for range 3 {
		for range 100 {
			require.True(t, decide(t, g, probe()).Won())
		}
		server.Restart()
		b := decide(t, g, probe())
		require.NoError(t, b.Err())
		require.True(t, b.Won())
	}
}

// credentials are what a program has whose password changes.
type credentials struct{}

func (credentials) Subscribe(auth.CredentialsListener) (auth.Credentials, auth.UnsubscribeFunc, error) {
	return auth.NewBasicCredentials("default", ""), func() error { return nil }, nil
}

// What go-redis' Conn does not take over from its client would be missed.
func TestAConnectionOfAClientWithMoreThanAConnHasIsNotKept(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	for name, change := range map[string]func(*redis.Options){
		"streaming credentials": func(o *redis.Options) { o.StreamingCredentialsProvider = credentials{} },
		"a cache":               func(o *redis.Options) { o.ClientSideCacheConfig = &redis.ClientSideCacheConfig{} },
	} {
		t.Run(name, func(t *testing.T) {
			c := server.Client(t, change)
			g := met(t, c)
			before := c.PoolStats()
			for range 1000 {
				require.True(t, decide(t, g, probe()).Won())
			}
			after := c.PoolStats()
			require.GreaterOrEqual(t, after.Hits+after.Misses, before.Hits+before.Misses+1000, "each takes one from the pool")
		})
	}
}
