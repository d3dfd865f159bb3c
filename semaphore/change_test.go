package semaphore_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/semaphore"
)

// use takes and gives back permits until ctx ends.
func (r *rig) use(ctx context.Context, t *testing.T, wg *sync.WaitGroup, s *semaphore.Semaphore, most int, held func(*semaphore.Permit)) {
	wg.Go(func() {
		for ctx.Err() == nil {
			n := 1 + rand.IntN(most)
			p, err := s.Acquire(ctx, n)
			if err != nil {
				if ctx.Err() == nil {
					t.Error(err)
				}
				return
			}
			r.watch.enter(p, n)
			held(p)
			work(2 * time.Millisecond)
			r.watch.leave(p)
			if err := p.Release(bg); err != nil {
				t.Error(err)
			}
		}
	})
}

// While programs are exchanged one by one for others with another number of permits, the larger number
// holds; and when the last one with the larger has gone, the smaller.
func TestTheNumberOfPermitsIsChangedUnderLoad(t *testing.T) {
	for _, change := range []struct {
		name     string
		from, to int
	}{{"growing", 2, 5}, {"shrinking", 5, 2}} {
		t.Run(change.name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, r *rig) {
				var before, after sync.WaitGroup
				old, endOld := context.WithCancel(bg)
				all, end := context.WithTimeout(bg, within)
				defer end()
				defer endOld()
				var mu sync.Mutex
				drained, late := false, 0
				held := func(p *semaphore.Permit) {
					mu.Lock()
					defer mu.Unlock()
					for _, slot := range p.Slots() {
						if drained && slot >= change.to {
							late++
						}
					}
				}
				for range 3 {
					s := r.semaphore(t, change.from)
					for range 3 {
						r.use(old, t, &before, s, 2, held)
					}
				}
				r.watch.requireMore(t, 50)
				for range 3 {
					s := r.semaphore(t, change.to)
					for range 3 {
						r.use(all, t, &after, s, 2, held)
					}
				}
				r.watch.requireMore(t, 50)
				endOld()
				before.Wait()
				mu.Lock()
				drained = true
				mu.Unlock()
				r.watch.requireSound(t, max(change.from, change.to))
				r.watch.mu.Lock()
				r.watch.most = 0
				r.watch.mu.Unlock()
				r.watch.requireMore(t, 100)
				end()
				after.Wait()
				r.watch.requireSound(t, change.to)
				everything := take(t, r.semaphore(t, change.to), change.to)
				require.Len(t, everything.Slots(), change.to, "none is lost")
				release(t, everything)
				require.Zero(t, late, "no slot above the smaller number")
				r.requireNoKeys(t)
			})
		})
	}
}

// Slots above the smaller number are not given out by those who know it, and drain.
func TestSlotsAboveTheSmallerNumberDrain(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		large, small := r.semaphore(t, 4), r.semaphore(t, 2)
		first, rest := take(t, large, 1), take(t, large, 3)
		waits := acquire(bg, small, 1)
		requireWaiting(t, small, 1)
		requireWaits(t, waits)
		release(t, rest)
		p := requireGranted(t, waits)
		require.Equal(t, []int{1}, p.Slots())
		waits = acquire(bg, small, 1)
		requireWaiting(t, small, 1)
		requireWaits(t, waits)
		state, err := small.Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, 2, state.InUse)
		release(t, first)
		q := requireGranted(t, waits)
		require.Equal(t, []int{0}, q.Slots())
		release(t, p, q)
	})
}

// The order of the queue counts for both numbers: whoever waits with the smaller one, for a slot below it, keeps out those
// behind it who could have others.
func TestAWaiterWithTheSmallerNumberIsNotOvertaken(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		large, small := r.semaphore(t, 4), r.semaphore(t, 2)
		held := take(t, r.semaphore(t, 2), 2)
		first := acquire(bg, small, 1)
		requireWaiting(t, small, 1)
		second := acquire(bg, large, 1)
		requireWaiting(t, large, 2)
		requireWaits(t, first)
		requireWaits(t, second)
		_, err := r.semaphore(t, 4).TryAcquire(bg, 1)
		require.ErrorIs(t, err, lock.ErrLocked)
		release(t, held)
		release(t, requireGranted(t, first), requireGranted(t, second))
	})
}
