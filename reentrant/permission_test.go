package reentrant_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
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
			// Servers have their own words for it; that it is about a right is final for all of them.
			require.Regexp(t, "(?i)can't run this command|no permissions? to run", err.Error())
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

// What docs/keys.md says that a client needs is all that it uses: nothing is refused, and
// nothing shows in the server's log of refusals.
func TestUserOfTheDocsCanDoEverything(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/keys.md")
	require.NoError(t, err)
	_, rules, _ := strings.Cut(string(page), "ACL SETUSER locker ")
	rules, _, _ = strings.Cut(rules, "```")
	rules, names, _ := strings.Cut(rules, "#")
	s := redistest.Start(t)
	admin := s.Client(t)
	setUser := func(rules string) error {
		args := []any{"ACL", "SETUSER", "locker"}
		for _, rule := range strings.Fields(rules) {
			args = append(args, rule)
		}
		return admin.Do(bg, args...).Err()
	}
	require.NoError(t, setUser(rules))
	require.Contains(t, names, "+client|setinfo")
	if err := setUser("+client|setinfo"); err != nil {
		require.ErrorContains(t, err, "Unknown command", "servers before 7.2 do not have it")
	}
	client := func() *lock.Client {
		return newClient(t, []redis.UniversalClient{s.Client(t, func(o *redis.Options) { o.Username, o.Password = "locker", "password" })})
	}
	one, other := client(), client()
	for _, m := range []func(*lock.Client) lock.Locker{
		func(c *lock.Client) lock.Locker { return reentrant.New(c, "orders") },
		func(c *lock.Client) lock.Locker { return fair.New(c, "desk") },
	} {
		lease, err := m(one).Lock(bg)
		require.NoError(t, err)
		inner, err := m(one).Lock(lease.Context(bg))
		require.NoError(t, err)
		require.NoError(t, inner.Extend(bg, time.Hour))
		waited := make(chan error, 1)
		go func() {
			lease, err := m(other).Lock(bg)
			if err == nil {
				err = lease.Unlock(bg)
			}
			waited <- err
		}()
		redistest.Eventually(t, within, func() bool {
			channels, err := admin.PubSubChannels(bg, "lock:*").Result()
			return err == nil && len(channels) > 0
		}, "the other one listens")
		require.NoError(t, inner.Unlock(bg))
		require.NoError(t, lease.Unlock(bg))
		require.NoError(t, <-waited)
	}
	refused, err := admin.Do(bg, "ACL", "LOG").Slice()
	require.NoError(t, err)
	require.Empty(t, refused)
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
