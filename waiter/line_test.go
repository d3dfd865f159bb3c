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
