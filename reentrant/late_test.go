package reentrant_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/redlock"
)

// Commands that the network keeps back, and delivers when all is over (trap 7, 8).

func TestAcquisitionThatArrivesAfterTheReleaseIsVoid(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, lock.WithoutWatchdog())
	held := []*redistest.Held{r.proxies[0].Hold(acquireCall, 1), r.proxies[1].Hold(acquireCall, 1)}
	lease, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	for _, h := range held {
		h.Wait(t)
	}
	require.Equal(t, []int{0, 0, 1, 1, 1}, r.counts(t, lease.ID()))
	require.NoError(t, lease.Unlock(bg))
	// The mark must be there before the command: else nothing would show that it was the mark.
	for _, s := range r.servers[:2] {
		requireMark(t, r, s, lease.ID())
	}

	for _, h := range held {
		h.Release()
	}
	r.requireQuiet(t)
	require.Equal(t, make([]int, 5), r.counts(t, lease.ID()))
	r.requireClean(t)
}

func TestAcquisitionThatArrivesLateDoesNotDisturbTheNextHolder(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, lock.WithoutWatchdog())
	held := r.proxies[0].Hold(acquireCall, 1)
	_, err := r.mutex().TryLock(bg)
	require.ErrorIs(t, err, redlock.ErrNoQuorum)
	held.Wait(t)

	next, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	held.Release()
	r.requireQuiet(t)
	r.requireCount(t, next.ID(), 1)
	require.NoError(t, next.Extend(bg, time.Minute))
	require.NoError(t, next.Unlock(bg))
	r.requireClean(t)
}

func TestCancelledAcquisitionThatArrivesLateIsVoid(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3, lock.WithoutWatchdog())
	var held []*redistest.Held
	for _, p := range r.proxies {
		held = append(held, p.Hold(acquireCall, 1))
	}
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := r.mutex().Lock(ctx)
		failed <- err
	}()
	for _, h := range held {
		h.Wait(t)
	}
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	for _, s := range r.servers {
		redistest.Eventually(t, within, func() bool { return len(s.Keys(t)) == 1 }, "the release overtakes what is stuck, and leaves its mark")
	}
	for _, h := range held {
		h.Release()
	}
	r.requireClean(t)
	for _, s := range r.servers {
		require.NotContains(t, s.Keys(t), r.keys().Token(), "nothing was acquired")
	}
}

func TestRenewalThatArrivesAfterTheReleaseRevivesNothing(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		r := newRig(t, n, lock.WithTTL(6*time.Second)) // the release has to wait for a node timeout
		lease, err := r.mutex().Lock(bg)
		require.NoError(t, err)
		held := r.proxies[0].Hold(extendCall, 1)
		held.Wait(t) // the watchdog's
		require.NoError(t, lease.Unlock(bg))
		held.Release()
		r.requireClean(t)

		// Nor does it help a stranger, or is taken for one's own.
		next, err := try(t, r.mutex())
		require.NoError(t, err)
		require.NoError(t, next.Unlock(bg))
		r.requireClean(t)
	}
}

func TestExtensionThatArrivesLateDoesNotExtendAStranger(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3, lock.WithoutWatchdog(), lock.WithTTL(5*time.Second))
	lease, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	var held []*redistest.Held
	for _, p := range r.proxies {
		held = append(held, p.Hold(extendCall, 1))
	}
	require.ErrorIs(t, lease.Extend(bg, time.Hour), redlock.ErrNoQuorum)
	require.NoError(t, lease.Unlock(bg))
	next, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	// A release needs a quorum only: before it is everywhere, the extension would find its own hold on the last node.
	r.requireCount(t, next.ID(), 1)
	for _, h := range held {
		h.Release()
	}
	r.requireQuiet(t)
	for _, s := range r.servers {
		require.LessOrEqual(t, s.Client(t).PTTL(bg, r.keys().Lock).Val(), 5*time.Second)
	}
	require.NoError(t, next.Unlock(bg))
	r.requireClean(t)
}

func TestReleaseThatArrivesLateDoesNotReleaseALaterHold(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3, lock.WithoutWatchdog())
	ctx := lock.WithOwner(bg) // the same owner: it is the hold that counts
	lease, err := r.mutex().Lock(ctx)
	require.NoError(t, err)
	held := r.proxies[0].Hold(releaseCall, 1)
	require.NoError(t, lease.Unlock(ctx))
	held.Wait(t)
	redistest.Eventually(t, within, func() bool { return r.counts(t, lease.ID())[0] == 0 }, "it is sent once more")
	next, err := r.mutex().Lock(ctx)
	require.NoError(t, err)
	require.NotEqual(t, lease.ID(), next.ID())
	r.requireCount(t, next.ID(), 1)
	held.Release()
	r.requireQuiet(t)
	require.Equal(t, []int{1, 1, 1}, r.counts(t, next.ID()))
	require.NoError(t, next.Unlock(ctx))
	r.requireClean(t)
}

func TestRepairThatArrivesAfterTheReleaseRevivesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3, lock.WithTTL(3*time.Second))
	lease, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	r.requireCount(t, lease.ID(), 1)
	held := r.proxies[0].Hold(repairCall, 1)
	require.NoError(t, r.servers[0].Client(t).Del(bg, r.keys().Lock).Err())
	held.Wait(t) // after a renewal
	require.NoError(t, lease.Unlock(bg))
	requireMark(t, r, r.servers[0], lease.ID())
	held.Release()
	r.requireQuiet(t)
	require.Equal(t, make([]int, 3), r.counts(t, lease.ID()))
}

// requireQuiet waits until every command that left has been executed.
func (r *rig) requireQuiet(t *testing.T) {
	t.Helper()
	for i, s := range r.servers {
		redistest.Eventually(t, within, func() bool {
			return executed(t, s) >= r.proxies[i].Commands(redistest.Command("EVALSHA"))
		}, "node %d has run what was sent", i)
	}
}

func requireMark(t *testing.T, r *rig, s *redistest.Server, id string) {
	t.Helper()
	c := s.Client(t)
	redistest.Eventually(t, within, func() bool { return c.ZScore(bg, r.keys().Void(), id).Err() == nil }, "hold %s is void", id)
}
