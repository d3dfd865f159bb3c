package redlock_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/redlock"
)

func TestQuorumIsMoreThanHalfOfThoseConfigured(t *testing.T) {
	servers := redistest.StartN(t, 9)
	clients := redistest.Clients(t, servers)
	for n := 1; n <= 9; n++ {
		g := met(t, clients[:n]...)
		require.Equal(t, n, g.Size())
		require.Equal(t, n/2+1, g.Quorum())
		for taken := range n + 1 {
			h := newHold(t, g, fmt.Sprintf("%d of %d", taken, n))
			for _, s := range servers[:taken] {
				require.NoError(t, s.Client(t).HSet(bg, h.keys.Lock, "a stranger", 1).Err())
			}
			b := decide(t, g, h.acquire())
			require.Equal(t, n-taken > n/2, b.Won(), "%d of %d nodes free", n-taken, n)
			require.Equal(t, b.Won(), b.Err() == nil)
			decide(t, g, h.release())
		}
		g.Close()
	}
}

func TestBallotIsDecidedByTheQuickOnes(t *testing.T) {
	servers, proxies, clients := proxied(t, 5)
	g := met(t, clients...)
	var slow []*redistest.Held
	for _, p := range proxies[3:] {
		slow = append(slow, p.Hold(scripts, 1)) // what is behind it waits, too
	}
	h := newHold(t, g, "orders")
	b := decide(t, g, h.acquire())
	require.True(t, b.Won())
	require.Equal(t, redlock.Pending, b.Answer(3).Vote)
	require.Equal(t, redlock.Pending, b.Answer(4).Vote)

	// A no needs no more of them: three of five cannot be outvoted.
	other := newHold(t, g, "orders")
	b = decide(t, g, other.acquire())
	require.False(t, b.Won())
	require.Equal(t, redlock.Pending, b.Answer(3).Vote)
	require.Equal(t, redlock.Pending, b.Answer(4).Vote)
	for _, s := range slow {
		s.Release()
	}
	require.True(t, decide(t, g, h.release()).Won())
	decide(t, g, other.release())
	for _, s := range servers {
		redistest.Eventually(t, within, func() bool { return !h.on(t, s) && !other.on(t, s) }, "nothing is left")
	}
}

func TestSilentNodeCountsAsANoAfterTheNodeTimeout(t *testing.T) {
	_, proxies, clients := proxied(t, 3)
	g := hasty(t, timeout, clients...)
	for round := range 3 { // from the very first ballot after the handshake
		for _, p := range proxies {
			p.SwallowReply(scripts, 1)
		}
		start := time.Now()
		b := decide(t, g, probe())
		took := time.Since(start)
		require.False(t, b.Won())
		require.ErrorIs(t, b.Err(), redlock.ErrSilent)
		require.GreaterOrEqual(t, took, timeout, "round %d", round) // and no more: see TestSilenceIsOverAfterTheNodeTimeout
	}
	for _, p := range proxies {
		p.Reset() // Close would wait for the replies that never come
	}
}

func TestAnswersDoNotChangeAfterTheDecision(t *testing.T) {
	_, proxies, clients := proxied(t, 3)
	g := met(t, clients...)
	slow := proxies[2].Hold(scripts, 1)
	var answers atomic.Int64
	m := probe()
	m.Each = func(int, redlock.Answer) { answers.Add(1) }
	b := decide(t, g, m)
	require.True(t, b.Won())
	require.Equal(t, redlock.Pending, b.Answer(2).Vote)
	slow.Release()
	redistest.Eventually(t, within, func() bool { return answers.Load() == 3 }, "the straggler is still read")
	require.Equal(t, redlock.Pending, b.Answer(2).Vote)
}

func TestErrorNamesWhatEachNodeAnswered(t *testing.T) {
	servers, proxies, clients := proxied(t, 5)
	g := hasty(t, 2*time.Second, clients...) // for one of them, the others answer
	h := newHold(t, g, "orders")
	require.NoError(t, servers[0].Client(t).HSet(bg, h.keys.Lock, "a stranger", 1).Err())
	require.NoError(t, servers[1].Client(t).Set(bg, h.keys.Lock, "not a hash", 0).Err())
	proxies[2].SwallowReply(scripts, 1)
	proxies[3].DropReply(scripts, 1)
	m := h.acquire()
	m.All = true
	err := decide(t, g, m).Err()

	var e *redlock.NoQuorumError
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, redlock.ErrNoQuorum)
	require.ErrorIs(t, err, redlock.ErrSilent)
	require.Equal(t, "acquire", e.Op)
	require.Equal(t, 3, e.Need)
	require.Equal(t, 1, e.Agreed)
	require.Len(t, e.Nodes, 5)
	for i, n := range e.Nodes {
		require.Equal(t, proxies[i].Addr(), n.Address)
		require.Contains(t, err.Error(), n.Address)
		require.Equal(t, i == 4, n.Agreed)
	}
	require.NoError(t, e.Nodes[0].Err, "a plain no")
	require.ErrorContains(t, e.Nodes[1].Err, "WRONGTYPE")
	require.ErrorIs(t, e.Nodes[2].Err, redlock.ErrSilent)
	require.Error(t, e.Nodes[3].Err)
	require.False(t, errors.Is(e.Nodes[3].Err, redlock.ErrSilent), "a broken connection is known at once")
	proxies[2].Reset()
}
