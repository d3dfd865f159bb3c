package redlock_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

func TestSkippedNodeIsNotAskedAndCountsAsANo(t *testing.T) {
	_, proxies, clients := proxied(t, 3)
	g := met(t, clients...)
	before := proxies[1].Commands(scripts)
	m := probe()
	m.All = true
	m.Skip = func(node int) bool { return node == 1 }
	b := decide(t, g, m)
	require.True(t, b.Won())
	require.Equal(t, redlock.No, b.Answer(1).Vote)
	require.NoError(t, b.Answer(1).Err)
	require.Equal(t, before, proxies[1].Commands(scripts))
}

func TestThenIsCalledOnceForEachDecision(t *testing.T) {
	_, proxies, clients := proxied(t, 3)
	proxies[0].SetDelay(30 * time.Millisecond) // a straggler, mostly
	g := met(t, clients...)
	var calls atomic.Int64
	m := probe()
	m.Then = func(b *redlock.Ballot) {
		if b.Won() {
			calls.Add(1)
		}
	}
	for range 10 {
		decide(t, g, m)
	}
	redistest.Eventually(t, within, func() bool { return calls.Load() >= 10 }, "it comes")
	all := probe()
	all.All = true
	decide(t, g, all) // behind the stragglers
	require.EqualValues(t, 10, calls.Load())
}

func TestNothingIsCreatedForAHoldThatHasEnded(t *testing.T) {
	for _, n := range []int{1, 3} {
		_, proxies, clients := proxied(t, n)
		g := met(t, clients...)
		h := newHold(t, g, "orders")
		require.True(t, decide(t, g, h.release()).Won(), "there is nothing to release")
		b := decide(t, g, h.acquire())
		require.False(t, b.Won())
		require.ErrorContains(t, b.Err(), "not sent")
		for _, p := range proxies {
			require.Zero(t, p.Commands(acquireCall)+p.Commands(releaseCall), "neither was sent")
		}
	}
}

func TestRefusalForGoodIsToldFromABusyNode(t *testing.T) {
	servers, _, clients := proxied(t, 3)
	g := met(t, clients...)
	for taken, refused := range []bool{false, false, true} { // by how many nodes
		h := newHold(t, g, "orders")
		for _, s := range servers[:taken] {
			require.NoError(t, s.Client(t).Set(bg, h.keys.Lock, "not a hash", 0).Err())
		}
		m := h.acquire()
		m.All = true
		require.Equal(t, refused, decide(t, g, m).Refused(), "%d nodes", taken)
		decide(t, g, h.release())
	}
	h := newHold(t, g, "taken")
	other := newHold(t, g, "taken")
	require.True(t, decide(t, g, other.acquire()).Won())
	b := decide(t, g, h.acquire())
	require.False(t, b.Won())
	require.False(t, b.Refused())
	decide(t, g, h.release())
	decide(t, g, other.release())
}

func TestServerThatStartedNotLongAgoIsKnownByItsAnswer(t *testing.T) {
	servers, _, clients := proxied(t, 3)
	g := met(t, clients...)
	h := newHold(t, g, "orders")
	m := h.acquire()
	m.Call = lua.Acquire{Keys: h.keys, Hold: h.id, TTL: h.ttl, Retention: time.Hour, Guard: time.Hour}.Call()
	b := decide(t, g, m)
	require.ErrorIs(t, b.Err(), redlock.ErrRestarted)
	require.False(t, b.Refused(), "it passes")
	for _, s := range servers {
		require.Empty(t, s.Keys(t))
	}
}

func TestValidityCountsFromTheStartAndIsShorterByTheDrift(t *testing.T) {
	g := newGroup(t, redistest.Start(t).Client(t)) // 1 % and 2 ms
	start := time.Now()
	require.Equal(t, 102*time.Millisecond, g.Drift(10*time.Second))
	require.Equal(t, start.Add(9898*time.Millisecond), g.Validity(start, 10*time.Second))
	require.True(t, g.Validity(start, time.Millisecond).Before(start), "too short to be of use")

	before := time.Now()
	b := decide(t, g, probe())
	require.WithinRange(t, b.Start(), before, time.Now())
}
