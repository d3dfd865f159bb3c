package redlock_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestLateYesOfAFailedBallotIsUndone(t *testing.T) {
	servers, proxies, clients := proxied(t, 5)
	g := met(t, clients...)
	h := newHold(t, g, "orders")
	var held []*redistest.Held
	for _, p := range proxies[:3] {
		held = append(held, p.Hold(acquireCall, 1))
	}
	require.False(t, decide(t, g, h.acquire()).Won())
	decide(t, g, h.release())
	for _, r := range held {
		r.Release()
	}
	for i, s := range servers {
		redistest.Eventually(t, within, func() bool {
			return proxies[i].Commands(acquireCall) == 1 && proxies[i].Commands(releaseCall) > 0 && !h.on(t, s)
		}, "node %d", i)
	}
}

func TestRemovalIsTriedAgainUntilItIsConfirmed(t *testing.T) {
	servers, proxies, clients := proxied(t, 3)
	g := met(t, clients...)
	h := newHold(t, g, "orders")
	m := h.acquire()
	m.All = true
	require.True(t, decide(t, g, m).Won())
	lost := proxies[0].DropRequest(releaseCall, 3)
	require.True(t, decide(t, g, h.release()).Won(), "the other two confirm")
	lost.Wait(t)
	redistest.Eventually(t, within, func() bool { return !h.on(t, servers[0]) }, "the fourth gets through")
	require.Never(t, func() bool { return proxies[0].Commands(releaseCall) > 1 }, 1200*time.Millisecond, 20*time.Millisecond,
		"what is confirmed is not sent again")
}

func TestRemovalIsNoLongerOwedAfterTheTTL(t *testing.T) {
	_, proxies, clients := proxied(t, 3)
	g := met(t, clients...)
	h := newHold(t, g, "orders")
	h.ttl = time.Second
	m := h.acquire()
	m.All = true
	require.True(t, decide(t, g, m).Won())
	lost := proxies[0].DropRequest(releaseCall, 1000)
	release := h.release()
	require.True(t, decide(t, g, release).Won())
	redistest.Eventually(t, within, func() bool { return lost.Hits() > 2 }, "it is tried again")
	redistest.Eventually(t, within, func() bool { return time.Now().After(release.Until) }, "the key has expired")
	hits := lost.Hits()
	// One may have been on its way. After that there is nothing left to try.
	require.Never(t, func() bool { return lost.Hits() > hits+1 }, 1500*time.Millisecond, 20*time.Millisecond)
}

func TestWhatWasNeverSentToAStoppedNodeLeavesNoDebt(t *testing.T) {
	servers, proxies, clients := proxied(t, 3)
	g := met(t, clients...)
	servers[0].Pause()
	const cycles = 500
	deadline := time.Now().Add(3 * timeout) // well into the time when it is known to be stuck
	n := 0
	for ; n < cycles || time.Now().Before(deadline); n++ {
		h := newHold(t, g, "orders")
		require.True(t, decide(t, g, h.acquire()).Won())
		require.True(t, decide(t, g, h.release()).Won())
	}
	servers[0].Resume()
	probeAll := probe()
	probeAll.All = true
	redistest.Eventually(t, within, func() bool { return decide(t, g, probeAll).Answer(0).Err == nil }, "the node answers again")
	redistest.Eventually(t, within, func() bool { return len(keysButMarks(t, servers[0])) == 0 }, "nothing is left there")
	sent := proxies[0].Commands(scripts)
	t.Logf("%d cycles, %d commands for the stopped node", n, sent)
	require.Less(t, sent, n, "most were dropped with the ballot they were for")
}

func TestManyRemovalsOwedAtOnceAreAllMade(t *testing.T) {
	servers, _, clients := proxied(t, 3)
	g := met(t, clients...)
	all := make([]*hold, 200)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			all[i] = newHold(t, g, fmt.Sprint("name ", i))
			m := all[i].acquire()
			m.All = true
			if b, err := g.Decide(bg, m); err != nil || !b.Won() {
				t.Error("not acquired")
			}
		})
	}
	wg.Wait()
	servers[0].Pause()
	for _, h := range all {
		wg.Go(func() {
			if b, err := g.Decide(bg, h.release()); err != nil || !b.Won() {
				t.Error("not released")
			}
		})
	}
	wg.Wait()
	servers[0].Resume()
	redistest.Eventually(t, within, func() bool { return len(keysButMarks(t, servers[0])) == 0 }, "nothing is left there")
}

// keysButMarks lists what does not expire soon by itself.
func keysButMarks(t testing.TB, s *redistest.Server) (left []string) {
	t.Helper()
	for _, k := range s.Keys(t) {
		if k[len(k)-1] == '}' {
			left = append(left, k)
		}
	}
	return left
}
