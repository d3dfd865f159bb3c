package lock_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

// kinds are what runs on Clusters here.
var kinds = map[string]func(*lock.Client, string, ...lock.Option) lock.Locker{
	"reentrant": func(c *lock.Client, name string, opts ...lock.Option) lock.Locker {
		return reentrant.New(c, name, opts...)
	},
	"fair": func(c *lock.Client, name string, opts ...lock.Option) lock.Locker { return fair.New(c, name, opts...) },
}

// short is a node timeout of who is to be told soon that a server is away. A server of a busy
// machine may exceed it.
const short = time.Second

// A clusterRig is a client of a Cluster that holds ten names of each shard.
type clusterRig struct {
	cluster *redistest.Cluster
	locks   *lock.Client
	leases  [][]*lock.Lease // by shard
}

func newClusterRig(t *testing.T, kind func(*lock.Client, string, ...lock.Option) lock.Locker, opts ...lock.ClientOption) *clusterRig {
	t.Helper()
	r := &clusterRig{cluster: redistest.StartCluster(t)}
	locks, err := lock.NewClient([]redis.UniversalClient{r.cluster.Client(t)}, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = locks.Close() })
	r.locks = locks
	for shard := range r.cluster.Servers {
		var leases []*lock.Lease
		for n := range 10 {
			lease, err := kind(r.locks, r.cluster.Name(t, shard, n, "held ")).Lock(context.Background())
			require.NoError(t, err)
			leases = append(leases, lease)
		}
		r.leases = append(r.leases, leases)
	}
	return r
}

// lost counts the leases on a shard that are over.
func (r *clusterRig) lost(shard int) int {
	n := 0
	for _, l := range r.leases[shard] {
		if l.Err() != nil {
			n++
		}
	}
	return n
}

// One shard that is stuck or gone for longer than the TTL takes its own leases, and nothing
// of the others: these do not wait for it, though a node may be silent for longer than that.
func TestAShardThatIsAwayTakesNothingFromTheOthers(t *testing.T) {
	t.Parallel()
	const ttl = 12 * time.Second
	faults := map[string]func(*redistest.Server){
		"stuck":  (*redistest.Server).Pause,
		"killed": (*redistest.Server).Kill,
	}
	for fault, strike := range faults {
		for kind, locker := range kinds {
			t.Run(fault+" "+kind, func(t *testing.T) {
				t.Parallel()
				r := newClusterRig(t, locker, lock.WithTTL(ttl), lock.WithNodeTimeout(20*time.Second))
				hasty, err := lock.NewClient([]redis.UniversalClient{r.cluster.Client(t)}, lock.WithNodeTimeout(short))
				require.NoError(t, err)
				t.Cleanup(func() { _ = hasty.Close() })
				names := make([]string, 2)
				for shard := range names {
					names[shard] = r.cluster.Name(t, shard, 10, "held ")
				}
				sick := r.cluster.Name(t, 2, 10, "held ")
				strike(r.cluster.Servers[2])

				// More than a lane makes tries to get through.
				ctx, cancel := context.WithCancel(context.Background())
				var asking sync.WaitGroup
				defer func() {
					cancel()
					r.cluster.Servers[2].Resume() // it is waited for, by Close as well
					asking.Wait()
				}()
				for range 20 {
					asking.Go(func() { _, _ = locker(r.locks, sick).Lock(ctx) })
				}
				soon, end := context.WithTimeout(ctx, 15*time.Second)
				defer end()
				for range 10 {
					for _, name := range names {
						lease, err := locker(r.locks, name).Lock(soon)
						require.NoError(t, err)
						require.NoError(t, lease.Unlock(soon))
					}
				}
				for _, l := range r.leases[2] {
					<-l.Done()
				}
				require.Zero(t, r.lost(0))
				require.Zero(t, r.lost(1))
				waits, over := context.WithTimeout(context.Background(), 3*short)
				defer over()
				_, err = locker(hasty, sick).Lock(waits)
				require.ErrorIs(t, err, redlock.ErrNoQuorum)
				require.ErrorContains(t, err, "shard "+r.cluster.Servers[2].Addr())
			})
		}
	}
}

