package redlock_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/redlock"
)

// A firewall that drops what it does not know: connections are gone, dials hang. The
// caller of a single node runs its command itself, and must not wait as long as go-redis
// would.
func TestDialThatHangsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	var hang atomic.Bool
	over := make(chan struct{})
	client := s.Client(t, func(o *redis.Options) {
		o.DialTimeout = time.Hour // if anybody waits for it, the test does not end
		o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if hang.Load() {
				select {
				case <-ctx.Done():
				case <-over:
				}
				return nil, &net.OpError{Op: "dial", Net: network, Err: net.ErrClosed}
			}
			var d net.Dialer
			return d.DialContext(ctx, network, addr)
		}
	})
	g := hasty(t, timeout, client)
	redistest.Eventually(t, within, func() bool { return decide(t, g, probe()).Won() }, "it is there")
	hang.Store(true)
	require.NoError(t, s.Client(t).ClientKillByFilter(bg, "TYPE", "normal", "SKIPME", "yes").Err())
	for range 2 { // the second on the lane
		b := decide(t, g, probe())
		require.False(t, b.Won())
		require.ErrorIs(t, b.Err(), redlock.ErrSilent)
		require.NotErrorIs(t, b.Err(), context.DeadlineExceeded, "it is nobody's deadline")
	}
	close(over)
}

// The most frequent reason of all why nobody answers: the server does not run.
func TestARefusedConnectionIsNamed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	g := hasty(t, timeout, s.Client(t))
	s.Kill()
	redistest.Eventually(t, within, func() bool {
		err := decide(t, g, probe()).Err()
		return errors.Is(err, redlock.ErrSilent) && strings.Contains(err.Error(), "connection refused")
	}, "it says that nobody listens")
	s.Restart()
	redistest.Eventually(t, within, func() bool { return decide(t, g, probe()).Won() }, "it is back")
	s.Pause()
	b := decide(t, g, probe())
	require.ErrorIs(t, b.Err(), redlock.ErrSilent)
	require.NotContains(t, b.Err().Error(), "refused", "it is silent for another reason now")
}
