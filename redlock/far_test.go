package redlock_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/redlock"
)

// far makes a group whose nodes answer after their delays. It knows by then how far
// they are.
func far(t *testing.T, delays ...time.Duration) ([]*redistest.Server, []*redistest.Proxy, cycle) {
	t.Helper()
	servers, proxies, clients := proxied(t, len(delays))
	for i, p := range proxies {
		p.SetDelay(delays[i])
	}
	g := met(t, clients...)
	run := func(name string) (lock, unlock time.Duration) {
		won := false
		for !won { // it may, rarely, overtake the last release
			h := newHold(t, g, name)
			start := time.Now()
			won = decide(t, g, h.acquire()).Won()
			lock = time.Since(start)
			start = time.Now()
			require.True(t, decide(t, g, h.release()).Won())
			unlock = time.Since(start)
		}
		return lock, unlock
	}
	for range 20 {
		run("warm up")
	}
	return servers, proxies, run
}

type cycle func(name string) (lock, unlock time.Duration)

func TestCallersDoNotWaitForEachOthersRoundTripToAFarNode(t *testing.T) {
	const trip = 40 * time.Millisecond
	_, proxies, run := far(t, trip/4, trip/2, trip, trip+trip/2, 3*trip)
	var mu sync.Mutex
	var locks, unlocks []time.Duration
	var callers sync.WaitGroup
	for i := range 32 {
		callers.Go(func() {
			for round := range 16 {
				lock, unlock := run(fmt.Sprint("name ", i))
				if round < 8 {
					continue // each new connection takes three round trips, once
				}
				mu.Lock()
				locks, unlocks = append(locks, lock), append(unlocks, unlock)
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	t.Logf("the third fastest node answers in %v; median of acquire: %v, of release: %v", trip, median(locks), median(unlocks))
	// One flight at a time would take from half a round trip to a whole one more.
	require.Less(t, median(locks), trip*7/5)
	require.Less(t, median(unlocks), trip*7/5)
	// For each flight that finds none idle go-redis makes a connection, and keeps it. All are
	// of the pool of the user's client.
	for i, p := range proxies {
		require.LessOrEqual(t, p.Connections(), 10*runtime.GOMAXPROCS(0), "to node %d", i)
	}
}

func TestCommandsAboutOneKeyReachAFarNodeInOrder(t *testing.T) {
	servers, _, run := far(t, 2*time.Millisecond, 3*time.Millisecond, 30*time.Millisecond)
	var callers sync.WaitGroup
	for i := range 16 {
		callers.Go(func() {
			for range 20 {
				run(fmt.Sprint("name ", i))
			}
		})
	}
	callers.Wait()
	// A release that might overtake the acquisition would have to leave a mark. On a busy
	// machine a few do, behind a node that seems to be silent.
	for _, s := range servers {
		c := s.Client(t)
		redistest.Eventually(t, within, func() bool {
			keys, err := c.Keys(context.Background(), "lock:{name*}").Result()
			require.NoError(t, err)
			return len(keys) == 0
		}, "each hold is gone")
		marks, err := c.Keys(context.Background(), "*:void").Result()
		require.NoError(t, err)
		require.LessOrEqual(t, len(marks), 4, "of 16 names")
	}
}

// Single calls and pipelines have connections of their own. Whoever is the first to need one
// does not wait for it: that takes four round trips, and would be too late here.
func TestTheFirstPipelineToAFarNodeIsInTime(t *testing.T) {
	t.Parallel()
	_, proxies, clients := proxied(t, 1)
	proxies[0].SetDelay(timeout * 2 / 5)
	g := met(t, clients...)
	for _, n := range []int{1, 2} {
		open := proxies[0].Connections()
		_, acquires := crowd(t, g, n, fmt.Sprint(n, " together "))
		var last *redlock.Ballot
		for _, m := range acquires {
			last = g.Draft(m)
			last.Prepare()
		}
		last.Send(bg)
		require.NoError(t, last.Wait(bg))
		require.True(t, last.Won(), last.Err())
		require.Equal(t, open, proxies[0].Connections())
	}
}
