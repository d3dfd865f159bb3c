package reentrant_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// shortTTL is renewed every second: short for the test, long for a busy machine.
const shortTTL = 3 * time.Second

func TestMinorityThatForgotTheLockIsRepaired(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, lock.WithTTL(shortTTL))
	lease, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	r.flush(t, 0, 1)
	r.requireCount(t, lease.ID(), 1)
	for _, s := range r.servers {
		redistest.Eventually(t, within, func() bool {
			token, err := s.Client(t).Get(bg, r.keys().Token()).Int64()
			return err == nil && token >= lease.Token()
		}, "the counter is at least the token")
	}
	require.NoError(t, lease.Unlock(bg))
	r.requireClean(t)
}

func TestBareMajorityGrowsWhenTheOthersComeBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, lock.WithTTL(shortTTL))
	lost := []*redistest.Drop{r.proxies[0].DropRequest(acquireCall, 1), r.proxies[1].DropRequest(acquireCall, 1)}
	// The repair comes at once: no sooner than it was seen that it was needed.
	repairs := []*redistest.Held{r.proxies[0].Hold(repairCall, 1), r.proxies[1].Hold(repairCall, 1)}
	lease, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	for _, d := range lost {
		d.Wait(t)
	}
	require.Equal(t, []int{0, 0, 1, 1, 1}, r.counts(t, lease.ID()))
	for _, h := range repairs {
		h.Release()
	}
	r.requireCount(t, lease.ID(), 1)
	// Now one of the first three may forget it: still nobody else finds a majority.
	r.flush(t, 4)
	_, err = try(t, reentrant.New(r.client(t), r.name))
	require.ErrorIs(t, err, lock.ErrLocked)
	require.NoError(t, lease.Err())
	require.NoError(t, lease.Unlock(bg))
	r.requireClean(t)
}

func TestMajorityThatForgotTheLockEndsTheLease(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := newRig(t, n, lock.WithTTL(shortTTL))
		lease, err := r.mutex().Lock(bg)
		require.NoError(t, err)
		ctx := lease.Context(bg)
		// A renewal between two of the flushes would give the lock again to those that are empty
		// by then, which are a minority. How soon the loss is seen: see package lock's
		// TestQuorumThatForgotTheLockIsALossAtTheNextRenewal.
		redistest.Eventually(t, within, func() bool {
			r.flush(t, 0, 1, 2)
			return lease.Err() != nil
		}, "the loss is seen")
		<-lease.Done()
		require.ErrorIs(t, lease.Err(), lock.ErrLost)
		<-ctx.Done()
		require.ErrorIs(t, context.Cause(ctx), lock.ErrLost)
		require.ErrorIs(t, lease.Unlock(bg), lock.ErrLost)
		r.requireClean(t)
	}
}

func TestExtendDoesNotRecreateWhatIsGone(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := newRig(t, n, lock.WithoutWatchdog())
		lease, err := r.mutex().Lock(bg)
		require.NoError(t, err)
		r.flush(t, 0, 1, 2)
		require.ErrorIs(t, lease.Extend(bg, time.Minute), lock.ErrLost)
		require.ErrorIs(t, lease.Err(), lock.ErrLost)
		r.requireClean(t)
		require.Equal(t, make([]int, n), r.counts(t, lease.ID()))
	}
}

func TestExtendFindsThatAnotherHasTheLock(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3, lock.WithoutWatchdog())
	lease, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	r.flush(t, 0, 1, 2)
	other, err := try(t, reentrant.New(r.client(t), r.name, lock.WithoutWatchdog()))
	require.NoError(t, err)
	require.ErrorIs(t, lease.Extend(bg, time.Minute), lock.ErrLost)
	require.ErrorIs(t, lease.Unlock(bg), lock.ErrLost)
	require.NoError(t, other.Extend(bg, time.Minute), "a loser's clean-up does not touch it")
	require.NoError(t, other.Unlock(bg))
	r.requireClean(t)
}

