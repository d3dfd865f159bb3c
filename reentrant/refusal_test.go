package reentrant_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// Servers that refuse: the error is clear, comes at once, and nothing is left behind.

func TestKeyOfTheWrongTypeIsAClearErrorAndIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := newRig(t, n)
		for _, s := range r.servers {
			require.NoError(t, s.Client(t).Set(bg, r.keys().Lock, "somebody's", 0).Err())
		}
		_, err := r.mutex().TryLock(bg)
		require.ErrorContains(t, err, "WRONGTYPE")
		require.ErrorIs(t, err, redlock.ErrNoQuorum)

		ctx, cancel := context.WithTimeout(bg, within)
		defer cancel()
		_, err = r.mutex().Lock(ctx)
		require.ErrorContains(t, err, "WRONGTYPE", "waiting would not help")
		require.NotErrorIs(t, err, context.DeadlineExceeded)

		_, err = r.mutex().Inspect(bg)
		require.ErrorContains(t, err, "WRONGTYPE")
		_, err = r.mutex().ForceUnlock(bg)
		require.ErrorContains(t, err, "WRONGTYPE")
		for _, s := range r.servers {
			require.Equal(t, []string{r.keys().Lock}, s.Keys(t))
			require.Equal(t, "somebody's", s.Client(t).Get(bg, r.keys().Lock).Val())
		}
	}
}

func TestKeyOfTheWrongTypeOnAMinorityCostsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5)
	for _, s := range r.servers[:2] {
		require.NoError(t, s.Client(t).Set(bg, r.keys().Lock, "somebody's", 0).Err())
	}
	lease, err := try(t, r.mutex())
	require.NoError(t, err)
	inner, err := r.mutex().TryLock(lease.Context(bg))
	require.NoError(t, err)
	require.NoError(t, inner.Extend(bg, time.Minute))
	require.NoError(t, inner.Unlock(bg))
	require.NoError(t, lease.Unlock(bg))
	for _, s := range r.servers[:2] {
		require.Equal(t, "somebody's", s.Client(t).Get(bg, r.keys().Lock).Val())
	}
}

func TestCompanionOfTheWrongTypeLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, companion := range []string{"token", "void"} {
		r := newRig(t, 1)
		key := r.keys().Token()
		if companion == "void" {
			key = r.keys().Void()
		}
		c := r.servers[0].Client(t)
		require.NoError(t, c.HSet(bg, key, "a", "b").Err())
		_, err := r.mutex().TryLock(bg)
		require.ErrorContains(t, err, "WRONGTYPE", companion)
		require.Equal(t, []string{key}, r.servers[0].Keys(t))
	}
}

func TestCounterThatCannotGrowIsAClearError(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	c := r.servers[0].Client(t)
	for _, counter := range []string{
		"many", "9007199254740991", "9007199254740992", "9007199254740993", // beyond 2^53 two tokens might be equal
		"9223372036854775806", "9223372036854775807", "9223372036854775808",
	} {
		require.NoError(t, c.Set(bg, r.keys().Token(), counter, 0).Err())
		for _, m := range []lock.Locker{r.mutex(), fair.New(r.locks, r.name)} {
			_, err := m.Lock(bg)
			require.ErrorContains(t, err, "fencing counter is not a number that can grow", counter)
		}
		require.Equal(t, []string{r.keys().Token()}, r.servers[0].Keys(t), counter)
	}
	require.NoError(t, c.Set(bg, r.keys().Token(), "9007199254740990", 0).Err())
	lease, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	require.EqualValues(t, 9007199254740991, lease.Token(), "the last one")
	require.NoError(t, lease.Unlock(bg))
}

func TestServerOutOfMemoryRefusesAndKeepsNothing(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		r := newRig(t, n)
		before, err := reentrant.New(r.locks, "before").Lock(bg)
		require.NoError(t, err)
		r.maxMemory(t, "1")

		_, err = r.mutex().TryLock(bg)
		require.ErrorContains(t, err, "OOM")
		require.ErrorIs(t, err, redlock.ErrNoQuorum)
		require.NoError(t, before.Extend(bg, time.Minute), "what is held can be kept")
		require.NoError(t, before.Unlock(bg), "and given back")
		for _, s := range r.servers {
			redistest.Eventually(t, within, func() bool { // a quorum has confirmed
				left := s.Keys(t)
				return !slices.Contains(left, "lock:{before}") && !slices.Contains(left, r.keys().Lock)
			}, "nothing is held on %s", s.Addr())
		}

		// It passes, so Lock waits for it to pass.
		got := make(chan error, 1)
		tried := r.proxies[0].Commands(acquireCall)
		go func() {
			lease, err := r.mutex().Lock(bg)
			if err == nil {
				err = lease.Unlock(bg)
			}
			got <- err
		}()
		redistest.Eventually(t, within, func() bool { return r.proxies[0].Commands(acquireCall) > tried+1 }, "it tries")
		r.maxMemory(t, "0")
		require.NoError(t, <-got)
		r.requireClean(t)
	}
}

func (r *rig) maxMemory(t *testing.T, bytes string) {
	t.Helper()
	for _, s := range r.servers {
		require.NoError(t, s.Client(t).ConfigSet(bg, "maxmemory", bytes).Err())
	}
}

func TestFlushedScriptsUnderLoadFailNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	clients := redistest.Clients(t, r.servers) // a new one for each flush would end up with thousands
	stop := make(chan struct{})
	var flushes sync.WaitGroup
	flushes.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_ = clients[i%3].ScriptFlush(bg).Err()
			}
		}
	})
	each(t, 300, 30, func(i int) error {
		m := reentrant.New(r.locks, fmt.Sprint("name ", i%60))
		lease, err := m.Lock(bg)
		if err != nil {
			return err
		}
		inner, err := m.TryLock(lease.Context(bg))
		if err != nil {
			return err
		}
		if inner.Count() != 2 {
			return fmt.Errorf("count %d", inner.Count())
		}
		if err := inner.Unlock(bg); err != nil {
			return err
		}
		return lease.Unlock(bg)
	})
	close(stop)
	flushes.Wait()
	r.requireClean(t)
}

func TestUnlockSurvivesDeadNodes(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5)
	lease, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	inner, err := r.mutex().Lock(lease.Context(bg))
	require.NoError(t, err)
	r.servers[0].Kill()
	require.NoError(t, inner.Unlock(bg))
	require.NoError(t, lease.Err())
	r.servers[1].Kill()
	require.NoError(t, lease.Unlock(bg))
	left := &rig{servers: r.servers[2:], proxies: r.proxies[2:], name: r.name}
	left.requireClean(t)

	// The next one is not kept out by the dead.
	next, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	require.NoError(t, next.Unlock(bg))
	left.requireClean(t)
}
