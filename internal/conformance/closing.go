package conformance

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// What Client.Close leaves: nothing.
var closing = rules{
	"CloseUnlocksWhatIsHeld": func(t *stage) {
		c := t.client()
		outer := t.acquire(bg, t.on(c))
		inner := t.acquire(outer.Context(bg), t.on(c))
		other := t.acquire(bg, t.named(c, t.name+" b"))
		ctx := inner.Context(bg)
		require.NoError(t, c.Close())
		for _, lease := range []*lock.Lease{outer, inner, other} {
			require.ErrorIs(t, lease.Err(), lock.ErrReleased)
			t.await(lease.Done(), "the end of the lease")
			require.ErrorIs(t, lease.Unlock(bg), lock.ErrReleased)
			require.ErrorIs(t, lease.Extend(bg, shortTTL), lock.ErrReleased)
		}
		t.requireEnded(ctx, lock.ErrReleased)
		t.requireFree(t.locker())
	},

	"CloseHandsTheLockToAnotherProcess": func(t *stage) {
		l := t.locker(calm)
		t.requirePrompt(func() bool {
			c := t.client()
			t.acquire(bg, t.on(c))
			next := t.asleep(bg, l)
			require.NoError(t, c.Close())
			lease, prompt := next.prompt(t)
			t.unlock(lease)
			return prompt
		})
	},

	"CloseEndsEveryWait": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		c := t.client()
		waiting := []*call{t.asleep(bg, t.on(c)), start(bg, t.on(c)), start(bg, t.on(c))}
		require.NoError(t, c.Close())
		for _, w := range waiting {
			require.ErrorIs(t, w.failed(t), lock.ErrClosed)
		}
		require.Empty(t, t.inspect(t.locker()).Queue)
		t.unlock(lease)
	},

	"ClosedClientSaysSo": func(t *stage) {
		c := t.client()
		l := t.on(c)
		require.NoError(t, c.Close())
		_, err := l.Lock(bg)
		require.ErrorIs(t, err, lock.ErrClosed)
		_, err = l.TryLock(bg)
		require.ErrorIs(t, err, lock.ErrClosed)
		_, err = l.Inspect(bg)
		require.ErrorIs(t, err, lock.ErrClosed)
		_, err = l.ForceUnlock(bg)
		require.ErrorIs(t, err, lock.ErrClosed)
		require.ErrorIs(t, l.Do(bg, func(context.Context) error { return nil }), lock.ErrClosed)
		t.requireUntouched()
	},

	"SecondCloseDoesNothing": func(t *stage) {
		c := t.client()
		require.NoError(t, c.Close())
		require.NoError(t, c.Close())
	},

	"CloseLeavesTheUsersClientsOpen": func(t *stage) {
		nodes := t.redis()
		for range 2 { // the second shows that the first has taken nothing with it
			c, err := lock.NewClient(nodes, lock.WithNodeTimeout(patience))
			require.NoError(t, err)
			t.requireFree(t.on(c))
			require.NoError(t, c.Close())
		}
		for _, n := range nodes {
			require.NoError(t, n.Ping(bg).Err())
		}
	},

	"CloseAmidLockingLeavesNothing": func(t *stage) {
		c := t.client()
		var held atomic.Int64
		calls := make([]chan error, 6)
		for i := range calls {
			calls[i] = make(chan error, 1)
			l := t.on(c)
			if i%2 == 1 {
				l = t.named(c, t.name+" b")
			}
			go func() {
				for {
					lease, err := l.Lock(bg)
					if err != nil {
						calls[i] <- err
						return
					}
					held.Add(1)
					if err := lease.Unlock(bg); err != nil && !errors.Is(err, lock.ErrReleased) {
						calls[i] <- err
						return
					}
				}
			}()
		}
		t.eventually(func() bool { return held.Load() > 20 }, "they lock")
		require.NoError(t, c.Close())
		for _, err := range calls {
			require.ErrorIs(t, <-err, lock.ErrClosed)
		}
		t.requireClean()
	},
}