func TestRenewalsThatFailForAWhileAreNoLoss(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, lock.WithTTL(2*shortTTL))
	lease, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	var drops []*redistest.Drop
	for _, p := range r.proxies {
		drops = append(drops, p.DropRequest(extendCall, 2))
	}
	before := lease.Deadline()
	for _, d := range drops {
		d.Wait(t)
	}
	redistest.Eventually(t, within, func() bool { return lease.Deadline().After(before) }, "it is renewed after all")
	require.NoError(t, lease.Err())
	require.NoError(t, lease.Unlock(bg))
	r.requireClean(t)
}

func TestRenewalByAMinorityIsALoss(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, lock.WithTTL(shortTTL))
	lease, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	pause(r.servers[:3])
	<-lease.Done()
	require.ErrorIs(t, lease.Err(), lock.ErrLost)
	require.False(t, time.Now().Before(lease.Deadline()), "two nodes have it still: it is tried to the end")
	require.ErrorIs(t, lease.Unlock(bg), lock.ErrLost)
	resume(r.servers[:3])
	r.requireClean(t)
}

func TestOneLossDoesNotEndTheRenewalOfOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, lock.WithTTL(shortTTL))
	other, err := reentrant.New(r.locks, "other").Lock(bg)
	require.NoError(t, err)
	lease, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	require.NoError(t, r.servers[0].Client(t).Del(bg, r.keys().Lock).Err())
	<-lease.Done()
	later, err := reentrant.New(r.locks, "later").Lock(bg)
	require.NoError(t, err)
	for _, l := range []*lock.Lease{other, later} {
		end := time.Now().Add(shortTTL)
		redistest.Eventually(t, within, func() bool { return l.Deadline().After(end) }, "%s is renewed", l.Name())
		require.NoError(t, l.Unlock(bg))
	}
	r.requireClean(t)
}

func TestRenewalGoesOnAfterTheContextThatWaited(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, lock.WithTTL(shortTTL))
	ctx, cancel := context.WithCancel(bg)
	lease, err := r.mutex().Lock(ctx)
	require.NoError(t, err)
	cancel()
	end := time.Now().Add(shortTTL)
	redistest.Eventually(t, within, func() bool { return lease.Deadline().After(end) }, "it is renewed")
	require.NoError(t, lease.Err())
	require.NoError(t, lease.Unlock(ctx), "on the cancelled context")
	r.requireClean(t)
}

func TestReentryAfterALossIsRefusedUntilTheLostLeaseIsUnlocked(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3, lock.WithoutWatchdog())
	ctx := lock.WithOwner(bg)
	lease, err := r.mutex().Lock(ctx)
	require.NoError(t, err)
	r.flush(t, 0, 1, 2)
	_, err = r.mutex().Lock(ctx)
	require.ErrorIs(t, err, lock.ErrLost, "it would not be the lock that the owner believes to be in")
	_, err = r.mutex().TryLock(ctx)
	require.ErrorIs(t, err, lock.ErrLost)
	require.ErrorIs(t, lease.Unlock(ctx), lock.ErrLost)

	fresh, err := r.mutex().Lock(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, fresh.Count())
	require.NotEqual(t, lease.ID(), fresh.ID())
	require.Greater(t, fresh.Token(), lease.Token(), "even though the counters were lost")
	require.NoError(t, fresh.Unlock(ctx))
	r.requireClean(t)
}

func TestAttemptLongerThanItsValidityIsNoSuccess(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		r := newRig(t, n, lock.WithTTL(200*time.Millisecond), lock.WithoutWatchdog(), lock.WithNodeTimeout(2*time.Second))
		for _, p := range r.proxies {
			p.SetDelay(300 * time.Millisecond)
		}
		lease, err := r.mutex().TryLock(bg)
		require.Nil(t, lease)
		require.Error(t, err)
		require.NotErrorIs(t, err, lock.ErrLocked)
		for _, p := range r.proxies {
			p.SetDelay(0)
		}
		r.requireClean(t)
	}
}

// flush empties nodes, as a restart without persistence does.
func (r *rig) flush(t *testing.T, nodes ...int) {
	t.Helper()
	for _, i := range nodes {
		if i < len(r.servers) {
			require.NoError(t, r.servers[i].Client(t).FlushAll(bg).Err())
		}
	}
}
