package lock_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/semaphore"
)

// passPermit has the one permit of s be passed on just now, and held from then on.
func passPermit(t *testing.T, s *semaphore.Semaphore) permitted {
	t.Helper()
	first := granted(t, acquire(bg, s, 1))
	second := acquire(bg, s, 1)
	require.NoError(t, first.Release(bg))
	return granted(t, second)
}

// Once a process hears that no quorum has a tenure any more, no permit is passed on within it: the renewal that
// decides whether it is lost takes two more round trips.
func TestAPermitThatNoQuorumHasIsNotPassedOn(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		const trip, work = 40 * time.Millisecond, 2 * time.Millisecond
		s := w.process().permits(1)
		held := passPermit(t, s)
		tenure, _, _ := strings.Cut(held.ID(), ".")
		var waiters []<-chan permitted
		for range 100 {
			waiters = append(waiters, acquire(bg, s, 1))
		}
		time.Sleep(time.Second)
		requireQueued(t, s, 100)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
		asked := len(w.nodes[2].Commands(permitReserveRuns))
		// This asks what the nodes say now, and the next hold asks again: by then two nodes have lost the tenure.
		require.NoError(t, held.Release(bg))
		begun := 0
		var gone time.Time
		for _, c := range waiters {
			var g permitted
			select {
			case g = <-c:
			case <-time.After(time.Second): // after the loss, the nodes decide who is next
			}
			if g.Permit == nil || !strings.HasPrefix(g.ID(), tenure+".") {
				break
			}
			if begun++; begun == 1 {
				each(w.quorum(), (*virtual.Node).Flush)
			}
			if questions := w.nodes[2].Commands(permitReserveRuns)[asked:]; len(questions) > 1 {
				gone = questions[1].At.Add(trip / 2)
				require.False(t, g.at.After(gone), "it begins %v after the answer", g.at.Sub(gone))
			}
			time.Sleep(work)
			go func() { _ = g.Release(bg) }()
		}
		require.False(t, gone.IsZero(), "the nodes were asked")
		require.Greater(t, begun, 10, "permits were passed on until then")
	})
}

// Nodes that say nothing have not granted the tokens to others: nobody waits for a second question.
func TestSilentNodesAreAskedForTokensOfPermitsOnce(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		s := w.process().permits(1)
		held := granted(t, acquire(bg, s, 1))
		next := acquire(bg, s, 1)
		time.Sleep(time.Second)
		requireQueued(t, s, 1)
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		asked, ended := w.commands(permitReserveRuns), w.commands(permitReleaseRuns)
		go func() { _ = held.Release(bg) }()
		time.Sleep(3 * defaultNodeTimeout)
		require.Equal(t, asked+len(w.minority()), w.commands(permitReserveRuns))
		require.Greater(t, w.commands(permitReleaseRuns), ended, "the permit is given back")
		each(w.quorum(), func(n *virtual.Node) { n.Silence(false) })
		time.Sleep(time.Minute)
		require.NoError(t, granted(t, next).Release(bg))
	})
}

// Who waits here without a place has it before anybody who came later, who may find that permits are not passed on any more.
func TestWhoComesLaterTakesNoPlaceBeforeThoseWhoWaitHere(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		s := w.process().permits(1)
		held := passPermit(t, s)
		time.Sleep(time.Millisecond)
		first := acquire(bg, s, 1)
		time.Sleep(6 * time.Millisecond)
		second := acquire(bg, s, 1)
		time.Sleep(50 * time.Millisecond)
		other := acquire(bg, w.process().permits(1), 1)
		time.Sleep(maxReign)
		require.NoError(t, held.Release(bg))
		for i, next := range []<-chan permitted{first, second, other} {
			g := granted(t, next)
			for _, later := range []<-chan permitted{first, second, other}[i+1:] {
				requireBlocked(t, later)
			}
			require.NoError(t, g.Release(bg))
		}
	})
}

// When others are known to wait, those who wait here without a place take theirs in the order in which they came.
func TestThoseWhoWaitHereTakeTheirPlacesInOrder(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		s := w.process().permits(1)
		held := passPermit(t, s)
		var order []<-chan permitted
		for range 8 {
			order = append(order, acquire(bg, s, 1))
		}
		requireQueued(t, s, 0)
		other := acquire(bg, w.process().permits(1), 1)
		time.Sleep(maxReign / 2) // time to ask again
		require.NoError(t, held.Release(bg))
		first := granted(t, order[0])
		requireQueued(t, s, 8)
		order[0] = other
		require.NoError(t, first.Release(bg))
		for i, next := range order {
			g := granted(t, next)
			for _, later := range order[i+1:] {
				requireBlocked(t, later)
			}
			require.NoError(t, g.Release(bg))
		}
	})
}

