package waiter

import (
	"context"
	"log/slog"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// The writer may be busy while a channel is given up and wanted again: it finds both at once.
func TestChannelThatIsWantedAgainIsNotUnsubscribed(t *testing.T) {
	client := redis.NewClient(&redis.Options{})
	defer client.Close()
	l := newLine(context.Background(), nil, 0, "node", client, slog.New(slog.DiscardHandler))
	changes := func(add, drop []string) {
		t.Helper()
		_, gotAdd, gotDrop, _ := l.changes()
		require.Equal(t, add, gotAdd)
		require.Equal(t, drop, gotDrop)
	}
	l.want("orders")
	changes([]string{"orders"}, nil)
	l.unwant("orders")
	l.want("orders")
	changes([]string{"orders"}, nil) // again, as it is to be confirmed
	l.unwant("orders")
	changes(nil, []string{"orders"})
	l.unwant("orders")
	changes(nil, nil)

	l.want("orders")
	l.unwant("orders")
	changes(nil, nil) // nobody waits for it any more
}

// A channel of a Cluster may be subscribed at several masters: the Cluster is heard as long as one of the lines to them is.
func TestANodeIsHeardAsLongAsOneOfItsLinesIs(t *testing.T) {
	client := redis.NewClient(&redis.Options{})
	defer client.Close()
	h := New([]redis.UniversalClient{client}, 1, nil)
	defer h.Close()
	h.start.Do(func() {}) // nothing connects
	s := h.Subscribe("orders", func(string) {})
	lines := make([]*line, 2)
	for i := range lines {
		lines[i] = newLine(context.Background(), h, 0, "node", client, slog.New(slog.DiscardHandler))
		lines[i].want("orders")
		lines[i].changes()
	}
	isReady := func() bool {
		select {
		case <-s.Ready():
			return true
		default:
			return false
		}
	}
	said := func(l *line, kind string) { l.receive(&redis.Subscription{Kind: kind, Channel: "orders"}) }
	require.False(t, isReady())
	said(lines[0], "subscribe")
	said(lines[0], "subscribe")
	require.True(t, isReady())
	said(lines[1], "subscribe")
	lines[0].lost()
	lines[0].lost()
	require.True(t, isReady(), "the other one hears")
	said(lines[1], "unsubscribe")
	require.False(t, isReady())
	said(lines[0], "subscribe")
	require.True(t, isReady())
	lines[0].lost()
	require.False(t, isReady())
}
