package fair_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// The order of service is that of arrival (I7).

func TestWaitersAreServedInTheOrderInWhichTheyCame(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		parties := []party{here{r.client(t, calm)}, here{r.client(t, calm)}, here{r.client(t, calm)}}
		lease := r.hold(t)
		var calls []*call
		for i := range 12 {
			calls = append(calls, r.enqueue(t, parties[i%len(parties)], fmt.Sprint("waiter ", i)))
		}
		require.NoError(t, lease.Unlock(bg))
		r.pass(t, calls...)
		r.requireDrained(t)
	})
}

func TestProcessesAreServedInTheOrderInWhichTheyCame(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		// Against the order of their names, of their start and of who holds the lock.
		parties := []party{r.program(t), here{r.client(t, calm)}, r.program(t)}
		lease := r.hold(t)
		var calls []*call
		for i := range 9 {
			calls = append(calls, r.enqueue(t, parties[(3-i%3)%3], fmt.Sprint("waiter", i)))
		}
		require.NoError(t, lease.Unlock(bg))
		r.pass(t, calls...)
		r.requireDrained(t)
	})
}

// Hundreds come when they like, while others are served. Whose enqueues do not overlap
// is served in order.
func TestHundredsOfWaitersAreServedInOrder(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		const clients, waiters = 6, 300
		r.watch(t)
		lease := r.hold(t)
		var parties []party
		for range clients {
			parties = append(parties, here{r.client(t, calm)})
		}
		var running sync.WaitGroup
		for i, p := range parties {
			arrivals := time.NewTicker(time.Duration(5+i) * time.Millisecond)
			running.Go(func() {
				defer arrivals.Stop()
				for j := range waiters / clients {
					if rand.N(3) > 0 { // alone, or right behind the last
						<-arrivals.C
					}
					c := p.lock(r, fmt.Sprintf("waiter %d of client %d", j, i))
					running.Go(func() { c.serve(t) })
				}
			})
		}
		// The second half comes while the first is served.
		redistest.Eventually(t, within, func() bool { return len(r.order.Waiters()) >= waiters/2 }, "half of them wait")
		require.NoError(t, lease.Unlock(bg))
		running.Wait()
		require.Len(t, r.order.Served(), waiters)
		seen := 0
		for _, w := range r.order.Waiters() {
			if w.Ended < w.Granted {
				seen++
			}
		}
		t.Logf("%d of %d were seen in the queue before they were served", seen, waiters)
		require.Greater(t, seen, waiters/2, "the log says little otherwise")
		r.requireOrder(t)
		r.requireDrained(t)
	})
}