// A Cluster can vote as long as it serves any slots.
func TestClientStartsWithAShardAway(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	well, sick := cluster.Name(t, 0, 0, "orders "), cluster.Name(t, 2, 0, "orders ")
	for fault, strike := range map[string]func(*redistest.Server){
		"stuck":  (*redistest.Server).Pause,
		"killed": (*redistest.Server).Kill,
	} {
		strike(cluster.Servers[2])
		log := &logbook{}
		locks, err := lock.NewClient([]redis.UniversalClient{cluster.Client(t)}, lock.WithNodeTimeout(short), log.option())
		require.NoError(t, err, fault)
		redistest.Eventually(t, time.Minute, func() bool { return len(log.lines()) > 0 }, "%s: it is logged", fault)
		require.Len(t, log.lines(cluster.Servers[2].Addr()+" (slots 10922-16383)"), 1, "%s: %s", fault, log.lines())
		lease, err := reentrant.New(locks, well).Lock(context.Background())
		require.NoError(t, err, fault)
		require.NoError(t, lease.Unlock(context.Background()), fault)
		waits, over := context.WithTimeout(context.Background(), 3*short)
		_, err = reentrant.New(locks, sick).Lock(waits)
		over()
		require.ErrorIs(t, err, redlock.ErrNoQuorum, fault)
		require.ErrorContains(t, err, "shard "+cluster.Servers[2].Addr(), fault)

		cluster.Servers[2].Resume()
		cluster.Servers[2].Start()
		cluster.Wait(t)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		lease, err = reentrant.New(locks, sick).Lock(ctx)
		require.NoError(t, err, fault)
		require.NoError(t, lease.Unlock(context.Background()), fault)
		cancel()
		require.NoError(t, locks.Close())
	}
}

// A lock is held, and waited for, while its slot moves to another server and back: slowly,
// with each step taking longer than the TTL.
func TestALockIsKeptWhileItsSlotMoves(t *testing.T) {
	t.Parallel()
	const ttl = 4 * time.Second
	for kind, locker := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			cluster := redistest.StartCluster(t)
			locks := newClient(t, []redis.UniversalClient{cluster.Client(t)}, lock.WithTTL(ttl))
			name := cluster.Name(t, 0, 0, "orders ")
			from, to := cluster.Servers[0], cluster.Servers[1]
			for range 2 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				lease, err := locker(locks, name).Lock(ctx)
				require.NoError(t, err)
				next := make(chan *lock.Lease)
				go func() {
					defer close(next)
					if l, err := locker(locks, name).Lock(ctx); err == nil {
						next <- l
					}
				}()
				cluster.Move(t, cluster.Slot(t, name), from, to, func(step string) {
					before := lease.Deadline()
					redistest.Eventually(t, time.Minute, func() bool {
						require.NoError(t, lease.Err(), step)
						return lease.Deadline().After(before.Add(ttl))
					}, "it is renewed: %s", step)
				})
				inner, err := locker(locks, name).Lock(lease.Context(ctx))
				require.NoError(t, err)
				require.NoError(t, inner.Unlock(ctx))
				require.NoError(t, lease.Unlock(ctx))
				after, ok := <-next
				require.True(t, ok)
				require.Greater(t, after.Token(), lease.Token())
				require.NoError(t, after.Unlock(ctx))
				cancel()
				from, to = to, from
			}
		})
	}
}

// While a slot is moving, a lock of it can be given back.
func TestALockIsGivenBackWhileItsSlotMoves(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	locks := newClient(t, []redis.UniversalClient{cluster.Client(t)})
	for kind, locker := range kinds {
		name := cluster.Name(t, 0, 0, kind)
		from, to := cluster.Servers[0], cluster.Servers[1]
		lease, err := locker(locks, name).Lock(context.Background())
		require.NoError(t, err)
		given := false
		cluster.Move(t, cluster.Slot(t, name), from, to, func(step string) {
			if given || step == "moving" {
				return // with one of its keys moved
			}
			given = true
			require.NoError(t, lease.Unlock(context.Background()), "%s: %s", kind, step)
			for _, s := range []*redistest.Server{from, to} {
				require.NotContains(t, s.Keys(t), "lock:{"+name+"}", kind)
			}
		})
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		lease, err = locker(locks, name).Lock(ctx)
		cancel()
		require.NoError(t, err, kind)
		require.NoError(t, lease.Unlock(context.Background()), kind)
	}
}

