package lock_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// again has so many goroutines lock again and again, each time for as long as hold, until stop. It counts their holds.
func again(goroutines int, hold time.Duration, lockOf func() lock.Locker) (holds *atomic.Int64, stop func()) {
	holds = new(atomic.Int64)
	ctx, cancel := context.WithCancel(bg)
	var busy sync.WaitGroup
	for range goroutines {
		busy.Go(func() {
			for ctx.Err() == nil {
				if l, err := lockOf().Lock(ctx); err == nil {
					holds.Add(1)
					time.Sleep(hold)
					_ = l.Unlock(bg)
				}
			}
		})
	}
	return holds, func() { cancel(); busy.Wait() }
}

// Who has to wait for others of the same process until its command is sent has not met a
// silent node.
func TestCrowdThatWaitsForItselfIsNotRefused(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		const crowd = 2100 // three flights, the last of which leaves after a node timeout and a half
		p := w.process()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(75*time.Millisecond, 75*time.Millisecond) })
		errs := make(chan error, crowd)
		var callers sync.WaitGroup
		for i := range crowd {
			callers.Go(func() {
				_, err := reentrant.New(p.locks, fmt.Sprint("name ", i)).TryLock(bg)
				errs <- err
			})
		}
		callers.Wait()
		for range crowd {
			require.NoError(t, <-errs)
		}
	})
}

// However far the nodes are, those who pass a name on have tokens for as many holds as fit into a round trip, after a
// few of them. (Within maxReign, for nothing is passed on without an answer from then.)
func TestACrowdDoesNotWaitForEachReserve(t *testing.T) {
	const trip, hold, crowd = 40 * time.Millisecond, 200 * time.Microsecond, 12
	for _, kind := range []string{"reentrant", "writer", "permit"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				p := w.process()
				l := w.lock(p.lockOf(kind))
				each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
				require.NoError(t, l.Unlock(bg))
				holds, stop := again(crowd, hold, func() lock.Locker { return p.lockOf(kind) })
				defer stop()
				time.Sleep(time.Second)
				before := holds.Load()
				time.Sleep(time.Second)
				require.Greater(t, holds.Load()-before, int64(time.Second/hold)*9/10)
			})
		})
	}
}

// Fair waiters of one process follow one another without a round trip for each, however far the nodes are.
func TestAFairCrowdDoesNotWaitForEachHandover(t *testing.T) {
	const hold, crowd = 2 * time.Millisecond, 40
	for _, trip := range []time.Duration{20 * time.Millisecond, 45 * time.Millisecond} {
		t.Run(trip.String(), func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				p := w.process()
				each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
				holds, stop := again(crowd, hold, func() lock.Locker { return p.queue() })
				defer stop()
				time.Sleep(2 * time.Second)
				before := holds.Load()
				time.Sleep(5 * time.Second)
				// All are served within a tenure, and then all queue again: a few round trips.
				require.Greater(t, holds.Load()-before, int64(5*time.Second*crowd/(crowd*hold+5*trip)))
			})
		})
	}
}

// One that is far from the nodes passes the name on to itself in its turn as others do, though it takes it two round trips
// to get it and to get tokens.
func TestACrowdFarAwayHasItsShare(t *testing.T) {
	const hold, crowd, lasts = 2 * time.Millisecond, 20, 8 * time.Second
	for _, trip := range []time.Duration{20 * time.Millisecond, 90 * time.Millisecond} {
		t.Run(trip.String(), func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				distant, near := virtual.NewHost(w.nodes), w.process()
				distant.SetDelay(trip/2, trip/2)
				far := w.processOn(distant)
				theirs, leave := again(crowd, hold, func() lock.Locker { return near.mutex() })
				defer leave()
				holds, stop := again(crowd, hold, func() lock.Locker { return far.mutex() })
				defer stop()
				time.Sleep(2 * time.Second)
				before, theirsBefore := holds.Load(), theirs.Load()
				time.Sleep(lasts)
				mine, others := holds.Load()-before, theirs.Load()-theirsBefore
				require.Greater(t, mine, others/2)
				require.Greater(t, others, mine/2)
				turns := lasts / (2 * (maxReign + 3*trip)) // of each
				require.Greater(t, mine+others, int64(2*turns*(maxReign/hold)))
			})
		})
	}
}

// One at the middle distance, whose goroutines keep the name for a whole turn, tells of it once, and a near one of each of
// its holds. The farthest one does not forget over all of those that it is overtaken by the other, and says that it is far.
func TestTheFarthestIsNotForgottenOverACrowdThatIsFarToo(t *testing.T) {
	const hold, lasts, most = 2 * time.Millisecond, 20 * time.Second, 3 * time.Second
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		for _, of := range []struct {
			trip  time.Duration
			crowd int
		}{{0, 1}, {60 * time.Millisecond, 5}} {
			host := virtual.NewHost(w.nodes)
			host.SetDelay(of.trip/2, of.trip/2)
			p := w.processOn(host)
			_, stop := again(of.crowd, hold, func() lock.Locker { return p.mutex() })
			defer stop()
		}
		distant := virtual.NewHost(w.nodes)
		distant.SetDelay(60*time.Millisecond, 60*time.Millisecond)
		farthest := w.processOn(distant).mutex()
		time.Sleep(2 * time.Second)
		for start := time.Now(); time.Since(start) < lasts; {
			began := time.Now()
			l, err := farthest.Lock(bg)
			require.NoError(t, err)
			if time.Since(start) > lasts/4 { // it knows that it is far, and the others do
				require.Less(t, time.Since(began), most)
			}
			time.Sleep(hold)
			require.NoError(t, l.Unlock(bg))
		}
	})
}
