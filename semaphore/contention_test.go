package semaphore_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// No slot has two holders and no more than all are taken, at any instant, whatever is asked for at once; and
// everybody gets what he wants, in the end.
func TestNoSlotHasTwoHolders(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		const permits, processes, callers, times = 4, 3, 4, 12
		ctx, cancel := context.WithTimeout(bg, 2*within)
		defer cancel()
		var wg sync.WaitGroup
		for range processes {
			s := r.semaphore(t, permits)
			for range callers {
				wg.Go(func() {
					for range times {
						n := 1 + rand.IntN(permits)
						p, err := s.Acquire(ctx, n)
						if err != nil {
							t.Error(err)
							return
						}
						r.watch.enter(p, n)
						work(3 * time.Millisecond)
						r.watch.leave(p)
						if err := p.Release(bg); err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		wg.Wait()
		r.watch.requireSound(t, permits)
		require.Len(t, r.watch.tokens, processes*callers*times, "each permit has a token of its own")
		r.requireNoKeys(t)
	})
}
