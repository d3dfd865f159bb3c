package redlock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// One release ends two holds, and is sent to every node that has either.
func TestTheRemovalOfAHoldIsSentWhereOneIsThatItHasAbsorbed(t *testing.T) {
	servers, proxies, clients := proxied(t, 7)
	g := met(t, clients...)
	one, other := newHold(t, g, "orders"), newHold(t, g, "invoices")
	take := func(h *hold, elsewhere ...*redistest.Server) {
		for _, s := range elsewhere {
			require.NoError(t, s.Client(t).HSet(bg, h.keys.Lock, "somebody:1", 1).Err())
		}
		m := h.acquire()
		m.All = true
		require.True(t, decide(t, g, m).Won())
	}
	take(one, servers[:3]...)
	take(other, servers[5:]...)
	require.False(t, one.footprint.Has(0))
	other.footprint.Close()
	require.True(t, one.footprint.Absorb(other.footprint))
	require.False(t, other.footprint.Present(), "that is the other's now")

	require.True(t, decide(t, g, one.release()).Won())
	for i, p := range proxies {
		redistest.Eventually(t, within, func() bool { return p.Commands(releaseCall) == 1 && !one.footprint.Has(i) }, "node %d", i)
	}
}

// A node that may yet create the key of a hold is sent a removal that leaves a mark for that hold.
func TestAHoldThatANodeMayYetHearOfIsNotAbsorbed(t *testing.T) {
	_, proxies, clients := proxied(t, 3)
	g := hasty(t, timeout, clients...)
	one, other := newHold(t, g, "orders"), newHold(t, g, "invoices")
	held := proxies[1].Hold(acquireCall, 1)
	m := other.acquire()
	m.All = true
	require.True(t, decide(t, g, m).Won())
	other.footprint.Close()
	require.False(t, one.footprint.Absorb(other.footprint))
	require.False(t, one.footprint.Present())
	require.True(t, other.footprint.Present())

	held.Release()
	redistest.Eventually(t, within, func() bool { return one.footprint.Absorb(other.footprint) }, "it has answered")
	for i := range proxies {
		require.True(t, one.footprint.Has(i))
	}
}

// What was prepared is sent with a removal that says so, also to nodes that do not have what that removes.
func TestARemovalSendsWhatWasPreparedToNodesThatItNeedNotAsk(t *testing.T) {
	_, proxies, clients := proxied(t, 3)
	g := hasty(t, time.Minute, clients...)
	one, other := newHold(t, g, "orders"), newHold(t, g, "invoices")
	m := other.acquire()
	m.All = true
	require.True(t, decide(t, g, m).Won())
	g.Draft(other.release()).Prepare()
	m = one.release()
	m.Flush = true
	require.True(t, decide(t, g, m).Won(), "it is nowhere")
	for i, p := range proxies {
		redistest.Eventually(t, within, func() bool { return p.Commands(releaseCall) == 1 && !other.footprint.Has(i) }, "node %d", i)
	}
}
