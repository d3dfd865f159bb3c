package semaphore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/semaphore"
)

func TestAllPermitsAtOnceOrNone(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		s, other := r.semaphore(t, 4), r.semaphore(t, 4)
		three := take(t, s, 3)
		require.Equal(t, []int{0, 1, 2}, three.Slots())
		two := acquire(bg, other, 2)
		requireWaiting(t, s, 1)
		requireWaits(t, two)
		state, err := s.Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, 3, state.InUse, "who waits for two has not taken the one that is free")
		require.Equal(t, 2, state.Queue[0].Permits)
		release(t, three)
		p := requireGranted(t, two)
		require.Len(t, p.Slots(), 2)
		release(t, p)
		r.requireNoKeys(t)
	})
}

func TestABigRequestIsNotPassed(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		s, big, small := r.semaphore(t, 3), r.semaphore(t, 3), r.semaphore(t, 3)
		one := take(t, s, 1)
		three := acquire(bg, big, 3)
		requireWaiting(t, s, 1)
		after := acquire(bg, small, 1)
		requireWaiting(t, s, 2)
		requireWaits(t, after)
		_, err := small.TryAcquire(bg, 1)
		require.ErrorIs(t, err, lock.ErrLocked, "nor does it pass who waits by trying")
		release(t, one)
		p := requireGranted(t, three)
		requireWaits(t, after)
		release(t, p)
		release(t, requireGranted(t, after))
	})
}

// Two permits become free one by one. Who waits for both must be told of the second, too (trap 59).
func TestTwoReleasesWakeOneWhoWaitsForTwo(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		s, other := r.semaphore(t, 2), r.semaphore(t, 2)
		first, second := take(t, s, 1), take(t, s, 1)
		two := acquire(bg, other, 2)
		requireWaiting(t, s, 1)
		release(t, first)
		requireWaits(t, two)
		release(t, second)
		release(t, requireGranted(t, two))
	})
}

func TestOneReleaseWakesAllWhoFit(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		s := r.semaphore(t, 4)
		four := take(t, s, 4)
		var waiting []<-chan result
		for i, n := range []int{1, 2, 1, 1} {
			waiting = append(waiting, acquire(bg, r.semaphore(t, 4), n))
			requireWaiting(t, s, i+1)
		}
		release(t, four)
		slots := make(map[int]bool)
		var permits []*semaphore.Permit
		for _, done := range waiting[:3] {
			p := requireGranted(t, done)
			permits = append(permits, p)
			for _, slot := range p.Slots() {
				slots[slot] = true
			}
		}
		require.Len(t, slots, 4)
		requireWaits(t, waiting[3])
		release(t, permits[1])
		release(t, requireGranted(t, waiting[3]), permits[0], permits[2])
	})
}

func TestACancelledHeadLetsTheNextIn(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		s := r.semaphore(t, 3)
		one := take(t, s, 1)
		ctx, cancel := context.WithCancel(bg)
		big := acquire(ctx, r.semaphore(t, 3), 3)
		requireWaiting(t, s, 1)
		first := acquire(bg, r.semaphore(t, 3), 1)
		requireWaiting(t, s, 2)
		second := acquire(bg, r.semaphore(t, 3), 1)
		requireWaiting(t, s, 3)
		cancel()
		gone := <-big
		require.ErrorIs(t, gone.err, context.Canceled)
		release(t, requireGranted(t, first), requireGranted(t, second), one)
		r.requireNoKeys(t)
	})
}

func TestLowSlotsArePreferred(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		s := r.semaphore(t, 1000)
		a, b, c := take(t, s, 1), take(t, s, 2), take(t, s, 1)
		require.Equal(t, []int{0}, a.Slots())
		require.Equal(t, []int{1, 2}, b.Slots())
		require.Equal(t, []int{3}, c.Slots())
		release(t, b)
		d := take(t, s, 3)
		require.Equal(t, []int{1, 2, 4}, d.Slots())
		e := take(t, s, 1)
		require.Equal(t, []int{5}, e.Slots())
		release(t, a)
		f := take(t, s, 1)
		require.Equal(t, []int{0}, f.Slots())
		release(t, c, d, e, f)
		r.requireNoKeys(t)
	})
}

func TestTryAcquire(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		s, other := r.semaphore(t, 2), r.semaphore(t, 2)
		p, err := s.TryAcquire(bg, 1)
		require.NoError(t, err)
		_, err = other.TryAcquire(bg, 2)
		require.ErrorIs(t, err, lock.ErrLocked)
		var why *lock.AcquireError
		require.True(t, errors.As(err, &why))
		require.Equal(t, p.ID(), why.Holder, "it says who is in the way")
		q, err := other.TryAcquire(bg, 1)
		require.NoError(t, err)
		release(t, p, q)
		all, err := other.TryAcquire(bg, 2)
		require.NoError(t, err)
		release(t, all)
		r.requireNoKeys(t)
	})
}
