package fair_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
)

// What waits for many names needs no more connections than what waits for one (I8).
func TestWaitersOfAllNamesShareOneSubscription(t *testing.T) {
	t.Parallel()
	const names, each = 100, 3
	r := newRig(t, 3)
	holding, c := r.client(t, calm), r.client(t, calm)
	var leases []*lock.Lease
	ctx, cancel := context.WithCancel(bg)
	ended := make(chan error)
	for i := range names {
		name := fmt.Sprint("name ", i)
		lease, err := fair.New(holding, name).Lock(bg)
		require.NoError(t, err)
		leases = append(leases, lease)
		for range each {
			go func() {
				_, err := fair.New(c, name).Lock(ctx)
				ended <- err
			}()
		}
	}
	for i, s := range r.servers {
		redistest.Eventually(t, within, func() bool {
			waiting := 0
			for _, key := range s.Keys(t) {
				if strings.HasSuffix(key, ":queue") {
					waiting += int(r.eyes[i].ZCard(bg, key).Val())
				}
			}
			return waiting == names*each
		}, "all wait on node %d", i)
		list, err := r.eyes[i].Do(bg, "CLIENT", "LIST", "TYPE", "pubsub").Text()
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(list, "\n"), "one connection listens, for all of a client:\n%s", list)
	}
	cancel()
	for range names * each {
		require.ErrorIs(t, <-ended, context.Canceled)
	}
	// What has given up is no burden to what comes later.
	for i, lease := range leases {
		require.NoError(t, lease.Unlock(bg))
		if i%10 == 0 {
			later, err := fair.New(c, lease.Name()).Lock(bg)
			require.NoError(t, err)
			require.NoError(t, later.Unlock(bg))
		}
	}
	for _, eye := range r.eyes {
		channels, err := eye.PubSubChannels(bg, "*").Result()
		require.NoError(t, err)
		require.Len(t, channels, 1, "of the client, whatever it has waited for")
	}
	require.NoError(t, c.Close())
	for _, eye := range r.eyes {
		redistest.Eventually(t, within, func() bool { return len(eye.PubSubChannels(bg, "*").Val()) == 0 }, "nobody listens")
	}
	r.requireDrained(t)
}
