package conformance

import (
	"context"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

var inspecting = rules{
	"InspectOfAFreeLockShowsNobody": func(t *stage) {
		s := t.inspect(t.locker())
		require.False(t, s.Held)
		require.Empty(t, s.Holder)
		require.Zero(t, s.Count)
		require.Zero(t, s.TTL)
		require.Zero(t, s.Token)
		require.Empty(t, s.Queue)
		require.Len(t, s.Nodes, len(t.nodes))
		for _, n := range s.Nodes {
			require.NotEmpty(t, n.Address)
			require.True(t, n.Reachable)
			require.NoError(t, n.Err)
			require.Empty(t, n.Holder)
		}
		t.requireUntouched()
	},

	"InspectShowsTheHold": func(t *stage) {
		const ttl = 20 * time.Second
		lease := t.acquire(bg, t.locker(lock.WithTTL(ttl)))
		l := t.locker() // of somebody who has nothing to do with it
		s := t.inspect(l)
		require.True(t, s.Held)
		require.Equal(t, lease.ID(), s.Holder)
		require.Equal(t, 1, s.Count)
		require.Greater(t, s.TTL, ttl/2)
		require.LessOrEqual(t, s.TTL, ttl)
		require.Equal(t, lease.Token(), s.Token)
		t.eventually(func() bool {
			return !slices.ContainsFunc(t.inspect(l).Nodes, func(n lock.NodeState) bool {
				return n.Holder != lease.ID() || n.Count != 1 || n.Token == 0 || n.TTL <= ttl/2
			})
		}, "every node shows the hold")
		t.unlock(lease)
	},

	"InspectShowsCountsAsTheyRiseAndFall": func(t *stage) {
		l := t.locker()
		scope := lock.WithOwner(bg)
		outer := t.acquire(scope, l)
		t.requireCount(l, 1)
		inner := t.acquire(scope, l)
		t.requireTold(l, inner, 2)
		t.unlock(outer)
		t.requireTold(l, inner, 1)
		t.unlock(inner)
		t.requireCount(l, 0)
	},

	"InspectKnowsTheLastTokenOfAFreeLock": func(t *stage) {
		l := t.locker()
		lease := t.acquire(bg, l)
		t.unlock(lease)
		t.eventually(func() bool { return !t.inspect(l).Held }, "it is free")
		require.Equal(t, lease.Token(), t.inspect(l).Token)
	},

	"InspectShowsAHoldWithoutATTL": func(t *stage) {
		for _, n := range t.nodes {
			n.give(t, t.keys().Lock, "a program without TTLs", 0)
		}
		s := t.inspect(t.locker())
		require.True(t, s.Held)
		require.Equal(t, "a program without TTLs", s.Holder)
		require.Negative(t, s.TTL)
		t.lose()
	},

	"InspectShowsTheQueueIfThereIsOne": func(t *stage) {
		l := t.locker()
		lease := t.acquire(bg, l)
		ctx, cancel := context.WithCancel(bg)
		next := t.asleep(ctx, t.locker())
		s := t.inspect(l)
		if t.kind.Queues {
			require.Len(t, s.Queue, 1)
			require.NotContains(t, s.Queue, lease.ID())
		} else {
			require.Empty(t, s.Queue)
		}
		require.Equal(t, lease.ID(), s.Holder)
		cancel()
		require.ErrorIs(t, next.failed(t), context.Canceled)
		t.unlock(lease)
	},

	"InspectUnderADoneContextSaysSo": func(t *stage) {
		ctx, cancel := context.WithCancel(bg)
		cancel()
		_, err := t.locker().Inspect(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, t.name)
	},
}
