package lock_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// A lease is kept as long as a quorum of nodes is well all the time (I6), whichever minority fails, one after
// the other.

// wellAgain is how long a node that is back may take until it has what is held: a second until it is asked, one more
// in which go-redis does not dial, and a connection takes several round trips.
const wellAgain = 2500 * time.Millisecond

// A siege has programs take and release locks while nodes fail, in ways and at moments that are drawn.
type siege struct {
	*world
	seed int
	rand *rand.Rand
	trip time.Duration // a round trip to a node that is well
	ends chan struct{}
	jobs sync.WaitGroup

	mu   sync.Mutex
	lost []error
}

// strike has some nodes fail, no more than a minority, each in a way and for a time of its own, and waits until
// all are well again.
func (s *siege) strike() {
	var struck sync.WaitGroup
	for _, i := range s.rand.Perm(len(s.nodes))[:1+s.rand.IntN((len(s.nodes)-1)/2)] {
		n := s.nodes[i]
		later := time.Duration(s.rand.IntN(400)) * time.Millisecond
		lasts := []time.Duration{40, 150, 250, 600, 1500, 3000}[s.rand.IntN(6)] * time.Millisecond
		kind := s.rand.IntN(4)
		struck.Go(func() {
			time.Sleep(later)
			switch kind {
			case 0:
				n.Pause()
				time.Sleep(lasts)
				n.Resume()
			case 1:
				n.Kill()
				time.Sleep(lasts)
				n.Start()
				s.loadScripts()
			case 2:
				n.Flush()
			case 3:
				n.SetDelay(lasts/4, lasts/4)
				time.Sleep(lasts)
				n.SetDelay(s.trip/2, s.trip/2)
			}
		})
	}
	struck.Wait()
	time.Sleep(wellAgain)
}

// works has so many goroutines of a process take locks with names of their own.
func (s *siege) works(p *process, process, workers int) {
	for w := range workers {
		r := rand.New(rand.NewPCG(uint64(s.seed), uint64(1000*process+w)))
		s.jobs.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-s.ends:
					return
				case <-time.After(time.Duration(r.IntN(300)) * time.Millisecond):
				}
				l, err := reentrantAt(p, fmt.Sprintf("%d of %d of %d", i, w, process)).TryLock(bg)
				if err != nil {
					continue
				}
				select {
				case <-l.Done():
				case <-time.After(time.Duration(r.IntN(1000)) * time.Millisecond * time.Duration(1+r.IntN(8))):
				}
				if err := l.Err(); errors.Is(err, lock.ErrLost) {
					s.mu.Lock()
					s.lost = append(s.lost, err)
					s.mu.Unlock()
				}
				_ = l.Unlock(bg)
			}
		})
	}
}

func TestLeasesAreKeptWhicheverMinorityFailsOneAfterTheOther(t *testing.T) {
	for _, seed := range []int{1, 7, 8, 16} { // each showed a way to lose some
		inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
			s := &siege{world: w, seed: seed, rand: rand.New(rand.NewPCG(uint64(seed), 0)), ends: make(chan struct{})}
			s.trip = []time.Duration{0, 10, 50}[seed%3] * time.Millisecond
			each(w.nodes, func(n *virtual.Node) { n.SetDelay(s.trip/2, s.trip/2) })
			workers := []int{5, 15, 60}[s.rand.IntN(3)]
			s.works(w.probing(virtual.NewHost(w.nodes)), 0, workers)
			for i := range 8 {
				if i == 3 { // another program starts while some nodes are away
					later := time.Duration(s.rand.IntN(500)) * time.Millisecond
					s.jobs.Go(func() {
						time.Sleep(later)
						s.works(w.probing(virtual.NewHost(w.nodes)), 1, workers)
					})
				}
				s.strike()
			}
			close(s.ends)
			s.jobs.Wait()
			synctest.Wait()
			require.Empty(t, s.lost, "of seed %d", seed)
		})
	}
}
