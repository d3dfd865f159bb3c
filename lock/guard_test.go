package lock_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// newLocker makes a lock of some kind.
type newLocker func(c *lock.Client) anyLock

type anyLock interface {
	lock.Locker
	lock.Inspector
}

// forEachKind runs f with every kind of lock at the same time: each has scripts of its own.
func forEachKind(t *testing.T, f func(t *testing.T, kind newLocker)) {
	for name, kind := range map[string]newLocker{
		"reentrant": func(c *lock.Client) anyLock { return reentrant.New(c, "orders") },
		"fair":      func(c *lock.Client) anyLock { return fair.New(c, "orders") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, kind)
		})
	}
}

// unhurried leaves nodes the time that a busy machine takes: none is silent in these tests.
var unhurried = lock.WithNodeTimeout(10 * time.Second)

// try is a TryLock that the nodes have answered, if only by refusing to vote.
func try(t *testing.T, l lock.Locker) (lease *lock.Lease, err error) {
	t.Helper()
	redistest.Eventually(t, time.Minute, func() bool {
		lease, err = l.TryLock(context.Background())
		return !errors.Is(err, redlock.ErrNoQuorum) || errors.Is(err, redlock.ErrRestarted)
	}, "the nodes answer")
	return lease, err
}

// The classic sequence of trap 13: a bare majority grants, one of its nodes crashes
// without anything on disk and is back at once, and votes for somebody else.
func restartUnderHolder(t *testing.T, kind newLocker, opts ...lock.ClientOption) (second *lock.Lease, state lock.State, err error) {
	servers := redistest.StartN(t, 5)
	var nodes []redis.UniversalClient
	var apart atomic.Bool // the holder reaches no server that has started since, and so learns nothing from it
	for _, s := range servers {
		nodes = append(nodes, s.Client(t, func(o *redis.Options) {
			// The holder's command must not reach a server that starts while it dials again.
			o.DialerRetries = 1
			o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
				if apart.Load() {
					return nil, errors.New("the holder is kept apart")
				}
				return new(net.Dialer).DialContext(ctx, network, address)
			}
		}))
	}
	opts = append(opts, lock.WithTTL(time.Minute), unhurried)
	// The guard must not count the start of the servers as a restart, so the holder has none. Nor
	// does it renew before all is over: that would tell it of the loss.
	alice, err := lock.NewClient(nodes, lock.WithTTL(time.Hour), unhurried)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, alice.Close()) })
	servers[3].Kill()
	servers[4].Kill()
	first, err := kind(alice).Lock(context.Background())
	require.NoError(t, err)
	apart.Store(true)
	servers[3].Start()
	servers[4].Start()
	servers[2].Restart()

	bob, err := lock.NewClient(redistest.Clients(t, servers), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, bob.Close()) })
	orders := kind(bob)
	second, err = try(t, orders)
	require.NoError(t, first.Err(), "the first holder knows nothing")
	state, inspectErr := orders.Inspect(context.Background())
	require.NoError(t, inspectErr)
	return second, state, err
}

func TestWithoutGuardARestartedNodeVotesForASecondHolder(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, kind newLocker) {
		second, _, err := restartUnderHolder(t, kind)
		require.NoError(t, err, "this is what the guard is for")
		require.NoError(t, second.Err())
	})
}

func TestGuardKeepsARestartedNodeFromVoting(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, kind newLocker) {
		second, state, err := restartUnderHolder(t, kind, lock.WithRestartGuard(time.Hour))
		require.Error(t, err)
		require.Nil(t, second)
		restarted := 0
		for _, n := range state.Nodes {
			if n.Err != nil {
				require.ErrorIs(t, n.Err, redlock.ErrRestarted)
				restarted++
			}
		}
		require.Equal(t, 5, restarted, "all servers are young here")
	})
}

func TestNodeVotesOnceItIsOlderThanTheGuard(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, kind newLocker) {
		s := redistest.Start(t)
		var log logbook
		c, err := lock.NewClient([]redis.UniversalClient{s.Client(t)},
			lock.WithTTL(10*time.Second), lock.WithRestartGuard(12*time.Second), unhurried, log.option()) // asked before that is over
		require.NoError(t, err)
		defer c.Close()
		redistest.Eventually(t, time.Minute, func() bool { return len(log.lines("restart guard", "level=WARN")) == 1 }, "it is logged")
		orders := kind(c)
		_, err = try(t, orders)
		require.ErrorIs(t, err, redlock.ErrRestarted)
		require.ErrorIs(t, err, redlock.ErrNoQuorum)
		require.ErrorContains(t, err, "no grants for another")
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		lease, err := orders.Lock(ctx)
		require.NoError(t, err)
		require.NoError(t, lease.Unlock(ctx))
	})
}

// snapshotTTL is short, as a guard must be no less, and long for a busy machine.
const snapshotTTL = 5 * time.Second

