package reentrant_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// promptly is well below the time between polls (3 s): what takes no longer was woken.
const promptly = 1500 * time.Millisecond

// waiter starts a Lock by another process, which unlocks at once and reports how long
// that took after released was called.
func (r *rig) waiter(t *testing.T, c *lock.Client) (released func() time.Duration) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		lease, err := reentrant.New(c, r.name).Lock(bg)
		if err == nil {
			err = lease.Unlock(bg)
		}
		done <- err
	}()
	return func() time.Duration {
		start := time.Now()
		require.NoError(t, <-done)
		return time.Since(start)
	}
}

// requireSubscribed waits until n connections of a node listen to the mutex.
func (r *rig) requireSubscribed(t *testing.T, n int64) {
	t.Helper()
	for _, s := range r.servers {
		c := s.Client(t)
		redistest.Eventually(t, within, func() bool {
			return c.PubSubNumSub(bg, r.keys().Channel()).Val()[r.keys().Channel()] == n
		}, "%d subscriptions", n)
	}
}

// requirePrompt plays a scene until what happens in it is prompt. On a machine so busy that a
// message takes as long as a poll, nobody can tell whether it was heard.
func requirePrompt(t *testing.T, scene func() time.Duration) {
	t.Helper()
	redistest.Eventually(t, within/3, func() bool { return scene() < promptly }, "a waiter is woken, and does not have to look")
}

func TestReleaseBeforeTheSubscriptionIsNotMissed(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		requirePrompt(t, func() time.Duration { return releaseBeforeTheSubscription(t, n) })
	}
}

func releaseBeforeTheSubscription(t *testing.T, n int) time.Duration {
	t.Helper()
	r := newRig(t, n)
	lease, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	// The other comes by proxies of its own, so that only its subscription is late.
	other := &rig{servers: r.servers, name: r.name}
	var held []*redistest.Held
	for _, s := range r.servers {
		p := redistest.NewProxy(t, s.Addr())
		held = append(held, p.Hold(redistest.Command("SUBSCRIBE"), 1))
		other.proxies = append(other.proxies, p)
	}
	wait := r.waiter(t, other.client(t))
	for _, h := range held {
		h.Wait(t) // it has tried, in vain, and wants to sleep
	}
	require.NoError(t, lease.Unlock(bg))
	for _, h := range held {
		h.Release()
	}
	took := wait()
	r.requireClean(t)
	return took
}

func TestWaiterWakesAlthoughItsSubscriptionsAreKilled(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := newRig(t, n)
		other := r.client(t)
		for range 3 {
			requirePrompt(t, func() time.Duration {
				lease, err := r.mutex().Lock(bg)
				require.NoError(t, err)
				wait := r.waiter(t, other)
				r.requireSubscribed(t, 1)
				// The release falls into the gap: nobody is subscribed when it is published.
				for _, s := range r.servers {
					c := s.Client(t)
					redistest.Eventually(t, within, func() bool { // on a busy machine, one may connect again by itself
						killed, _ := c.Do(bg, "CLIENT", "KILL", "TYPE", "pubsub").Int64()
						return killed > 0
					}, "a subscription is killed")
				}
				require.NoError(t, lease.Unlock(bg))
				return wait()
			})
		}
		r.requireClean(t)
	}
}

func TestHolderWithoutATTLDoesNotMakeAWaiterSpin(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	for _, s := range r.servers {
		require.NoError(t, s.Client(t).HSet(bg, r.keys().Lock, "a stranger", 1).Err())
	}
	ctx, cancel := context.WithTimeout(bg, 2*time.Second)
	defer cancel()
	_, err := r.mutex().Lock(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "a stranger")
	require.ErrorContains(t, err, "no TTL")
	for _, p := range r.proxies {
		require.LessOrEqual(t, p.Commands(acquireCall), 4, "attempts in two seconds")
	}

	// It is not waited for in vain either.
	wait := r.waiter(t, r.locks)
	for _, s := range r.servers {
		require.NoError(t, s.Client(t).Del(bg, r.keys().Lock).Err())
	}
	wait() // a poll finds the lock free
	r.requireClean(t)
}

func TestCrashedHolderBlocksNoLongerThanItsTTL(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	ttl := 700 * time.Millisecond
	for _, s := range r.servers {
		c := s.Client(t)
		require.NoError(t, c.HSet(bg, r.keys().Lock, "crashed", 1).Err())
		require.NoError(t, c.PExpire(bg, r.keys().Lock, ttl).Err())
	}
	require.Less(t, r.waiter(t, r.locks)(), within) // exactly when: see package lock's test in virtual time
}

func TestOneReleaseCausesOneAttemptNotOnePerNode(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5)
	other := r.client(t)
	const rounds = 20
	count := func() (n int) {
		for _, p := range r.proxies {
			n += p.Commands(acquireCall)
		}
		return n
	}
	first := count()
	for range rounds {
		before := count()
		lease, err := r.mutex().Lock(bg)
		require.NoError(t, err)
		wait := r.waiter(t, other)
		// At least a quorum sees each: what the others decide first is not sent any more.
		redistest.Eventually(t, within, func() bool { return count() >= before+3*3 }, "it has tried, subscribed, tried again, and sleeps")
		require.NoError(t, lease.Unlock(bg))
		wait()
	}
	// One to lock, one try, one more after the subscription, one when woken; rarely one
	// more for nodes that publish late.
	require.LessOrEqual(t, count()-first, 5*5*rounds)
	r.requireClean(t)
}

func TestSubscriptionsOfThePastAreGivenUp(t *testing.T) {
	t.Parallel()
	const names = 200
	r := newRig(t, 1)
	c := r.servers[0].Client(t)
	other := r.client(t)
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	var wg sync.WaitGroup
	for i := range names {
		wg.Go(func() {
			name := fmt.Sprint("name ", i)
			lease, err := reentrant.New(r.locks, name).Lock(bg)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := reentrant.New(other, name).Lock(ctx); err == nil {
				t.Error("two have it")
			}
			if err := lease.Unlock(bg); err != nil {
				t.Error(err)
			}
		})
	}
	redistest.Eventually(t, within, func() bool { return len(c.PubSubChannels(bg, "*").Val()) >= names }, "each listens")
	cancel()
	wg.Wait()
	redistest.Eventually(t, within, func() bool { return len(c.PubSubChannels(bg, "*").Val()) == 0 }, "no channel is left")
	r.requireClean(t)
}

func TestWaitingNeedsNoConnectionsOfThePool(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	loadScripts(t, s)
	// Two connections, for fifty who wait on fifty names.
	holder := newClient(t, []redis.UniversalClient{s.Client(t)})
	small := newClient(t, []redis.UniversalClient{s.Client(t, func(o *redis.Options) { o.PoolSize = 2 })})
	var leases []*lock.Lease
	var waits []func() time.Duration
	for i := range 50 {
		r := &rig{name: fmt.Sprint("name ", i)}
		lease, err := reentrant.New(holder, r.name).Lock(bg)
		require.NoError(t, err)
		leases = append(leases, lease)
		waits = append(waits, r.waiter(t, small))
	}
	free, err := reentrant.New(small, "free").Lock(bg)
	require.NoError(t, err)
	require.NoError(t, free.Unlock(bg))
	for i := range leases {
		require.NoError(t, leases[i].Unlock(bg))
		waits[i]()
	}
}
