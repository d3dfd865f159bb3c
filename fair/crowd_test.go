package fair_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
)

// Crowds: all go on, and nobody starves.

func TestThousandWaitersOfOneProcessAllHaveTheirTurns(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d nodes", n), func(t *testing.T) {
			r := newRig(t, n)
			r.crowd(t, 1000, here{r.client(t)})
		})
	}
}

func TestHundredWaitersOfEachOfEightProcessesAllHaveTheirTurns(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d nodes", n), func(t *testing.T) {
			r := newRig(t, n)
			var parties []party
			for range 8 {
				parties = append(parties, r.program(t, func(s *setup) { s.Beat = beatDefault }))
			}
			r.crowd(t, 100, parties...)
		})
	}
}

// crowd has so many waiters of each party lock twice, at the default heartbeat: all wait
// before the first is served, and each comes back once it was.
func (r *rig) crowd(t *testing.T, each int, parties ...party) {
	t.Helper()
	waiters := each * len(parties)
	lease := r.hold(t, lock.WithTTL(time.Minute))
	var mu sync.Mutex
	var grants []time.Time
	var running sync.WaitGroup
	for i, p := range parties {
		for j := range each {
			running.Go(func() {
				for round := range 2 {
					c := p.lock(r, fmt.Sprintf("%d.%d.%d", i, j, round))
					<-c.done
					mu.Lock()
					grants = append(grants, time.Now())
					mu.Unlock()
					c.serve(t)
				}
			})
		}
	}
	redistest.Eventually(t, within, func() bool { return r.waiting() == waiters }, "%d wait", waiters)
	released := time.Now()
	require.NoError(t, lease.Unlock(bg))
	running.Wait()

	require.Len(t, grants, 2*waiters)
	longest, before := time.Duration(0), released
	for _, at := range grants {
		longest = max(longest, at.Sub(before))
		before = at
	}
	took := before.Sub(released)
	t.Logf("%d hand-overs in %v, %v each; the longest took %v", len(grants), took, took/time.Duration(len(grants)), longest)
	require.Less(t, longest, within/2, "progress is steady")
	// Everybody was served once before anybody came a second time.
	served := r.order.Served()
	for _, name := range served[:waiters] {
		require.Equal(t, byte('0'), name[len(name)-1], "in vain waits: %v", slices.Index(served, name))
	}
	r.requireOrder(t)
	r.requireDrained(t)
}
