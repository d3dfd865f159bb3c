package reentrant_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

func TestUserWithoutPermissionInsideTheScriptLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"exists", "time", "hset", "pexpire", "incr", "set"} {
		t.Run(command, func(t *testing.T) {
			s := redistest.Start(t)
			m := reentrant.New(restricted(t, s, "&*", "-"+command), "orders", lock.WithTTL(time.Minute))
			ctx, cancel := context.WithTimeout(bg, 2*time.Second)
			defer cancel()
			_, err := m.Lock(ctx)
			require.ErrorContains(t, err, "can't run this command")
			require.NotErrorIs(t, err, context.DeadlineExceeded, "trying again does not help")
			redistest.Eventually(t, time.Second, func() bool { return len(s.Keys(t)) == 0 }, "nothing is left")
		})
	}
}

func TestUserWithoutChannelsCanUnlock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	// What ACL SETUSER gives since Redis 7 unless told otherwise: no channels.
	m := reentrant.New(restricted(t, s), "orders", lock.WithTTL(time.Minute))
	lease, err := m.Lock(bg)
	if err != nil {
		require.ErrorContains(t, err, "channel", "a clear refusal is as good")
		require.Empty(t, s.Keys(t))
		return
	}
	require.NoError(t, lease.Unlock(bg))
}

// restricted is a client for a user who has all rights but what rules take away.
func restricted(t *testing.T, s *redistest.Server, rules ...string) *lock.Client {
	t.Helper()
	args := []any{"ACL", "SETUSER", "app", "on", "nopass", "~*", "+@all"}
	for _, rule := range rules {
		args = append(args, rule)
	}
	require.NoError(t, s.Client(t).Do(bg, args...).Err())
	return newClient(t, []redis.UniversalClient{s.Client(t, func(o *redis.Options) { o.Username, o.Password = "app", "any" })})
}
