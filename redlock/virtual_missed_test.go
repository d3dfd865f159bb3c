package redlock_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// A key that was written after the end of its hold lives for a TTL from then on. Its removal is owed until the node
// confirms it, however long ago the hold would have been over.
func TestWhatIsWrittenAfterTheEndOfAHoldIsRemovedHoweverLate(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, g *redlock.Group, nodes []*virtual.Node) {
		h := newHold(t, g, "orders")
		nodes[0].Pause()
		require.True(t, decide(t, g, h.acquire()).Won())
		m := h.release()
		m.Until = time.Now().Add(timeout)
		require.True(t, decide(t, g, m).Won())
		time.Sleep(2 * timeout)
		require.True(t, time.Now().After(m.Until))

		nodes[0].Refuse(virtual.Script(lua.Release{}.Call().Script().SHA))
		nodes[0].Resume()
		time.Sleep(timeout)
		holder, left := nodes[0].Holder(h.keys.Lock)
		require.Equal(t, h.id, holder)
		require.Greater(t, left, h.ttl/2)
		nodes[0].Refuse(nil)
		time.Sleep(2 * time.Second)
		holder, _ = nodes[0].Holder(h.keys.Lock)
		require.Empty(t, holder)
	})
}

// Whoever reads the error of an urgent ballot learns which master of a Cluster it did without.
func TestAShardThatIsPassedOverIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := virtual.StartN(t, 3)
		virtual.NewCluster(nodes[:1])
		clients := append([]redis.UniversalClient{virtual.NewHost(nodes[:1]).Cluster(t)}, virtual.NewHost(nodes[1:]).Clients(t)...)
		g := hasty(t, timeout, clients...)
		divided := func() *redlock.Ballot {
			var answers atomic.Int32
			m := newHold(t, g, "orders").acquire()
			m.Urgent, m.Yes = true, func(any) (bool, error) { return answers.Add(1)%2 == 0, nil }
			return decide(t, g, m)
		}
		divided()
		nodes[0].Pause()
		for range 3 { // it is known to be silent then
			divided()
		}
		start := time.Now()
		b := divided()
		require.Zero(t, time.Since(start))
		require.ErrorIs(t, b.Answer(0).Err, redlock.ErrSilent)
		require.ErrorContains(t, b.Answer(0).Err, "shard "+nodes[0].Addr())
		nodes[0].Resume()
	})
}

// A node that is silent, and over whose connection nothing comes in the end, has missed the command once.
func TestANodeIsMissedOnce(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, g *redlock.Group, nodes []*virtual.Node) {
		var missed [3]atomic.Int32
		m := probe()
		m.Missed = func(node int, _ redlock.Answer, _ bool) { missed[node].Add(1) }
		nodes[0].Silence(true)
		require.True(t, decide(t, g, m).Won())
		time.Sleep(5 * time.Minute)
		nodes[0].Silence(false)
		time.Sleep(5 * time.Minute)
		for i, want := range []int32{1, 0, 0} {
			require.Equal(t, want, missed[i].Load(), "node %d", i)
		}
	})
}