// Both is so while its slot moves to a server that has just joined. The client knows no server without slots, so it
// follows each redirection.
func TestALockIsKeptAndGivenBackWhileItsSlotMovesToANewServer(t *testing.T) {
	t.Parallel()
	const ttl = 4 * time.Second
	for kind, locker := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			cluster := redistest.StartCluster(t)
			from, to := cluster.Servers[0], cluster.StartMaster(t)
			locks := newClient(t, []redis.UniversalClient{cluster.Client(t)}, lock.WithTTL(ttl))
			name := cluster.Name(t, 0, 0, "orders ")
			lease, err := locker(locks, name).Lock(context.Background())
			require.NoError(t, err)
			given := false
			cluster.Move(t, cluster.Slot(t, name), from, to, func(step string) {
				if given || len(from.Keys(t)) > 0 {
					return
				}
				given = true
				require.NotEqual(t, "done", step)
				before := lease.Deadline()
				redistest.Eventually(t, time.Minute, func() bool {
					require.NoError(t, lease.Err(), step)
					return lease.Deadline().After(before.Add(ttl))
				}, "it is renewed: %s", step)
				require.NoError(t, lease.Unlock(context.Background()), step)
				require.NotContains(t, to.Keys(t), "lock:{"+name+"}")
			})
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			next, err := locker(locks, name).Lock(ctx)
			require.NoError(t, err)
			require.Greater(t, next.Token(), lease.Token())
			require.NoError(t, next.Unlock(ctx))
		})
	}
}

// So can what others have, too: it is given back in full as soon as that can be done, and until then no key tells
// of a hold that is not there. Another's would be lost by that.
func TestWhatIsSharedIsGivenBackThoughItsSlotMoves(t *testing.T) {
	t.Parallel()
	for kind, locker := range map[string]func(*lock.Client, string) lock.Locker{
		"permits": func(c *lock.Client, name string) lock.Locker { return semaphore.New(c, name, 2).Locker(1) },
		"readers": func(c *lock.Client, name string) lock.Locker { return readwrite.New(c, name).RLocker() },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			cluster := redistest.StartCluster(t)
			name := cluster.Name(t, 0, 0, "orders ")
			keys, err := lua.NewKeys("lock", name)
			require.NoError(t, err)
			take := func() *lock.Lease { // by a client of its own: it is shared at the nodes
				locks := newClient(t, []redis.UniversalClient{cluster.Client(t)}, lock.WithTTL(2*time.Minute), lock.WithNodeTimeout(2*time.Second)) // Unlock waits for it
				lease, err := locker(locks, name).Lock(context.Background())
				require.NoError(t, err)
				return lease
			}
			first, second := take(), take()
			from, to := cluster.Servers[0], cluster.Servers[1]
			has := func(l *lock.Lease) bool {
				for _, s := range []*redistest.Server{from, to} {
					var exists *redis.BoolCmd
					_, _ = s.Client(t).Pipelined(context.Background(), func(p redis.Pipeliner) error {
						p.Do(context.Background(), "ASKING")
						exists = p.HExists(context.Background(), keys.Lock, l.ID())
						return nil // that it is elsewhere is an error of the command
					})
					if exists.Val() {
						return true
					}
				}
				return false
			}
			given := false
			cluster.Move(t, cluster.Slot(t, name), from, to, func(step string) {
				if given || step == "moving" {
					return // with one of its keys moved
				}
				given = true
				err := first.Unlock(context.Background())
				require.ErrorIs(t, err, lock.ErrNoQuorum, step)
				require.ErrorContains(t, err, "TRYAGAIN")
				require.True(t, has(first), "as the other keys have it")
			})
			require.True(t, given)
			redistest.Eventually(t, time.Minute, func() bool { return !has(first) }, "it is given back")
			require.NoError(t, second.Extend(context.Background(), 3*time.Minute))
			require.NoError(t, take().Unlock(context.Background()))
			require.NoError(t, second.Unlock(context.Background()))
			require.NotContains(t, to.Keys(t), keys.Lock)
		})
	}
}

