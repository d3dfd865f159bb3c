package lock_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// The classic sequence of trap 13: a bare majority grants, one of its nodes crashes
// without anything on disk and is back at once, and votes for somebody else.
func restartUnderHolder(t *testing.T, opts ...lock.ClientOption) (second *lock.Lease, state lock.State, err error) {
	servers := redistest.StartN(t, 5)
	var nodes []redis.UniversalClient
	for _, s := range servers {
		// The holder's command must not reach a server that starts while it dials again.
		nodes = append(nodes, s.Client(t, func(o *redis.Options) { o.DialerRetries = 1 }))
	}
	opts = append(opts, lock.WithTTL(20*time.Second))
	// The guard must not count the start of the servers as a restart, so the holder has none.
	alice, err := lock.NewClient(nodes, lock.WithTTL(20*time.Second))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, alice.Close()) })
	servers[3].Kill()
	servers[4].Kill()
	first, err := reentrant.New(alice, "orders").Lock(context.Background())
	require.NoError(t, err)
	servers[3].Start()
	servers[4].Start()
	servers[2].Restart()

	bob, err := lock.NewClient(redistest.Clients(t, servers), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, bob.Close()) })
	orders := reentrant.New(bob, "orders")
	second, err = orders.TryLock(context.Background())
	require.NoError(t, first.Err(), "the first holder knows nothing")
	state, inspectErr := orders.Inspect(context.Background())
	require.NoError(t, inspectErr)
	return second, state, err
}

func TestWithoutGuardARestartedNodeVotesForASecondHolder(t *testing.T) {
	t.Parallel()
	second, _, err := restartUnderHolder(t)
	require.NoError(t, err, "this is what the guard is for")
	require.NoError(t, second.Err())
}

func TestGuardKeepsARestartedNodeFromVoting(t *testing.T) {
	t.Parallel()
	second, state, err := restartUnderHolder(t, lock.WithRestartGuard(20*time.Second))
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
}

func TestNodeVotesOnceItIsOlderThanTheGuard(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, err := lock.NewClient([]redis.UniversalClient{s.Client(t)},
		lock.WithTTL(time.Second), lock.WithRestartGuard(2*time.Second))
	require.NoError(t, err)
	defer c.Close()
	orders := reentrant.New(c, "orders")
	_, err = orders.TryLock(context.Background())
	require.ErrorIs(t, err, redlock.ErrRestarted)
	require.ErrorIs(t, err, redlock.ErrNoQuorum)
	require.ErrorContains(t, err, "no grants for another")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	lease, err := orders.Lock(ctx)
	require.NoError(t, err)
	require.NoError(t, lease.Unlock(ctx))
}

// A server comes back with a snapshot from before the last tokens were granted (trap 13).
func tokensAroundAnOldSnapshot(t *testing.T, opts ...lock.ClientOption) (before, after int64) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	servers := redistest.StartN(t, 3)
	nodes := redistest.Clients(t, servers)
	c, err := lock.NewClient(nodes, append(opts, lock.WithTTL(time.Second))...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	orders := reentrant.New(c, "orders")
	grant := func() int64 {
		lease, err := orders.Lock(ctx)
		require.NoError(t, err)
		require.NoError(t, lease.Unlock(ctx))
		return lease.Token()
	}
	redistest.Eventually(t, 10*time.Second, func() bool {
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
	before, after := tokensAroundAnOldSnapshot(t)
	require.LessOrEqual(t, after, before, "this is what the guard is for")
}

func TestGuardKeepsTokensGrowingAfterAnOldSnapshot(t *testing.T) {
	t.Parallel()
	before, after := tokensAroundAnOldSnapshot(t, lock.WithRestartGuard(time.Second))
	require.Greater(t, after, before)
}

// A node that is given a hold again votes in its renewals: not while it is young.
func TestGuardedNodeIsNotRepairedEither(t *testing.T) {
	t.Parallel()
	const guard = 2 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	servers := redistest.StartN(t, 3)
	c, err := lock.NewClient(redistest.Clients(t, servers), lock.WithTTL(time.Second), lock.WithRestartGuard(guard))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	lease, err := reentrant.New(c, "orders").Lock(ctx)
	require.NoError(t, err)
	restarted := time.Now()
	servers[2].Restart()
	look := servers[2].Client(t)
	redistest.Eventually(t, 15*time.Second, func() bool { return look.Exists(ctx, "lock:{orders}").Val() == 1 }, "it has the hold again")
	require.Greater(t, time.Since(restarted), guard)
	require.NoError(t, lease.Err())
	require.NoError(t, lease.Unlock(ctx))
}

func TestGuardShorterThanATTLIsRefused(t *testing.T) {
	s := redistest.Start(t)
	_, err := lock.NewClient([]redis.UniversalClient{s.Client(t)}, lock.WithTTL(time.Minute), lock.WithRestartGuard(time.Second))
	require.ErrorContains(t, err, "restart guard")
}
