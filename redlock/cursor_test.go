package redlock_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A cursor means nothing to a server that takes the place of the one that gave it, as after a failover: it would begin
// somewhere, and the keys before that would be missing without a word.
func TestAScanEndsWithItsServer(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 2)
	var present atomic.Pointer[redistest.Server]
	present.Store(servers[0])
	client := servers[0].Client(t, func(o *redis.Options) {
		o.Dialer = func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, present.Load().Addr())
		}
	})
	const keys = 200
	for _, c := range append(redistest.Clients(t, servers), client) {
		for i := range keys {
			require.NoError(t, c.Set(bg, fmt.Sprint("key ", i), "", 0).Err())
		}
	}
	g := met(t, client)

	found := make(map[string]bool)
	scan := g.Scan(0, "key *", 10)
	for scan.More() {
		page, err := scan.Next(bg)
		require.NoError(t, err)
		for _, key := range page {
			found[key] = true
		}
	}
	require.Len(t, found, keys)

	scan = g.Scan(0, "key *", 10)
	_, err := scan.Next(bg)
	require.NoError(t, err)
	present.Store(servers[1])
	servers[0].Kill()
	_, err = scan.Next(bg)
	require.ErrorContains(t, err, "another server has taken its place")
	require.False(t, scan.More())

	_, err = g.Scan(0, "key *", 2*keys).Next(bg)
	require.NoError(t, err, "which is scanned from the start")
}
