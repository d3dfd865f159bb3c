package redlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/redlock"
)

const trip = 80 * time.Millisecond

// prepared has a hold's release wait for company, on so many nodes.
func prepared(t *testing.T, n int) (*redlock.Group, *redlock.Ballot, *hold, func() int) {
	t.Helper()
	return preparedWithin(t, patience, n)
}

func preparedWithin(t *testing.T, timeout time.Duration, n int) (g *redlock.Group, release *redlock.Ballot, next *hold, sent func() int) {
	t.Helper()
	_, proxies, clients := proxied(t, n)
	g = hasty(t, timeout, clients...)
	h := newHold(t, g, "orders")
	prepare(g, probe()) // pipelines have connections of their own, which are made now
	all := h.acquire()
	all.All = true
	require.True(t, decide(t, g, all).Won())
	for _, p := range proxies {
		p.SetDelay(trip) // what is sent apart arrives apart
	}
	redistest.Eventually(t, within, g.Idle, "no runner takes along what is prepared next")
	release = prepare(g, h.release())
	return g, release, newHold(t, g, "orders"), func() int {
		most := 0
		for _, p := range proxies {
			most = max(most, p.Commands(releaseCall))
		}
		return most
	}
}

func TestPreparedLeavesWithTheNextMotion(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		g, release, next, sent := prepared(t, n)
		require.Zero(t, sent(), "it waits")
		require.True(t, decide(t, g, next.acquire()).Won(), "it is behind the release")
		require.NoError(t, release.Wait(bg)) // in the same round trip: see TestPreparedAndTheNextTakeOneRoundTrip
		require.True(t, release.Won())
	}
}

func TestPreparedLeavesWithSend(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		g, release, next, _ := prepared(t, n)
		release.Send(bg)
		require.NoError(t, release.Wait(bg))
		require.True(t, release.Won())
		release.Send(bg) // there is nothing to send any more
		require.True(t, decide(t, g, next.acquire()).Won())
	}
}

// A hold's release that nobody sends is owed, like one that got no answer.
func TestPreparedThatIsForgottenIsSentAllTheSame(t *testing.T) {
	t.Parallel()
	g, release, next, sent := preparedWithin(t, slow, 1)
	require.NoError(t, release.Wait(bg))
	require.False(t, release.Won(), "nobody was asked in time")
	redistest.Eventually(t, within, func() bool { return sent() > 0 }, "it is sent")
	redistest.Eventually(t, within, func() bool { return decide(t, g, next.acquire()).Won() }, "the lock is free")
}

// Whoever closes the group waits for a caller that talks to the one node itself, and what
// has gathered behind it is decided, too.
func TestCloseWaitsForACallerOnItsOwnGoroutine(t *testing.T) {
	t.Parallel()
	_, proxies, clients := proxied(t, 1)
	g := met(t, clients...)
	require.True(t, decide(t, g, probe()).Won())
	held := proxies[0].Hold(scripts, 1)
	decided := make(chan struct{})
	go func() {
		_, _ = g.Decide(bg, probe())
		close(decided)
	}()
	held.Wait(t)
	behind := g.Vote(probe())
	closed := make(chan struct{})
	go func() {
		g.Close()
		close(closed)
	}()
	ctx, cancel := context.WithTimeout(bg, within)
	defer cancel()
	require.NoError(t, behind.Wait(ctx), "it is decided")
	for _, ended := range []<-chan struct{}{closed, decided} {
		select {
		case <-ended:
		case <-ctx.Done():
			t.Fatal("it does not end")
		}
	}
}

// prepare drafts a ballot and queues it.
func prepare(g *redlock.Group, m redlock.Motion) *redlock.Ballot {
	b := g.Draft(m)
	b.Prepare()
	return b
}

func TestCloseSendsWhatWasPrepared(t *testing.T) {
	for _, n := range []int{1, 3} {
		g, release, _, sent := prepared(t, n)
		g.Close()
		over, cancel := context.WithCancel(bg)
		cancel()
		require.NoError(t, release.Wait(over), "it was decided before Close returned")
		require.NoError(t, release.Err())
		require.Equal(t, 1, sent())
		release.Send(bg) // too late
	}
}
