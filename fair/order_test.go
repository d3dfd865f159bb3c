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
		const clients, waiters, early = 6, 300, 162
		r.watch(t)
		lease := r.hold(t)
		var parties []party
		for range clients {
			parties = append(parties, here{r.client(t, calm)})
		}
		free := make(chan struct{})
		var running sync.WaitGroup
		for i, p := range parties {
			arrivals := time.NewTicker(time.Duration(5+i) * time.Millisecond)
			running.Go(func() {
				defer arrivals.Stop()
				for j := range waiters / clients {
					if j == early/clients {
						<-free
					}
					if rand.N(3) > 0 { // alone, or right behind the last
						<-arrivals.C
					}
					c := p.lock(r, fmt.Sprintf("waiter %d of client %d", j, i))
					running.Go(func() { c.serve(t) })
				}
			})
		}
		// The others come while these are served. Of who was not seen in the queue the log
		// says little.
		redistest.Eventually(t, within, func() bool { return r.order.Settled() >= early }, "the first %d have their places", early)
		require.NoError(t, lease.Unlock(bg))
		close(free)
		running.Wait()
		require.Len(t, r.order.Served(), waiters)
		seen := 0
		for _, w := range r.order.Waiters() {
			if w.Ended < w.Granted {
				seen++
			}
		}
		t.Logf("%d of %d were seen in the queue before they were served", seen, waiters)
		require.Greater(t, seen, waiters/2)
		r.requireOrder(t)
		r.requireDrained(t)
	})
}
