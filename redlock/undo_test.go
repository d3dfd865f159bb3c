package redlock_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/redlock"
)

// slow is the node timeout where one node is stopped, and the others must answer in time
// on a busy machine.
const slow = time.Second

func TestLateYesOfAFailedBallotIsUndone(t *testing.T) {
	servers, proxies, clients := proxied(t, 5)
	g := hasty(t, timeout, clients...)
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
	g := hasty(t, slow, clients...)
	servers[0].Pause()
	const cycles = 500
	deadline := time.Now().Add(3 * slow) // well into the time when it is known to be stuck
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
	g := hasty(t, slow, clients...)
	all := make([]*hold, 200)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			all[i] = newHold(t, g, fmt.Sprint("name ", i))
			m := all[i].acquire()
			m.All, m.Patience = true, within
			if b, err := g.Decide(bg, m); err != nil || !b.Won() {
				t.Error("not acquired")
			}
		})
	}
	wg.Wait()
	servers[0].Pause()
	for _, h := range all {
		wg.Go(func() {
			m := h.release()
			m.Patience = within // of the two that answer
			if b, err := g.Decide(bg, m); err != nil || !b.Won() {
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

func TestSilentNodeToWhichMuchIsOwedIsSentNothingMoreThatCreates(t *testing.T) {
	servers, proxies, clients := proxied(t, 3)
	const timeout = 5 * time.Second // half of which is no wait for it, even on a busy machine
	g := hasty(t, timeout, clients...)
	redistest.Eventually(t, within, g.Idle, "no runner takes a part of the crowd along")
	servers[0].Pause()
	const crowd = 1200 // more than a flight
	all := make([]*hold, crowd)
	ballots := make([]*redlock.Ballot, crowd)
	for i := range all {
		all[i] = newHold(t, g, fmt.Sprint("name ", i))
		all[i].ttl = 2 * within // none is left to it
		ballots[i] = g.Draft(all[i].acquire())
		ballots[i].Prepare()
	}
	ballots[0].Send(bg)
	for i, h := range all {
		require.NoError(t, ballots[i].Wait(bg))
		h.ttl = 0 // nothing is owed for its sake
		g.Vote(h.release())
	}
	ask := func() error { // what the node says to one more
		h := newHold(t, g, "one more")
		m := h.acquire()
		m.All = true
		b := decide(t, g, m)
		decide(t, g, h.release())
		return b.Answer(0).Err
	}
	redistest.Eventually(t, within, func() bool {
		sent := proxies[0].Commands(acquireCall)
		start := time.Now()
		err := ask()
		return time.Since(start) < timeout/2 && proxies[0].Commands(acquireCall) == sent && errors.Is(err, redlock.ErrSilent)
	}, "the node is not waited for")
	servers[0].Resume()
	redistest.Eventually(t, within, func() bool { return len(keysButMarks(t, servers[0])) == 0 }, "nothing is left there")
	redistest.Eventually(t, within, func() bool { return ask() == nil }, "it is sent what creates a key again")
}
