package reentrant_test

import (
	"context"
	"errors"
	"fmt"
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
			ctx, cancel := context.WithTimeout(bg, within)
			defer cancel()
			_, err := m.Lock(ctx)
			// Servers have their own words for it; that it is about a right is final for all of them.
			require.Regexp(t, "(?i)can't run this command|no permissions? to run", err.Error())
			require.NotErrorIs(t, err, context.DeadlineExceeded, "trying again does not help")
			redistest.Eventually(t, within, func() bool { return len(s.Keys(t)) == 0 }, "nothing is left")
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
	s := redistest.Start(t)
	admin := s.Client(t)
	setUserOfTheDocs(t, admin)
	client := func() *lock.Client {
		return newClient(t, []redis.UniversalClient{s.Client(t, func(o *redis.Options) { o.Username, o.Password = "locker", "password" })})
	}
	one, other := client(), client()
	for i, m := range lockersOfTheDocs {
		name := fmt.Sprint("orders ", i)
		lease, err := m(one, name).Lock(bg)
		require.NoError(t, err)
		inner, err := m(one, name).Lock(lease.Context(bg))
		require.NoError(t, err)
		require.NoError(t, inner.Extend(bg, time.Hour))
		waited := make(chan error, 1)
		go func() {
			lease, err := m(other, name).Lock(bg)
			if err == nil {
				err = lease.Unlock(bg)
			}
			waited <- err
		}()
		redistest.Eventually(t, within, func() bool {
			channels, err := admin.PubSubChannels(bg, "lock:*").Result()
			return err == nil && len(channels) > 0
		}, "the other one listens")
		for entry, err := range lock.List(bg, one, "") {
			require.NoError(t, err)
			require.Equal(t, name, entry.Name)
		}
		require.NoError(t, inner.Unlock(bg))
		require.NoError(t, lease.Unlock(bg))
		require.NoError(t, <-waited)
	}
	require.Empty(t, refusals(t, admin))
}

// The same on a Cluster, where a client also has to find the shards, and to follow a slot
// that moves.
func TestUserOfTheDocsCanDoEverythingOnACluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	var admins []*redis.Client
	for _, s := range cluster.Servers {
		admins = append(admins, s.Client(t))
		setUserOfTheDocs(t, admins[len(admins)-1])
	}
	locks := newClient(t, []redis.UniversalClient{cluster.Client(t, func(o *redis.ClusterOptions) { o.Username, o.Password = "locker", "password" })})
	for i, m := range lockersOfTheDocs {
		name := cluster.Name(t, 0, i, "orders ")
		held, err := m(locks, name).Lock(bg)
		require.NoError(t, err)
		cluster.Move(t, cluster.Slot(t, name), cluster.Servers[0], cluster.Servers[1], func(step string) {
			require.NoError(t, held.Extend(bg, time.Hour), step)
		})
		for entry, err := range lock.List(bg, locks, "") {
			require.NoError(t, err)
			require.Equal(t, name, entry.Name)
		}
		require.NoError(t, held.Unlock(bg))
	}
	for _, admin := range admins {
		require.Empty(t, refusals(t, admin))
	}
}

// Of a user who lacks a command that mutexes need, Health says that the node does not vote; and of no other.
func TestHealthKnowsWhatTheUserMayRun(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	admin := s.Client(t)
	setUserOfTheDocs(t, admin)
	tells, err := admin.Eval(bg, "return redis.acl_check_cmd and 1 or 0", nil).Bool()
	require.NoError(t, err)
	locks := newClient(t, []redis.UniversalClient{s.Client(t, func(o *redis.Options) { o.Username, o.Password = "locker", "password" })})
	use := func(name string) error {
		lease, err := reentrant.New(locks, name, lock.WithTTL(time.Minute)).Lock(bg) // a busy server may take longer than TryLock waits
		if err != nil {
			return err
		}
		return errors.Join(lease.Extend(bg, 2*time.Minute), lease.Unlock(bg))
	}
	require.NoError(t, use("orders"))
	needed := 0
	for _, command := range []string{
		"exists", "hget", "hmget", "hset", "hdel", "hexists", "hgetall", "hrandfield", "get", "set", "incr", "pttl", "pexpire", "time", "publish",
		"zscore", "zmscore", "zadd", "zrange", "zrevrange", "zrem", "zremrangebyscore",
	} {
		require.NoError(t, admin.Do(bg, "ACL", "SETUSER", "locker", "-"+command).Err())
		health := locks.Health(bg)[0]
		if err := use("orders " + command); err == nil || tells {
			require.Equal(t, err == nil, health.Votes, "%s: %v", command, err)
		}
		if !health.Votes {
			needed++
			require.Regexp(t, "(?i)can't run this command|no permissions? to run", health.Err.Error())
		}
		require.NoError(t, admin.Do(bg, "ACL", "SETUSER", "locker", "+"+command).Err())
	}
	require.NotZero(t, needed)
	if tells { // by which it may be limited to the keys that need them
		require.NoError(t, admin.Do(bg, "ACL", "SETUSER", "locker", "-incr", "(+incr ~lock:*:token)").Err())
		require.NoError(t, use("orders"))
		require.True(t, locks.Health(bg)[0].Votes)
	}
}

var lockersOfTheDocs = []func(*lock.Client, string) lock.Locker{
	func(c *lock.Client, name string) lock.Locker { return reentrant.New(c, name) },
	func(c *lock.Client, name string) lock.Locker { return fair.New(c, name) },
}

// setUserOfTheDocs makes the user whom docs/keys.md shows.
func setUserOfTheDocs(t *testing.T, admin *redis.Client) {
	t.Helper()
	page, err := os.ReadFile("../docs/keys.md")
	require.NoError(t, err)
	const command = "ACL SETUSER locker "
	_, rules, found := strings.Cut(string(page), command)
	require.True(t, found)
	rules, _, _ = strings.Cut(rules, "```")
	for _, rules := range strings.Split(rules, command) {
		rules, _, _ = strings.Cut(rules, "#")
		args := []any{"ACL", "SETUSER", "locker"}
		for _, rule := range strings.Fields(rules) {
			args = append(args, rule)
		}
		err := admin.Do(bg, args...).Err()
		if err != nil && strings.TrimSpace(rules) == "+client|setinfo" {
			require.ErrorContains(t, err, "Unknown command", "servers before 7.2 do not have it")
			continue
		}
		require.NoError(t, err)
	}
}

// refusals are what the server's ACL has refused.
func refusals(t *testing.T, admin *redis.Client) []any {
	t.Helper()
	log, err := admin.Do(bg, "ACL", "LOG").Slice()
	require.NoError(t, err)
	return log
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
