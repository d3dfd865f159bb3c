package reentrant_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

func TestSplitVotesMakeProgress(t *testing.T) {
	t.Parallel()
	const processes, rounds = 8, 10
	r := newRig(t, 5)
	var inside, total atomic.Int64
	var last int64 // the greatest token; guarded by the lock that is tested
	var wg sync.WaitGroup
	for range processes {
		c := r.client(t)
		wg.Go(func() {
			for range rounds {
				lease, err := reentrant.New(c, r.name).Lock(bg)
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two are inside")
				}
				if lease.Token() <= last {
					t.Errorf("token %d after %d", lease.Token(), last)
				}
				last = lease.Token()
				total.Add(1)
				inside.Add(-1)
				if err := lease.Unlock(bg); err != nil {
					t.Error(err)
				}
			}
		})
	}
	finished := make(chan struct{})
	go func() { wg.Wait(); close(finished) }()
	select {
	case <-finished:
	case <-time.After(2 * within):
		t.Errorf("only %d of %d after %v", total.Load(), processes*rounds, 2*within)
		<-finished
	}
	r.requireClean(t)
}

func TestRivalsThatOnlyTryGiveTheirMinoritiesBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5)
	var wg sync.WaitGroup
	var won atomic.Int64
	for range 6 {
		c := r.client(t)
		wg.Go(func() {
			for range 30 {
				lease, err := reentrant.New(c, r.name).TryLock(bg)
				if err == nil {
					won.Add(1)
					err = lease.Unlock(bg)
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	require.Positive(t, won.Load())
	r.requireClean(t)
	lease, err := try(t, r.mutex())
	require.NoError(t, err)
	require.NoError(t, lease.Unlock(bg))
}

func TestAttemptsPerHandOverDoNotGrowWithWaiters(t *testing.T) {
	t.Parallel()
	r := countingRig(t, 1)
	other := r.client(t) // a second process contends, so that hand-overs go through Redis too
	perHandOver := func(waiters int) float64 {
		before := r.proxies[0].Commands(acquireCall)
		lease, err := r.mutex().Lock(bg)
		require.NoError(t, err)
		var wg sync.WaitGroup
		for i := range waiters {
			c := r.locks
			if i%2 == 1 {
				c = other
			}
			wg.Go(func() {
				l, err := reentrant.New(c, r.name).Lock(bg)
				if err != nil {
					t.Error(err)
					return
				}
				if err := l.Unlock(bg); err != nil {
					t.Error(err)
				}
			})
		}
		r.requireSubscribed(t, 2)
		// Only now does anybody get it: all of them, or nearly, are in the queue.
		require.NoError(t, lease.Unlock(bg))
		wg.Wait()
		return float64(r.proxies[0].Commands(acquireCall)-before) / float64(waiters)
	}
	few, many := perHandOver(20), perHandOver(1000)
	t.Logf("attempts per hand-over: %.1f with 20 waiters, %.1f with 1000", few, many)
	require.LessOrEqual(t, many, 5.0)
	r.requireClean(t)
}

func TestWaitersThatCannotHaveItMakeNoAttempts(t *testing.T) {
	t.Parallel()
	r := countingRig(t, 1)
	holder := r.client(t)
	lease, err := reentrant.New(holder, r.name).Lock(bg)
	require.NoError(t, err)
	before := r.proxies[0].Commands(acquireCall)
	ctx, cancel := context.WithTimeout(bg, time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for range 1000 {
		wg.Go(func() {
			if _, err := r.mutex().Lock(ctx); err == nil {
				t.Error("two have it")
			}
		})
	}
	wg.Wait()
	// One for the head, one after its subscription; as they leave, the next heads may
	// have a look before their context stops them.
	require.LessOrEqual(t, r.proxies[0].Commands(acquireCall)-before, 20)
	require.NoError(t, lease.Unlock(bg))
	r.requireClean(t)
}

// each calls f with 0..n-1, at most width at once.
func each(t *testing.T, n, width int, f func(int) error) {
	t.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range width {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := f(int(i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	require.False(t, t.Failed())
}

func TestAHolderInAnotherGoroutineCanUnlock(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	lease, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	handed := make(chan error, 1)
	go func(l *lock.Lease) {
		inner, err := r.mutex().TryLock(l.Context(bg)) // ownership came with the lease
		if err == nil {
			err = inner.Unlock(bg)
		}
		if err == nil {
			err = l.Unlock(bg)
		}
		handed <- err
	}(lease)
	require.NoError(t, <-handed)
	require.ErrorIs(t, lease.Unlock(bg), lock.ErrReleased)
	r.requireClean(t)
}

func TestTokensOfIdleNamesExpire(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3, lock.WithTokenRetention(7*time.Second), lock.WithTTL(6*time.Second))
	lease, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	require.NoError(t, lease.Unlock(bg))
	for _, s := range r.servers {
		redistest.Eventually(t, within, func() bool { return len(s.Keys(t)) == 0 }, "nothing of an idle name is left")
	}
	next, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	require.Greater(t, next.Token(), lease.Token(), "it is seeded from the clock")
	require.NoError(t, next.Unlock(bg))
}