// A release waits for the end of a move, and then it has been done.
func TestAReleaseWaitsForTheEndOfAMove(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	name := cluster.Name(t, 0, 0, "orders ")
	client := func() *lock.Client {
		return newClient(t, []redis.UniversalClient{cluster.Client(t)}, lock.WithTTL(time.Hour))
	}
	locks := client()
	permit, err := semaphore.New(locks, name, 1).Acquire(context.Background(), 1)
	require.NoError(t, err)
	released := make(chan error, 1)
	given := false
	cluster.Move(t, cluster.Slot(t, name), cluster.Servers[0], cluster.Servers[1], func(step string) {
		if !given && step != "moving" {
			given = true
			go func() { released <- permit.Release(context.Background()) }()
		}
	})
	require.NoError(t, <-released)
	require.NoError(t, locks.Close())
	next, err := semaphore.New(client(), name, 1).TryAcquire(context.Background(), 1)
	require.NoError(t, err)
	require.NoError(t, next.Release(context.Background()))
}

// A lock that only its own key keeps is kept no longer for that.
func TestALockIsKeptNoLongerThoughItsSlotMoves(t *testing.T) {
	t.Parallel()
	for kind, locker := range map[string]func(*lock.Client, string, ...lock.Option) lock.Locker{
		"reentrant": func(c *lock.Client, name string, opts ...lock.Option) lock.Locker {
			return reentrant.New(c, name, opts...)
		},
		"noted": func(c *lock.Client, name string, opts ...lock.Option) lock.Locker {
			return reentrant.New(c, name, append(opts, lock.WithNote("export"))...)
		},
		"fair": func(c *lock.Client, name string, opts ...lock.Option) lock.Locker { return fair.New(c, name, opts...) },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			cluster := redistest.StartCluster(t)
			name := cluster.Name(t, 0, 0, "orders ")
			keys, err := lua.NewKeys("lock", name)
			require.NoError(t, err)
			locks := newClient(t, []redis.UniversalClient{cluster.Client(t)}, lock.WithTTL(time.Hour))
			lease, err := locker(locks, name, lock.WithMinHold(time.Minute)).Lock(context.Background())
			require.NoError(t, err)
			from := cluster.Servers[0]
			cluster.Move(t, cluster.Slot(t, name), from, cluster.Servers[1], func(step string) {
				if step != "moving" {
					return
				}
				require.NoError(t, lease.Unlock(context.Background()))
				require.NoError(t, locks.Close())
				left := from.Client(t).PTTL(context.Background(), keys.Lock).Val()
				require.Positive(t, left)
				require.LessOrEqual(t, left, time.Minute)
			})
		})
	}
}

// Who waits for a lock that was given back meanwhile is told when all of the release could be done.
func TestAWaiterIsToldWhenAMoveIsOver(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	name := cluster.Name(t, 0, 0, "orders ")
	keys, err := lua.NewKeys("lock", name)
	require.NoError(t, err)
	client := func() *lock.Client {
		return newClient(t, []redis.UniversalClient{cluster.Client(t)}, lock.WithTTL(time.Hour))
	}
	lease, err := fair.New(client(), name).Lock(context.Background())
	require.NoError(t, err)
	got := make(chan error, 1)
	waits := client()
	go func() {
		l, err := fair.New(waits, name, lock.WithWaiterHeartbeat(time.Hour)).Lock(context.Background())
		if err == nil {
			err = l.Unlock(context.Background())
		}
		got <- err
	}()
	from, to := cluster.Servers[0], cluster.Servers[1]
	redistest.Eventually(t, time.Minute, func() bool {
		return from.Client(t).ZCard(context.Background(), keys.Queue()).Val() == 1
	}, "it waits")
	given := false
	cluster.Move(t, cluster.Slot(t, name), from, to, func(step string) {
		if !given && step != "moving" {
			given = true
			require.NoError(t, lease.Unlock(context.Background()))
		}
	})
	select {
	case err := <-got:
		require.NoError(t, err)
	case <-time.After(10 * time.Second): // it asks by itself after 15
		t.Fatal("it was not told")
	}
}

