package conformance

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// ForceUnlock ends a lock whoever holds it.
var forcing = rules{
	"ForceUnlockOfAFreeLockFindsNothing": func(t *stage) {
		found, err := t.locker().ForceUnlock(bg)
		require.NoError(t, err)
		require.False(t, found)
		t.requireUntouched()
	},

	"ForceUnlockEndsAnothersLock": func(t *stage) {
		theirs, mine := t.locker(lock.WithTTL(shortTTL)), t.locker()
		outer := t.acquire(bg, theirs)
		inner := t.acquire(outer.Context(bg), theirs)
		ctx := inner.Context(bg)
		found, err := mine.ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, found)
		next, err := t.try(mine)
		require.NoError(t, err, "it is free at once")
		t.requireEnded(ctx, lock.ErrLost)
		t.requireLost(inner)
		t.requireLost(outer)
		require.NoError(t, next.Err())
		t.requireTaken(theirs, next)
		t.unlock(next)
	},

	"ForceUnlockInTheHoldersProcessIsKnownAtOnce": func(t *stage) {
		c := t.client()
		lease := t.acquire(bg, t.on(c, lock.WithTTL(shortTTL)))
		found, err := t.on(c).ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, found)
		require.ErrorIs(t, lease.Err(), lock.ErrLost)
		t.requireLost(lease)
	},

	"ForceUnlockTwiceFindsNothing": func(t *stage) {
		l := t.locker()
		lease := t.acquire(bg, t.locker(lock.WithTTL(shortTTL)))
		t.requireCount(l, 1) // no grant comes late
		found, err := l.ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, found)
		found, err = l.ForceUnlock(bg)
		require.NoError(t, err)
		require.False(t, found)
		t.requireLost(lease)
	},

	"ForceUnlockWakesWhoWaits": func(t *stage) {
		holder, l, third := t.locker(lock.WithTTL(shortTTL)), t.locker(calm), t.locker()
		t.requirePrompt(func() bool {
			lease := t.acquire(bg, holder)
			next := t.asleep(bg, l)
			found, err := third.ForceUnlock(bg)
			require.NoError(t, err)
			require.True(t, found)
			got, prompt := next.prompt(t)
			t.requireLost(lease)
			require.NoError(t, got.Err())
			t.unlock(got)
			return prompt
		})
	},

	"ForceUnlockEndsAHoldWithoutATTL": func(t *stage) {
		for _, n := range t.nodes {
			n.give(t, t.keys().Lock, "a program without TTLs", 0)
		}
		l := t.locker()
		_, err := t.try(l)
		require.ErrorIs(t, err, lock.ErrLocked)
		require.ErrorContains(t, err, "a program without TTLs")
		require.ErrorContains(t, err, "no TTL")
		found, err := l.ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, found)
		t.requireFree(l)
	},

	"ForceUnlockUnderADoneContextDoesNothing": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		ctx, cancel := context.WithCancel(bg)
		cancel()
		l := t.locker()
		_, err := l.ForceUnlock(ctx)
		require.ErrorIs(t, err, context.Canceled)
		t.requireTaken(l, lease)
		t.unlock(lease)
	},
}
