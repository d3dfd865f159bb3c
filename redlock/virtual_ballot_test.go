package redlock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/redlock"
)

// When a ballot is decided, exactly.

// nodesAt is a group over nodes that answer after so long each.
func nodesAt(t *testing.T, delays ...time.Duration) ([]*virtual.Node, *redlock.Group) {
	t.Helper()
	nodes := virtual.StartN(t, len(delays))
	g := hasty(t, timeout, virtual.NewHost(nodes).Clients(t)...)
	require.True(t, decide(t, g, probe()).Won()) // the script is known then
	synctest.Wait()
	for i, d := range delays {
		nodes[i].SetDelay(0, d)
	}
	return nodes, g
}

func TestABallotIsDecidedByAQuorumOrByAllIfThatIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ms = time.Millisecond
		nodes, g := nodesAt(t, 10*ms, 20*ms, 30*ms, 40*ms, 50*ms)
		takes := func(m redlock.Motion) time.Duration {
			start := time.Now()
			require.True(t, decide(t, g, m).Won())
			took := time.Since(start)
			time.Sleep(time.Second)
			return took
		}
		require.Equal(t, 30*ms, takes(probe()))
		all := probe()
		all.All = true
		require.Equal(t, 50*ms, takes(all))
		nodes[4].SetDelay(0, 600*ms)
		require.Equal(t, timeout, takes(all), "a node timeout at the most")
		all.Patience = 2 * timeout
		require.Equal(t, 2*timeout, takes(all))
	})
}

// Nodes that need not be asked for a release tell nothing of how far the others are.
func TestNodesThatNeedNotBeAskedDecideNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const far = 50 * time.Millisecond
		_, g := nodesAt(t, 0, 0, far)
		h := newHold(t, g, "orders")
		m := h.acquire()
		m.Skip = func(node int) bool { return node != 2 }
		m.All = true
		decide(t, g, m)
		require.Equal(t, redlock.Yes, decide(t, g, probe()).Answer(0).Vote)
		time.Sleep(time.Second)
		start := time.Now()
		b := decide(t, g, h.release())
		require.True(t, b.Won())
		require.GreaterOrEqual(t, time.Since(start), far)
		require.Equal(t, redlock.Yes, b.Answer(2).Vote)
	})
}

// A caller asks a single node itself, but none that is to be skipped.
func TestASingleNodeIsSkippedWhetherItIsBusyOrNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, g := nodesAt(t, timeout/2)
		m := probe()
		m.Skip = func(int) bool { return true }
		for range 2 {
			asked := len(nodes[0].Commands(scripts))
			require.Equal(t, redlock.No, decide(t, g, m).Answer(0).Vote)
			require.NoError(t, decide(t, g, m).Answer(0).Err)
			synctest.Wait()
			require.Len(t, nodes[0].Commands(scripts), asked)
			g.Vote(probe()) // the node is busy then
			synctest.Wait()
		}
	})
}
