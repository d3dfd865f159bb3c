package lock_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
)

// failoverWithin is several times what a Cluster takes to notice that a master is gone, and to
// have a replica take over.
const failoverWithin = 30 * time.Second

// clusterPatience is a node timeout that no server of a busy machine exceeds. One that is gone
// refuses connections.
const clusterPatience = 2 * time.Second

// Locks of a shard are held, waited for and asked for all the time while its replica takes over.
// What the master had passed on is kept, and the other shards notice nothing.
func TestLocksOutliveTheFailoverOfTheirShard(t *testing.T) {
	t.Parallel()
	failovers := map[string]func(*testing.T, *redistest.Cluster, *redistest.Server){
		"asked for": func(t *testing.T, c *redistest.Cluster, replica *redistest.Server) { c.Failover(t, replica) },
		"master killed": func(t *testing.T, c *redistest.Cluster, replica *redistest.Server) {
			c.Servers[0].Kill()
			c.WaitForMaster(t, replica)
		},
	}
	for failover, happen := range failovers {
		for kind, locker := range kinds {
			t.Run(failover+" "+kind, func(t *testing.T) {
				t.Parallel()
				cluster := redistest.StartCluster(t)
				replica := cluster.StartReplica(t, 0)
				opts := []lock.ClientOption{lock.WithTTL(time.Minute), lock.WithNodeTimeout(clusterPatience)}
				holder, rival := clusterClient(t, cluster, opts...), clusterClient(t, cluster, opts...)
				ctx, cancel := context.WithTimeout(context.Background(), 4*failoverWithin)
				defer cancel()

				name := cluster.Name(t, 0, 0, "held ")
				lease, err := locker(holder, name).Lock(ctx)
				require.NoError(t, err)
				next := make(chan *lock.Lease, 1)
				go func() {
					defer close(next)
					if l, err := locker(rival, name).Lock(ctx); assert.NoError(t, err) {
						next <- l
					}
				}()
				load := loadCluster(t, cluster, locker, holder, rival)
				load.turn(t)
				requireReplicated(t, cluster.Servers[0])
				happen(t, cluster, replica)
				load.turn(t)

				require.NoError(t, lease.Err())
				redistest.Eventually(t, failoverWithin, func() bool {
					err := lease.Extend(ctx, 2*time.Minute)
					require.NotErrorIs(t, err, lock.ErrLost)
					return err == nil
				}, "the new master extends it")
				require.Empty(t, next, "it is held")
				require.NoError(t, lease.Unlock(ctx))
				after, ok := <-next
				require.True(t, ok)
				require.Greater(t, after.Token(), lease.Token())
				require.NoError(t, after.Unlock(ctx))
				load.end(t)
			})
		}
	}
}

func clusterClient(t *testing.T, c *redistest.Cluster, opts ...lock.ClientOption) *lock.Client {
	t.Helper()
	locks, err := lock.NewClient([]redis.UniversalClient{c.Client(t)}, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = locks.Close() })
	return locks
}

// requireReplicated waits until the server's replica has all that was written so far.
func requireReplicated(t *testing.T, s *redistest.Server) {
	t.Helper()
	n, err := s.Client(t).Wait(context.Background(), 1, failoverWithin).Result()
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
}

// A clusterLoad takes and gives back locks of all shards, each again and again, until its end.
type clusterLoad struct {
	cancel  context.CancelFunc
	callers sync.WaitGroup

	mu     sync.Mutex
	counts map[string]int // locks that were taken
	failed []error        // on shards that no failover concerns
}

func loadCluster(t *testing.T, cluster *redistest.Cluster, locker func(*lock.Client, string, ...lock.Option) lock.Locker, clients ...*lock.Client) *clusterLoad {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	load := &clusterLoad{cancel: cancel, counts: make(map[string]int)}
	t.Cleanup(load.callers.Wait)
	t.Cleanup(cancel)
	load.mu.Lock()
	defer load.mu.Unlock()
	for shard := range cluster.Servers {
		for n := range 2 {
			name := cluster.Name(t, shard, n, "load ")
			load.counts[name] = 0
			for _, c := range clients {
				load.callers.Go(func() { load.call(ctx, locker(c, name), shard == 0) })
			}
		}
	}
	return load
}

// call takes a lock and gives it back until ctx ends. If its shard fails, so may it.
func (l *clusterLoad) call(ctx context.Context, m lock.Locker, fails bool) {
	for ctx.Err() == nil {
		err := m.Do(ctx, func(context.Context) error { return nil })
		l.mu.Lock()
		switch {
		case err == nil:
			l.counts[m.Name()]++
		case !fails && ctx.Err() == nil:
			l.failed = append(l.failed, fmt.Errorf("%s: %w", m.Name(), err))
		}
		l.mu.Unlock()
	}
}

// turn waits until each name has been locked some more.
func (l *clusterLoad) turn(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	before := make(map[string]int, len(l.counts))
	for name, n := range l.counts {
		before[name] = n
	}
	l.mu.Unlock()
	redistest.Eventually(t, failoverWithin, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for name, n := range l.counts {
			if n < before[name]+3 {
				return false
			}
		}
		return true
	}, "all names are locked again and again")
}

// end ends the load, which nothing may have disturbed on healthy shards.
func (l *clusterLoad) end(t *testing.T) {
	t.Helper()
	l.cancel()
	l.callers.Wait()
	require.NoError(t, errors.Join(l.failed...))
}
