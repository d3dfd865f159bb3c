package redistest

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Expirations has the server tell which keys of database 0 expire, from now on. Each call of expired returns
// those that have expired since the previous one.
func (s *Server) Expirations(t testing.TB) (expired func() []string) {
	t.Helper()
	const told = "redistest:told"
	c := s.Client(t)
	ctx := context.Background()
	fatal := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("redistest: keys of %s that expire: %v", s.Addr(), err)
		}
	}
	fatal(c.ConfigSet(ctx, "notify-keyspace-events", "Ex").Err())
	events := c.Subscribe(ctx, "__keyevent@0__:expired", told)
	t.Cleanup(func() { _ = events.Close() })
	for range 2 {
		_, err := events.Receive(ctx)
		fatal(err)
	}
	messages := events.Channel(redis.WithChannelSize(1<<16), redis.WithChannelHealthCheckInterval(0))
	return func() (names []string) {
		t.Helper()
		fatal(c.Publish(ctx, told, "").Err()) // it comes after what has expired before
		for {
			select {
			case m := <-messages: // closed with the test
				if m.Channel == told {
					return names
				}
				names = append(names, m.Payload)
			case <-time.After(time.Minute):
				t.Fatalf("redistest: keys of %s that expire: the connection was lost", s.Addr())
			}
		}
	}
}
