package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
)

// Of a lease that is lost, what counts ends with the last time at which it said that it was held. A holder that said so
// only when it got the lock would hide that another one had it, too.
func TestAHolderSaysAllTheWhileThatItHolds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(scratchFor(t), "history")
	rec, err := newRecorder(path)
	require.NoError(t, err)
	client, err := lock.NewClient([]redis.UniversalClient{redistest.Start(t).Client(t)})
	require.NoError(t, err)
	defer client.Close()
	w := &worker{cfg: &Config{TTL: time.Minute}, rec: rec, client: client}
	h := w.lock(t.Context(), w.mutex("orders"), acquisition{name: "orders", blocks: true})
	require.NotNil(t, h)
	held := func() int64 {
		history := new(History)
		require.NoError(t, history.read("w", path))
		require.Len(t, history.Calls, 1)
		return history.Calls[0].Held
	}
	rested := make(chan struct{})
	go func() { h.rest(time.Hour); close(rested) }()
	for range 3 { // it says so as it begins, too
		last := held()
		redistest.Eventually(t, time.Minute, func() bool { return held() > last }, "it says so no more")
	}
	require.NoError(t, h.lease.Unlock(context.Background()))
	<-rested
}