// A server comes back with a snapshot from before the last tokens were granted (trap 13).
func tokensAroundAnOldSnapshot(t *testing.T, kind newLocker, opts ...lock.ClientOption) (before, after int64) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	servers := redistest.StartN(t, 3)
	nodes := redistest.Clients(t, servers)
	c, err := lock.NewClient(nodes, append(opts, lock.WithTTL(snapshotTTL), unhurried)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	orders := kind(c)
	grant := func() int64 {
		lease, err := orders.Lock(ctx)
		require.NoError(t, err)
		require.NoError(t, lease.Unlock(ctx))
		return lease.Token()
	}
	redistest.Eventually(t, time.Minute, func() bool {
		token := strconv.FormatInt(grant(), 10)
		return !slices.ContainsFunc(nodes, func(n redis.UniversalClient) bool { return n.Get(ctx, "lock:{orders}:token").Val() != token })
	}, "all counters agree")
	for _, n := range nodes {
		require.NoError(t, n.Save(ctx).Err())
	}
	for range 10 {
		before = grant()
	}
	for _, s := range servers {
		s.Kill()
		s.Start()
	}
	return before, grant()
}

func TestWithoutGuardAnOldSnapshotMakesTokensFall(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, kind newLocker) {
		before, after := tokensAroundAnOldSnapshot(t, kind)
		require.LessOrEqual(t, after, before, "this is what the guard is for")
	})
}

func TestGuardKeepsTokensGrowingAfterAnOldSnapshot(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, kind newLocker) {
		before, after := tokensAroundAnOldSnapshot(t, kind, lock.WithRestartGuard(snapshotTTL))
		require.Greater(t, after, before)
	})
}

// A token may have come from a node whose clock is ahead: tokens grow as long as it is so by
// less than the guard.
func TestGuardHasTokensGrowPastThoseOfAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, kind newLocker) {
		const ahead, guard = 3 * time.Second, snapshotTTL
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		s := redistest.Start(t)
		look := s.Client(t)
		c, err := lock.NewClient([]redis.UniversalClient{s.Client(t)}, lock.WithTTL(snapshotTTL), lock.WithRestartGuard(guard), unhurried)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, c.Close()) })
		orders := kind(c)
		grant := func() int64 {
			lease, err := orders.Lock(ctx)
			require.NoError(t, err)
			require.NoError(t, lease.Unlock(ctx))
			return lease.Token()
		}
		grant()
		require.NoError(t, look.Save(ctx).Err())
		require.NoError(t, look.Set(ctx, "lock:{orders}:token", time.Now().Add(ahead).UnixMicro(), 0).Err())
		before := grant()
		s.Kill()
		s.Start()
		require.Greater(t, grant(), before)
	})
}

// A node that is given a hold again votes in its renewals: not while it is young.
func TestGuardedNodeIsNotRepairedEither(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, kind newLocker) {
		const guard = 12 * time.Second // as is the TTL: a busy machine must not lose the lease
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		servers := redistest.StartN(t, 3)
		c, err := lock.NewClient(redistest.Clients(t, servers), lock.WithTTL(guard), lock.WithRestartGuard(guard), unhurried)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, c.Close()) })
		lease, err := kind(c).Lock(ctx)
		require.NoError(t, err)
		// A quorum may have been old enough, in whole seconds, before the others were. They have the hold with
		// the first renewal; before, it would be lost with one of the quorum.
		for _, s := range servers {
			look := s.Client(t)
			redistest.Eventually(t, time.Minute, func() bool { return look.Exists(ctx, "lock:{orders}").Val() == 1 }, "every node has the hold")
		}
		restarted := time.Now()
		servers[2].Restart()
		look := servers[2].Client(t)
		redistest.Eventually(t, time.Minute, func() bool { return look.Exists(ctx, "lock:{orders}").Val() == 1 }, "it has the hold again")
		require.Greater(t, time.Since(restarted), guard)
		require.NoError(t, lease.Err())
		require.NoError(t, lease.Unlock(ctx))
	})
}

// A node that does not tell how old it is might be young.
func TestGuardedNodeThatTellsNoUptimeDoesNotVote(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, kind newLocker) {
		servers := redistest.StartN(t, 1)
		log := new(logbook)
		c, err := lock.NewClient([]redis.UniversalClient{servers[0].Client(t, redistest.WithoutInfo(t, servers))},
			lock.WithTTL(time.Second), lock.WithRestartGuard(time.Second), unhurried,
			log.option())
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, c.Close()) })
		_, err = try(t, kind(c))
		require.ErrorIs(t, err, redlock.ErrRestarted)
		require.ErrorContains(t, err, "does not tell its uptime")
		within, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_, err = kind(c).Lock(within) // it will not be any older
		require.NoError(t, within.Err())
		require.ErrorContains(t, err, "does not tell its uptime")
		require.Len(t, log.lines("never vote"), 1)
		require.Empty(t, log.lines("started recently"))
	})
}

func TestGuardShorterThanATTLIsRefused(t *testing.T) {
	s := redistest.Start(t)
	_, err := lock.NewClient([]redis.UniversalClient{s.Client(t)}, lock.WithTTL(time.Minute), lock.WithRestartGuard(time.Second))
	require.ErrorContains(t, err, "restart guard")
}
