package conformance

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// A lease that cannot be proven valid is over, and whoever had it is told (I2).
var losing = rules{
	"LossIsSeenNoLaterThanTheDeadline": func(t *stage) {
		lease := t.acquire(bg, t.locker(lock.WithTTL(shortTTL)))
		t.lose()
		deadline := lease.Deadline()
		t.await(lease.Done(), "the end of the lease")
		require.Less(t, time.Since(deadline), within/3, "a busy machine may be late")
		t.requireLost(lease)
	},

	"LossEndsEveryLeaseOfTheHold": func(t *stage) {
		l := t.locker(lock.WithTTL(shortTTL))
		outer := t.acquire(bg, l)
		inner := t.acquire(outer.Context(bg), l)
		ctx := inner.Context(bg)
		t.lose()
		t.requireEnded(ctx, lock.ErrLost)
		t.requireLost(inner)
		t.requireLost(outer)
		t.requireFree(l)
	},

	"LossOfOneLockConcernsNoOther": func(t *stage) {
		c := t.client(lock.WithTTL(shortTTL))
		lost, kept := t.acquire(bg, t.on(c)), t.acquire(bg, t.named(c, t.name+" b"))
		t.lose()
		t.requireLost(lost)
		before := kept.Deadline()
		t.eventually(func() bool { return kept.Deadline().After(before) || kept.Err() != nil }, "the other is renewed")
		require.NoError(t, kept.Err())
		require.NoError(t, kept.Err())
		t.unlock(kept)
	},

	"LostLockIsNotCreatedAnew": func(t *stage) {
		l := t.locker(lock.WithoutWatchdog())
		lease := t.acquire(bg, l)
		// The nodes that were not needed may be late to grant.
		t.requireCount(l, 1)
		t.lose()
		require.ErrorIs(t, lease.Extend(bg, time.Minute), lock.ErrLost)
		// A node of many may have been given it again before the last of a quorum has answered
		// that it has none, either. That is undone at once, long before a minute is over.
		t.eventually(func() bool {
			return !slices.ContainsFunc(t.nodes, func(n *node) bool { return n.ttl(t, t.keys().Lock) != -2 })
		}, "no node has it")
		t.requireLost(lease)
	},

	"ReentryIntoALostHoldIsRefused": func(t *stage) {
		l := t.locker(lock.WithoutWatchdog())
		lease := t.acquire(bg, l)
		ctx := lease.Context(bg)
		t.requireCount(l, 1)
		t.lose()
		inner, err := l.Lock(ctx)
		require.ErrorIs(t, err, lock.ErrLost)
		require.Nil(t, inner)
		t.requireEnded(ctx, lock.ErrLost)
		t.requireLost(lease)
	},

	"OwnerThatLostMustUnlockBeforeItLocksAgain": func(t *stage) {
		l := t.locker(lock.WithTTL(shortTTL))
		scope := lock.WithOwner(bg)
		outer, inner := t.acquire(scope, l), t.acquire(scope, l)
		t.lose()
		t.await(outer.Done(), "the loss")
		for _, lease := range []*lock.Lease{inner, outer} {
			_, err := l.TryLock(scope)
			require.ErrorIs(t, err, lock.ErrLost)
			_, err = l.Lock(scope)
			require.ErrorIs(t, err, lock.ErrLost)
			t.requireFree(l) // it concerns no other owner
			t.requireLost(lease)
		}
		again := t.acquire(scope, l)
		require.NotEqual(t, outer.ID(), again.ID())
		require.Equal(t, 1, again.Count())
		t.unlock(again)
	},

	"LoserDoesNotTouchTheNextHolder": func(t *stage) {
		l := t.locker(lock.WithoutWatchdog())
		loser := t.acquire(bg, l)
		t.requireCount(l, 1)
		t.lose()
		next := t.acquire(bg, t.locker())
		require.ErrorIs(t, loser.Extend(bg, time.Minute), lock.ErrLost)
		require.ErrorIs(t, loser.Unlock(bg), lock.ErrLost)
		require.NoError(t, next.Err())
		s := t.inspect(l)
		require.Equal(t, next.ID(), s.Holder)
		require.Equal(t, 1, s.Count)
		require.NoError(t, next.Extend(bg, time.Minute))
		t.unlock(next)
	},

	"UnlockFindsALossThatNobodyHasNoticed": func(t *stage) {
		l := t.locker(lock.WithTTL(time.Hour)) // no renewal notices it first
		outer := t.acquire(bg, l)
		inner := t.acquire(outer.Context(bg), l)
		t.requireTold(l, inner, 2)
		t.lose()
		// Once a second nodes are asked what they have, which may come in between.
		if err := inner.Unlock(bg); outer.Err() == nil {
			require.NoError(t, err, "it asks no node")
		}
		require.ErrorIs(t, outer.Unlock(bg), lock.ErrLost)
		require.Error(t, outer.Err())

		alone := t.acquire(bg, l)
		t.requireCount(l, 1)
		t.lose()
		require.ErrorIs(t, alone.Unlock(bg), lock.ErrLost)
	},
}
