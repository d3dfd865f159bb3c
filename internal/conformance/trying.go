package conformance

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

var trying = rules{
	"TryLockTakesAFreeLock": func(t *stage) {
		l := t.locker()
		lease, err := t.try(l)
		require.NoError(t, err)
		require.NoError(t, lease.Err())
		require.Equal(t, 1, lease.Count())
		t.requireTaken(t.locker(), lease)
		t.unlock(lease)
	},

	"TryLockSaysWhoHasTheLock": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		_, err := t.try(t.locker())
		require.ErrorIs(t, err, lock.ErrLocked)
		var denied *lock.AcquireError
		require.ErrorAs(t, err, &denied)
		require.Equal(t, t.name, denied.Name)
		require.Equal(t, lease.ID(), denied.Holder)
		require.Positive(t, denied.TTL)
		require.NoError(t, denied.Last)
		require.ErrorContains(t, err, t.name)
		require.ErrorContains(t, err, lease.ID())
		t.unlock(lease)
	},

	"TryLockThatFailsLeavesNothing": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		// A node that was not needed may be late to grant, and grant this to the other meanwhile.
		t.requireCount(t.locker(), 1)
		_, err := t.try(t.locker())
		require.ErrorIs(t, err, lock.ErrLocked)
		s := t.inspect(t.locker())
		require.Equal(t, 1, s.Count)
		require.Empty(t, s.Queue)
		for _, n := range t.nodes {
			holders, err := n.admin.HKeys(bg, t.keys().Lock).Result()
			require.NoError(t, err)
			require.Equal(t, []string{lease.ID()}, holders)
		}
		t.unlock(lease)
	},

	"TryLockUnderADoneContextTouchesNothing": func(t *stage) {
		ctx, cancel := context.WithCancel(bg)
		cancel()
		_, err := t.locker().TryLock(ctx)
		require.ErrorIs(t, err, context.Canceled)
		t.requireUntouched()
	},
}
