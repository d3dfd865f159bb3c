package conformance

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// Who owns a lock is decided by the context.
var ownership = rules{
	"FreshContextIsAFreshOwner": func(t *stage) {
		l := t.locker()
		lease := t.acquire(bg, l)
		t.requireTaken(l, lease)
		t.unlock(lease)
		t.requireFree(l)
	},

	"ContextOfALeaseOwnsIt": func(t *stage) {
		l := t.locker()
		outer := t.acquire(bg, l)
		inner, err := l.TryLock(outer.Context(bg))
		require.NoError(t, err)
		require.Equal(t, outer.ID(), inner.ID())
		t.unlock(inner, outer)
	},

	"OwnershipPassesThroughDerivedContexts": func(t *stage) {
		l := t.locker()
		outer := t.acquire(bg, l)
		type key struct{}
		ctx, cancel := context.WithCancel(context.WithValue(outer.Context(bg), key{}, "value"))
		defer cancel()
		require.Equal(t, "value", outer.Context(ctx).Value(key{}))
		inner := t.acquire(ctx, l)
		require.Equal(t, outer.ID(), inner.ID())
		t.unlock(inner, outer)
	},

	"LocksUnderOneScopeShareAnOwner": func(t *stage) {
		l := t.locker()
		scope := lock.WithOwner(bg)
		first, second := t.acquire(scope, l), t.acquire(scope, l)
		require.Equal(t, first.ID(), second.ID())
		t.requireTaken(l, first)
		t.unlock(first, second)
	},

	"ScopesExcludeEachOther": func(t *stage) {
		l := t.locker()
		outer := lock.WithOwner(bg)
		lease := t.acquire(outer, l)
		for _, other := range []context.Context{lock.WithOwner(bg), lock.WithOwner(outer), lock.WithOwner(lease.Context(bg))} {
			_, err := t.tryUnder(other, l)
			require.ErrorIs(t, err, lock.ErrLocked)
		}
		t.unlock(lease)
	},

	"ScopeOutlivesItsHolds": func(t *stage) {
		l := t.locker()
		scope := lock.WithOwner(bg)
		first := t.acquire(scope, l)
		t.unlock(first)
		t.requireFree(l)
		second := t.acquire(scope, l)
		require.NotEqual(t, first.ID(), second.ID(), "a hold's id is never used again")
		require.Equal(t, 1, second.Count())
		t.unlock(second)
	},

	"OneOwnerMayHoldManyLocks": func(t *stage) {
		c := t.client()
		a, b := t.on(c), t.named(c, t.name+" b")
		first := t.acquire(bg, a)
		second := t.acquire(first.Context(bg), b)
		require.Equal(t, 1, second.Count())
		again := t.acquire(second.Context(bg), a)
		require.Equal(t, first.ID(), again.ID())
		t.unlock(first, again, second)
	},

	"OwnershipOfOneLockIsNoneOfAnother": func(t *stage) {
		c := t.client()
		a, b := t.on(c), t.named(c, t.name+" b")
		first, theirs := t.acquire(bg, a), t.acquire(bg, b)
		_, err := b.TryLock(first.Context(bg))
		require.ErrorIs(t, err, lock.ErrLocked)
		t.unlock(first, theirs)
	},

	"OwnershipStaysWithItsClient": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		_, err := t.locker().TryLock(lease.Context(bg))
		require.ErrorIs(t, err, lock.ErrLocked)
		t.unlock(lease)
	},

	"LeasesMayBeHandedToOtherGoroutines": func(t *stage) {
		l := t.locker()
		lease := t.acquire(bg, l)
		handed := make(chan error)
		go func() { handed <- lease.Unlock(bg) }()
		require.NoError(t, <-handed)
		t.requireFree(l)
	},
}
