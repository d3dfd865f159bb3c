package conformance

import (
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// Each hold's token is greater than every earlier one of its name (I3).
var tokens = rules{
	"EachHoldHasAGreaterToken": func(t *stage) {
		mine, theirs := t.locker(), t.locker()
		last := int64(0)
		for i := range 8 {
			l := mine
			if i%2 == 1 {
				l = theirs
			}
			lease := t.acquire(bg, l)
			require.Greater(t, lease.Token(), last)
			last = lease.Token()
			t.unlock(lease)
		}
	},

	"ReentryKeepsTheToken": func(t *stage) {
		l := t.locker()
		outer := t.acquire(bg, l)
		inner := t.acquire(outer.Context(bg), l)
		require.Equal(t, outer.Token(), inner.Token())
		t.unlock(outer)
		again := t.acquire(inner.Context(bg), l)
		require.Equal(t, inner.Token(), again.Token())
		t.unlock(inner, again)
	},

	"TokenGrowsThoughTheOwnerIsTheSame": func(t *stage) {
		l := t.locker()
		scope := lock.WithOwner(bg)
		first := t.acquire(scope, l)
		t.unlock(first)
		second := t.acquire(scope, l)
		require.Greater(t, second.Token(), first.Token())
		t.unlock(second)
	},

	"TokenGrowsAfterALoss": func(t *stage) {
		l := t.locker(lock.WithoutWatchdog())
		first := t.acquire(bg, l)
		t.requireCount(l, 1)
		t.lose()
		second := t.acquire(bg, t.locker())
		require.Greater(t, second.Token(), first.Token())
		require.ErrorIs(t, first.Unlock(bg), lock.ErrLost)
		t.unlock(second)
	},

	"TokenGrowsAfterForceUnlock": func(t *stage) {
		l := t.locker(lock.WithTTL(shortTTL))
		first := t.acquire(bg, l)
		_, err := l.ForceUnlock(bg)
		require.NoError(t, err)
		second := t.acquire(bg, l)
		require.Greater(t, second.Token(), first.Token())
		require.ErrorIs(t, first.Unlock(bg), lock.ErrLost)
		t.unlock(second)
	},

	"TokenGrowsThoughTheCounterHasExpired": func(t *stage) {
		l := t.locker()
		first := t.acquire(bg, l)
		t.unlock(first)
		for _, n := range t.nodes {
			require.NoError(t, n.remove(t.keys().Token()))
		}
		second := t.acquire(bg, l)
		require.Greater(t, second.Token(), first.Token())
		t.unlock(second)
	},

	"RenewalAndExtensionKeepTheToken": func(t *stage) {
		l := t.locker(lock.WithTTL(3 * shortTTL))
		lease := t.acquire(bg, l)
		token := lease.Token()
		require.NoError(t, lease.Extend(bg, 4*shortTTL))
		extended := lease.Deadline()
		t.eventually(func() bool { return lease.Deadline().After(extended) || lease.Err() != nil }, "it is renewed")
		require.NoError(t, lease.Err())
		require.Equal(t, token, lease.Token())
		require.Equal(t, token, t.inspect(l).Token)
		t.unlock(lease)
	},
}
