package redistest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const inspectWithin = 10 * time.Second

// Client returns a client with go-redis's own defaults, which is what users have,
// except for what change does to them. It is closed when t ends.
func (s *Server) Client(t testing.TB, change ...func(*redis.Options)) *redis.Client {
	t.Helper()
	return newClient(t, s.Addr(), change...)
}

func newClient(t testing.TB, addr string, change ...func(*redis.Options)) *redis.Client {
	opts := &redis.Options{Addr: addr}
	for _, f := range change {
		f(opts)
	}
	c := redis.NewClient(opts)
	// The test may have closed it already.
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Clients returns one client for each server, in their order, as
// [Server.Client] does.
func Clients(t testing.TB, servers []*Server, change ...func(*redis.Options)) []redis.UniversalClient {
	t.Helper()
	clients := make([]redis.UniversalClient, len(servers))
	for i, s := range servers {
		clients[i] = s.Client(t, change...)
	}
	return clients
}

// WithoutInfo makes a user who may not run INFO. To the library, servers cannot be told
// apart then, and each of its calls stays a command of its own, which a test can count.
func WithoutInfo(t testing.TB, servers []*Server) func(*redis.Options) {
	t.Helper()
	const name, password = "without-info", "secret"
	for _, s := range servers {
		err := inspect(s.Addr(), func(ctx context.Context, c *redis.Client) error {
			return c.Do(ctx, "acl", "setuser", name, "on", ">"+password, "~*", "&*", "+@all", "-info").Err()
		})
		if err != nil {
			t.Fatalf("redistest: a user of %s: %v", s.Addr(), err)
		}
	}
	return func(o *redis.Options) { o.Username, o.Password = name, password }
}

// Info returns a field of a section of INFO, "" when there is none. It uses a
// connection of its own, which therefore shows in counts of clients and commands.
func (s *Server) Info(t testing.TB, section, field string) string {
	t.Helper()
	var info string
	err := inspect(s.Addr(), func(ctx context.Context, c *redis.Client) (err error) {
		info, err = c.Info(ctx, section).Result()
		return err
	})
	if err != nil {
		t.Fatalf("redistest: INFO %s of %s: %v", section, s.Addr(), err)
	}
	return infoField(info, field)
}

// Keys returns all keys of database 0, sorted. Like [Server.Info] it uses a
// connection of its own.
func (s *Server) Keys(t testing.TB) []string {
	t.Helper()
	var keys []string
	err := inspect(s.Addr(), func(ctx context.Context, c *redis.Client) error {
		it := c.Scan(ctx, 0, "*", 1000).Iterator()
		for it.Next(ctx) {
			keys = append(keys, it.Val())
		}
		return it.Err()
	})
	if err != nil {
		t.Fatalf("redistest: keys of %s: %v", s.Addr(), err)
	}
	slices.Sort(keys)
	return slices.Compact(keys) // SCAN may show a key twice
}

// inspect runs f with a client that lives only as long. A single connection and
// no client-side chatter, so as to disturb the server little.
func inspect(addr string, f func(context.Context, *redis.Client) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), inspectWithin)
	defer cancel()
	c := redis.NewClient(&redis.Options{Addr: addr, PoolSize: 1, DisableIdentity: true, ContextTimeoutEnabled: true})
	defer c.Close()
	return f(ctx, c)
}
