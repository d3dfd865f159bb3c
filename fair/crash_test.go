package fair_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
)

// Processes that die. Exact bounds are in virtual time, see virtual_test.go; here it is
// real processes and real servers.

func TestProcessKilledAsTheHeadDelaysTheNextByLittleWhereTheServerSeesIt(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 5} {
		r := newRig(t, n)
		lease := r.hold(t)
		// Nobody waits for the heartbeats; but what a node kept of the dead is gone soon after.
		const beat = 16 * time.Second
		dead := r.program(t, func(s *setup) { s.Beat = beat })
		first := r.enqueue(t, dead, "first")
		second := r.enqueue(t, dead, "second")
		next := r.enqueue(t, here{r.client(t, lock.WithWaiterHeartbeat(beat))}, "next")
		first.visit.Leave()
		second.visit.Leave()
		dead.kill(t)
		require.NoError(t, lease.Unlock(bg))
		next.requireGranted(t, promptly)
		require.NoError(t, next.unlock())
		r.requireOrder(t)
		r.requireDrained(t)
	}
}

// In a Cluster somebody may listen at another server.
func TestProcessKilledAsTheHeadOfAClusterDelaysTheNextByItsHeartbeat(t *testing.T) {
	t.Parallel()
	r := clusterRig(t)
	lease := r.hold(t)
	dead := r.program(t, func(s *setup) { s.Beat = beatDefault })
	first := r.enqueue(t, dead, "first")
	next := r.enqueue(t, here{r.client(t)}, "next")
	first.visit.Leave()
	dead.kill(t)
	released := time.Now()
	require.NoError(t, lease.Unlock(bg))
	next.requireGranted(t, beatDefault+promptly)
	t.Logf("after %v", time.Since(released))
	require.NoError(t, next.unlock())
	r.requireDrained(t)
}

// A machine that loses its power tells nobody.
func TestHeadThatTheNetworkLostDelaysTheNextByItsHeartbeat(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := newRig(t, n)
		lease := r.hold(t)
		c, proxies := r.proxied(t)
		first := r.enqueue(t, here{c}, "first")
		next := r.enqueue(t, here{r.client(t, lock.WithNodeTimeout(within))}, "next") // its nodes are well
		first.visit.Leave()
		for _, p := range proxies {
			p.Blackhole(true)
		}
		released := time.Now()
		require.NoError(t, lease.Unlock(bg))
		next.requireGranted(t, beatDefault+promptly)
		t.Logf("%d nodes: after %v", n, time.Since(released))
		require.NoError(t, next.unlock())
		for _, p := range proxies {
			p.Blackhole(false)
			p.Reset()
		}
		// It was taken for dead, and comes back.
		first.pass(t)
		r.requireDrained(t)
	}
}

func TestProcessKilledAsTheHolderDelaysTheHeadByItsTTL(t *testing.T) {
	t.Parallel()
	const ttl = 2 * time.Second
	for _, n := range []int{1, 5} {
		r := newRig(t, n)
		holder := r.program(t, func(s *setup) { s.TTL = ttl })
		holding := holder.lock(r, "holder")
		holding.requireGranted(t, within)
		first := r.enqueue(t, here{r.client(t, calm)}, "first")
		second := r.enqueue(t, here{r.client(t, calm)}, "second")
		holder.kill(t)
		r.inside.Add(-1)
		killed := time.Now()
		first.requireGranted(t, ttl+promptly)
		t.Logf("%d nodes: after %v", n, time.Since(killed))
		require.False(t, second.over())
		require.NoError(t, first.unlock())
		second.pass(t)
		r.requireOrder(t)
		r.requireDrained(t)
	}
}

// Nobody is left to do anything: the queue must go by itself.
func TestQueueOfTheDeadGoesByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	holder := r.program(t, func(s *setup) { s.TTL, s.Beat = time.Second, time.Second })
	holder.lock(r, "holder").requireGranted(t, within)
	waiter := r.program(t, func(s *setup) { s.Beat = time.Second })
	r.enqueue(t, waiter, "waiter")
	holder.kill(t)
	waiter.kill(t)
	r.requireDrained(t)
	for _, s := range r.servers {
		redistest.Eventually(t, within, func() bool { return len(s.Keys(t)) == 1 }, "only the counter is left")
	}
}
