package conformance

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// What holds over several nodes only. A minority is as many as a quorum can do without.
var quorums = rules{
	"MinorityHoldsNothing": func(t *stage) {
		for _, n := range t.minority() {
			n.give(t, t.keys().Lock, "a stranger", time.Minute)
		}
		l := t.locker()
		s := t.inspect(l)
		require.False(t, s.Held)
		require.Zero(t, s.Count)
		strangers := slices.DeleteFunc(s.Nodes, func(n lock.NodeState) bool { return n.Holder != "a stranger" })
		require.Len(t, strangers, len(t.minority()), "each node is told apart")
		lease, err := t.try(l)
		require.NoError(t, err)
		require.Equal(t, lease.ID(), t.inspect(l).Holder)
		t.unlock(lease)
		t.lose()
	},

	"HalfIsNoQuorum": func(t *stage) {
		// All but a minority belong to another, so this one gets no more than that.
		for _, n := range t.nodes[len(t.minority()):] {
			n.give(t, t.keys().Lock, "a stranger", time.Minute)
		}
		l := t.locker()
		_, err := t.try(l)
		require.ErrorIs(t, err, lock.ErrLocked)
		require.ErrorContains(t, err, "a stranger")
		t.eventually(func() bool {
			return !slices.ContainsFunc(t.minority(), func(n *node) bool { return n.ttl(t, t.keys().Lock) != -2 })
		}, "the minority is given back")
		require.Equal(t, "a stranger", t.inspect(l).Holder)
		t.lose()
	},

	"MinorityThatForgotTheLockIsGivenItAgain": func(t *stage) {
		l := t.locker(lock.WithTTL(shortTTL))
		lease := t.acquire(bg, l)
		t.requireCount(l, 1)
		for _, n := range t.minority() {
			require.NoError(t, n.remove(t.keys().Lock, t.keys().Token()))
		}
		t.requireTaken(t.locker(), lease)
		t.eventually(func() bool {
			return !slices.ContainsFunc(t.inspect(l).Nodes, func(n lock.NodeState) bool {
				return n.Holder != lease.ID() || n.Token < lease.Token()
			})
		}, "every node has the hold, and a counter that is not behind")
		require.NoError(t, lease.Err())
		t.unlock(lease)
	},

	"TokensGrowThoughNodesForgetTheirCounters": func(t *stage) {
		l := t.locker()
		last := int64(0)
		for i := range 2 * len(t.nodes) {
			lease := t.acquire(bg, l)
			require.Greater(t, lease.Token(), last)
			last = lease.Token()
			t.unlock(lease)
			require.NoError(t, t.nodes[i%len(t.nodes)].remove(t.keys().Token()))
		}
	},

	"TokensGrowThoughCountersDiffer": func(t *stage) {
		l := t.locker()
		lease := t.acquire(bg, l)
		last := lease.Token()
		t.unlock(lease)
		for i, n := range t.nodes {
			require.NoError(t, n.admin.Set(bg, t.keys().Token(), last+int64(100*i), time.Hour).Err())
		}
		// Two rounds are needed until a quorum knows the greatest of a quorum.
		for range 4 {
			lease := t.acquire(bg, l)
			require.Greater(t, lease.Token(), last)
			last = lease.Token()
			know := 0
			for _, n := range t.inspect(l).Nodes {
				if n.Token >= last {
					know++
				}
			}
			require.Greater(t, know, len(t.nodes)/2, "a quorum knows it before the holder does")
			t.unlock(lease)
		}
	},
}

// minority are as many nodes as may fail.
func (t *stage) minority() []*node { return t.nodes[:(len(t.nodes)-1)/2] }