// Who stops waiting meanwhile is in nobody's way afterwards.
func TestAWaiterLeavesThoughItsSlotMoves(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	locks := newClient(t, []redis.UniversalClient{cluster.Client(t)})
	for kind, locker := range map[string]func(string) lock.Locker{
		"fair": func(name string) lock.Locker { return fair.New(locks, name, lock.WithWaiterHeartbeat(time.Minute)) },
		"permits": func(name string) lock.Locker {
			return semaphore.New(locks, name, 1, lock.WithWaiterHeartbeat(time.Minute)).Locker(1)
		},
		"writers": func(name string) lock.Locker {
			return readwrite.New(locks, name, lock.WithWaiterHeartbeat(time.Minute))
		},
	} {
		name := cluster.Name(t, 0, 0, kind)
		keys, err := lua.NewKeys("lock", name)
		require.NoError(t, err)
		from, to := cluster.Servers[0], cluster.Servers[1]
		queued := func() (n int64) {
			for _, s := range []*redistest.Server{from, to} {
				n += s.Client(t).ZCard(context.Background(), keys.Queue()).Val()
			}
			return n
		}
		lease, err := locker(name).Lock(context.Background())
		require.NoError(t, err, kind)
		ctx, cancel := context.WithCancel(context.Background())
		waited := make(chan error, 1)
		go func() {
			_, err := locker(name).Lock(ctx)
			waited <- err
		}()
		redistest.Eventually(t, time.Minute, func() bool { return queued() == 1 }, "it waits: %s", kind)
		cluster.Move(t, cluster.Slot(t, name), from, to, func(step string) {
			if step == "moving" || ctx.Err() != nil {
				return // with one of its keys moved
			}
			cancel()
			require.ErrorIs(t, <-waited, context.Canceled, kind)
		})
		redistest.Eventually(t, 20*time.Second, func() bool { return queued() == 0 }, "it has left: %s", kind)
		require.NoError(t, lease.Unlock(context.Background()), kind)
	}
}

// Each shard may be emptied alone, and is asked for what it has itself.
func TestAShardThatWasEmptiedHasItsHoldsAgain(t *testing.T) {
	cluster, singles := redistest.StartCluster(t), redistest.StartN(t, 2)
	ctx := context.Background()
	nodes := []redis.UniversalClient{cluster.Client(t), singles[0].Client(t), singles[1].Client(t)}
	locks, err := lock.NewClient(nodes, lock.WithTTL(time.Hour), lock.WithNodeTimeout(10*time.Second)) // nothing is renewed by itself
	require.NoError(t, err)
	defer func() { _ = locks.Close() }()
	for shard, server := range cluster.Servers {
		name := cluster.Name(t, shard, 0, "held ")
		l, err := reentrant.New(locks, name).Lock(ctx)
		require.NoError(t, err)
		defer func() { require.NoError(t, l.Unlock(ctx)) }()
		keys, err := lua.NewKeys("lock", name)
		require.NoError(t, err)
		has := func() bool {
			holder, err := server.Client(t).HGet(ctx, keys.Lock, l.ID()).Result()
			return err == nil && holder != ""
		}
		redistest.Eventually(t, time.Minute, has, "shard %d has its hold", shard)
		require.NoError(t, server.Client(t).FlushAll(ctx).Err())
		redistest.Eventually(t, time.Minute, has, "shard %d has its hold", shard)
	}
}

// A client's waiters are told by the master that has the lock, whichever master has the client's channel: a Cluster
// forwards messages late if it is busy, and not at all while that master is stuck.
func TestAWaiterListensWhereItsLockIs(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	client := func() *lock.Client {
		return newClient(t, []redis.UniversalClient{cluster.Client(t)}, lock.WithTTL(time.Hour))
	}
	for kind, locker := range map[string]func(c *lock.Client, name string) lock.Locker{
		"fair":    func(c *lock.Client, name string) lock.Locker { return fair.New(c, name) },
		"permits": func(c *lock.Client, name string) lock.Locker { return semaphore.New(c, name, 1).Locker(1) },
		"writers": func(c *lock.Client, name string) lock.Locker { return readwrite.New(c, name) },
	} {
		waits := client()
		channel := lua.ClientChannels("lock") + waits.ID()
		shard := (cluster.Shard(t, channel) + 1) % len(cluster.Servers)
		name := cluster.Name(t, shard, 0, kind)
		lease, err := locker(client(), name).Lock(context.Background())
		require.NoError(t, err, kind)
		granted := make(chan *lock.Lease, 1)
		go func() {
			next, _ := locker(waits, name).Lock(context.Background())
			granted <- next
		}()
		near := cluster.Servers[shard].Client(t)
		redistest.Eventually(t, time.Minute, func() bool {
			return near.PubSubNumSub(context.Background(), channel).Val()[channel] == 1
		}, "it listens there: %s", kind)
		require.NoError(t, lease.Unlock(context.Background()), kind)
		next := <-granted
		require.NotNil(t, next, kind)
		require.NoError(t, next.Unlock(context.Background()), kind)
	}
}
