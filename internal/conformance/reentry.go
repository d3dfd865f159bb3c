package conformance

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

var reentry = rules{
	"EachReentryCounts": func(t *stage) {
		c := t.client()
		outer := t.acquire(bg, t.on(c))
		require.Equal(t, 1, outer.Count())
		leases := []*lock.Lease{outer}
		for n := 2; n <= 4; n++ {
			l := t.acquire(leases[n-2].Context(bg), t.on(c)) // another handle, the same lock
			require.Equal(t, n, l.Count())
			require.Equal(t, outer.ID(), l.ID())
			t.requireTold(t.on(c), l, n)
			leases = append(leases, l)
		}
		t.unlock(leases...)
	},

	"LeasesMayBeUnlockedInAnyOrder": func(t *stage) {
		l := t.locker()
		others := t.locker()
		for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
			scope := lock.WithOwner(bg)
			leases := []*lock.Lease{t.acquire(scope, l), t.acquire(scope, l), t.acquire(scope, l)}
			for left, i := range order[:2] {
				t.unlock(leases[i])
				require.ErrorIs(t, leases[i].Err(), lock.ErrReleased)
				t.requireTold(others, leases[order[2]], 2-left)
				t.requireTaken(others, leases[i])
			}
			last := leases[order[2]]
			require.NoError(t, last.Err())
			t.unlock(last)
			t.requireFree(others)
		}
	},

	"UnlockEndsItsLeaseOnly": func(t *stage) {
		l := t.locker()
		outer := t.acquire(bg, l)
		inner := t.acquire(outer.Context(bg), l)
		work, deeper := outer.Context(bg), inner.Context(bg)
		t.unlock(inner)
		t.requireEnded(deeper, lock.ErrReleased)
		require.NoError(t, outer.Err())
		require.NoError(t, work.Err())
		t.unlock(outer)
		t.requireEnded(work, lock.ErrReleased)
	},

	"ParallelReentriesKeepTheCount": func(t *stage) {
		const n = 12
		l := t.locker()
		scope := lock.WithOwner(bg)
		leases := t.parallel(n, func(int) (*lock.Lease, error) { return l.Lock(scope) })
		var counts []int
		for _, lease := range leases {
			require.Equal(t, leases[0].ID(), lease.ID())
			require.Equal(t, leases[0].Token(), lease.Token())
			counts = append(counts, lease.Count())
		}
		slices.Sort(counts)
		for i, count := range counts {
			require.Equal(t, i+1, count)
		}
		t.requireTold(l, leases[0], n)
		t.parallel(n-1, func(i int) (*lock.Lease, error) { return nil, leases[i].Unlock(bg) })
		t.requireTold(l, leases[n-1], 1)
		t.requireTaken(l, leases[n-1])
		t.unlock(leases[n-1])
		t.requireFree(l)
	},

	"NestedLocksOfOneOwnersGoroutinesKeepTheCount": func(t *stage) {
		l := t.locker()
		outer := t.acquire(bg, l)
		ctx := outer.Context(bg)
		t.parallel(6, func(int) (*lock.Lease, error) {
			for range 4 {
				inner, err := l.Lock(ctx)
				if err == nil {
					err = inner.Unlock(ctx)
				}
				if err != nil {
					return nil, err
				}
			}
			return nil, nil
		})
		t.requireTold(l, outer, 1)
		t.requireTaken(l, outer)
		t.unlock(outer)
	},

	"ReentryDoesNotWaitBehindOthers": func(t *stage) {
		l := t.locker()
		outer := t.acquire(bg, l)
		waiting := t.asleep(bg, t.locker())
		inner, err := l.TryLock(outer.Context(bg))
		require.NoError(t, err)
		deeper := t.acquire(inner.Context(bg), l)
		require.False(t, waiting.over())
		t.unlock(outer, deeper)
		require.False(t, waiting.over())
		t.unlock(inner)
		t.unlock(waiting.granted(t))
	},

	"WaitersOfOneOwnerAllGetTheLock": func(t *stage) {
		l := t.locker()
		first := t.acquire(bg, t.locker())
		scope := lock.WithOwner(bg)
		waiting := t.asleep(scope, l)
		more := []*call{start(scope, l), start(scope, l)}
		t.unlock(first)
		leases := []*lock.Lease{waiting.granted(t), more[0].granted(t), more[1].granted(t)}
		require.Equal(t, leases[0].ID(), leases[1].ID())
		require.Equal(t, leases[0].ID(), leases[2].ID())
		t.requireTold(l, leases[1], 3)
		t.unlock(leases...)
	},
}
