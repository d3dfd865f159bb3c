package lock_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// What a minority says of a holder is nothing to go by: with a quorum down nobody can tell
// whether the lock is held, and waiting for its holder would be no use.
func TestHeldLockOfWhichAQuorumIsDownIsNoQuorum(t *testing.T) {
	for name, fault := range faults {
		for kind, locker := range map[string]func(*process) lock.Locker{
			"reentrant": func(p *process) lock.Locker { return p.mutex() },
			"fair":      func(p *process) lock.Locker { return p.queue() },
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
					w.lock(locker(w.process()))
					m := locker(w.process())
					each(w.quorum(), fault)
					start := time.Now()
					l, err := m.TryLock(bg)
					require.Nil(t, l)
					require.ErrorIs(t, err, redlock.ErrNoQuorum)
					require.NotErrorIs(t, err, lock.ErrLocked)
					require.LessOrEqual(t, time.Since(start), defaultNodeTimeout)
				})
			})
		}
	}
}

// A node's connection may fail as a context does that has ended, because the dial took too long or was given up. No context
// of the caller's has ended.
func TestADialThatEndsLikeAContextIsNoEndOfTheCallers(t *testing.T) {
	for _, ended := range []error{context.DeadlineExceeded, context.Canceled} {
		t.Run(ended.Error(), func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				h := virtual.NewHost(w.nodes)
				clients := h.Clients(t)
				var fails atomic.Bool
				for i, c := range clients {
					o := *c.(*redis.Client).Options()
					dial := o.Dialer
					o.DialerRetries, o.MaxRetries = 1, -1
					o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
						if fails.Load() {
							return nil, &net.OpError{Op: "dial", Net: network, Err: ended}
						}
						return dial(ctx, network, address)
					}
					clients[i] = redis.NewClient(&o)
					t.Cleanup(func() { _ = clients[i].Close() })
				}
				locks, err := lock.NewClient(clients, lock.WithoutProbe())
				require.NoError(t, err)
				t.Cleanup(func() { _ = locks.Close() })
				fails.Store(true)
				h.Reset()
				for range 3 { // the first may find that the connections are broken
					var l *lock.Lease
					l, err = reentrant.New(locks, "orders").TryLock(bg)
					require.Nil(t, l)
					require.ErrorIs(t, err, lock.ErrNoQuorum)
					require.NotErrorIs(t, err, context.DeadlineExceeded)
					require.NotErrorIs(t, err, context.Canceled)
					require.Equal(t, "no_quorum", lock.Acquisition{Err: err}.Outcome())
				}
				require.ErrorContains(t, err, ended.Error())
			})
		})
	}
}