// The next one asks as soon as the request before is on its way, and not when it is answered.
func TestThoseWhoWaitHereTakeTheirPlacesTogether(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const here, trip = 50 * time.Millisecond, 40 * time.Millisecond
		s := w.process().permits(1)
		passPermit(t, s)
		for range 20 {
			acquire(bg, s, 1)
		}
		requireQueued(t, s, 0)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
		time.Sleep(here + 2*trip)
		requireQueued(t, s, 20)
	})
}

// While this process cannot hear messages, each of them waits for that before it asks, but not one after the other.
func TestThoseWhoWaitHereWaitForMessagesTogether(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		each(w.nodes, func(n *virtual.Node) { n.Refuse(virtual.Name("SUBSCRIBE")) })
		s := w.process().permits(1)
		first := granted(t, acquire(bg, s, 1))
		second := acquire(bg, s, 1)
		time.Sleep(time.Second)
		requireQueued(t, s, 1)
		require.NoError(t, first.Release(bg))
		granted(t, second)
		for range 20 {
			acquire(bg, s, 1)
		}
		time.Sleep(2 * defaultNodeTimeout)
		requireQueued(t, s, 20)
	})
}

// Who asks the nodes for a place is the first all the same.
func TestAPermitIsPassedToWhoAsksForAPlace(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const trip = 10 * time.Millisecond
		s := w.process().permits(1)
		held := passPermit(t, s)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
		start := time.Now()
		next := acquire(bg, s, 1)
		time.Sleep(time.Millisecond)
		first := acquire(bg, s, 1)
		time.Sleep(3 * time.Millisecond)
		second := acquire(bg, s, 1)
		time.Sleep(time.Until(start.Add(30 * time.Millisecond)))
		require.NoError(t, held.Release(bg))
		held = granted(t, next) // and the nodes are asked, who say that nobody else waits
		time.Sleep(time.Until(start.Add(53 * time.Millisecond)))
		each(w.nodes, func(n *virtual.Node) { require.False(t, n.Memory().Exists(keys.Queue()), "the first one asks") })
		require.NoError(t, held.Release(bg))
		held = granted(t, first)
		requireBlocked(t, second)
		time.Sleep(100 * time.Millisecond)
		requireQueued(t, s, 1) // of the first, nothing is left
		require.NoError(t, held.Release(bg))
		time.Sleep(2 * trip)
		require.NoError(t, granted(t, second).Release(bg))
		time.Sleep(time.Second)
		each(w.nodes, func(n *virtual.Node) {
			require.False(t, n.Memory().Exists(keys.Lock))
			require.False(t, n.Memory().Exists(keys.Queue()))
		})
	})
}

// Permits go from hand to hand in the order in which the process's goroutines have come, and seldom rest, though whoever
// is next has just asked for a place each time.
func TestPermitsArePassedOnInOrderHoweverFarTheNodesAre(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const workers, work, trip, lasts = 80, time.Millisecond, 40 * time.Millisecond, 5 * time.Second
		s := w.process(lock.WithNodeTimeout(time.Second)).permits(1) // new connections take six round trips
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
		start := time.Now()
		var mu sync.Mutex
		var came, went, holds, inversions int
		var goroutines sync.WaitGroup
		for range workers {
			goroutines.Go(func() {
				for time.Since(start) < lasts {
					mu.Lock()
					number := came
					came++
					mu.Unlock()
					p, err := s.Acquire(bg, 1)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if time.Since(start) > time.Second { // in the beginning, all come at once
						if holds++; number < went {
							inversions++
						}
					}
					went = max(went, number)
					mu.Unlock()
					time.Sleep(work)
					_ = p.Release(bg)
				}
			})
			time.Sleep(time.Microsecond)
		}
		goroutines.Wait()
		require.Zero(t, inversions)
		require.Greater(t, time.Duration(holds)*work, (lasts-time.Second)/2)
	})
}

// A permit that is free at the nodes goes to the one who asks for it, though others are passed on here at a quicker pace
// than an answer comes: passed one of those, it would leave the free one to the next, who fares no better.
func TestWhoAsksForAFreePermitGetsThat(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const permits, workers, work, trip = 4, 40, 10 * time.Millisecond, 40 * time.Millisecond
		others := granted(t, acquire(bg, w.process().permits(permits), permits-1))
		s := w.process().permits(permits)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
		ctx, stop := context.WithCancel(bg)
		var goroutines sync.WaitGroup
		defer goroutines.Wait()
		defer stop()
		var holds atomic.Int64
		for range workers {
			goroutines.Go(func() {
				for ctx.Err() == nil {
					if p, err := s.Acquire(ctx, 1); err == nil {
						holds.Add(1)
						time.Sleep(work)
						_ = p.Release(bg)
					}
				}
			})
		}
		time.Sleep(2 * time.Second)
		require.NoError(t, others.Release(bg))
		time.Sleep(2 * time.Second)
		before := holds.Load()
		time.Sleep(time.Second)
		used := time.Duration(holds.Load()-before) * work
		require.Greater(t, used, permits*time.Second*35/100, "more than one of the four") // as a rule, three are
	})
}
