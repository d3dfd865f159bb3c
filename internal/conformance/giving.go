package conformance

import (
	"context"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// What Unlock does.
var giving = rules{
	"UnlockFreesTheLockForAll": func(t *stage) {
		l := t.locker()
		lease := t.acquire(bg, l)
		t.unlock(lease)
		require.ErrorIs(t, lease.Err(), lock.ErrReleased)
		t.await(lease.Done(), "the end of the lease")
		t.requireFree(t.locker())
		t.requireFree(l)
	},

	"UnlockIgnoresThatItsContextIsDone": func(t *stage) {
		l := t.locker()
		ctx, cancel := context.WithCancel(bg)
		lease := t.acquire(ctx, l)
		inner := t.acquire(lease.Context(bg), l)
		cancel()
		require.NoError(t, inner.Unlock(ctx))
		t.requireTaken(t.locker(), lease)
		require.NoError(t, lease.Unlock(ctx))
		t.requireFree(t.locker())
	},

	"UnlockUnderTheLeasesOwnContextWorks": func(t *stage) {
		l := t.locker()
		lease := t.acquire(bg, l)
		ctx := lease.Context(bg)
		require.NoError(t, lease.Unlock(ctx))
		t.requireFree(l)
	},

	"SecondUnlockIsToldSo": func(t *stage) {
		l := t.locker()
		lease := t.acquire(bg, l)
		t.unlock(lease)
		err := lease.Unlock(bg)
		require.ErrorIs(t, err, lock.ErrReleased)
		require.NotErrorIs(t, err, lock.ErrLost)
		var failure *lock.LeaseError
		require.ErrorAs(t, err, &failure)
		require.Equal(t, lease.ID(), failure.Hold)
		require.ErrorContains(t, err, t.name)
	},

	"SecondUnlockDoesNotCount": func(t *stage) {
		l := t.locker()
		outer := t.acquire(bg, l)
		inner := t.acquire(outer.Context(bg), l)
		t.unlock(inner)
		require.ErrorIs(t, inner.Unlock(bg), lock.ErrReleased)
		require.NoError(t, outer.Err())
		t.requireCount(l, 1)
		t.requireTaken(l, outer)
		t.unlock(outer)
	},

	"OneOfManyUnlocksAtOnceSucceeds": func(t *stage) {
		l := t.locker()
		lease := t.acquire(bg, l)
		var succeeded atomic.Int64
		t.parallel(8, func(int) (*lock.Lease, error) {
			err := lease.Unlock(bg)
			if err == nil {
				succeeded.Add(1)
			} else {
				require.ErrorIs(t, err, lock.ErrReleased)
			}
			return nil, nil
		})
		require.EqualValues(t, 1, succeeded.Load())
		t.requireFree(l)
	},

	"UnlockOfAnEarlierHoldDoesNotTouchALaterOne": func(t *stage) {
		l := t.locker()
		scope := lock.WithOwner(bg)
		earlier := t.acquire(scope, l)
		t.unlock(earlier)
		later := t.acquire(scope, l)
		require.ErrorIs(t, earlier.Unlock(bg), lock.ErrReleased)
		require.ErrorIs(t, earlier.Extend(bg, shortTTL), lock.ErrReleased)
		require.NoError(t, later.Err())
		t.requireCount(l, 1)
		t.requireTaken(l, later)
		t.unlock(later)
	},

	"NothingIsLeftOfAHoldAtOnce": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		t.unlock(lease)
		left := 0
		for _, n := range t.nodes {
			if n.ttl(t, t.keys().Lock) != -2 {
				left++
			}
		}
		require.LessOrEqual(t, left, (len(t.nodes)-1)/2, "a quorum has confirmed")
		t.requireClean()
	},
}
