package lock_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
)

// Whoever lets others have the name waits until they can have heard of it, and their requests have come.
func TestProcessesThatAreFarAwayTakeTurns(t *testing.T) {
	for _, trip := range []time.Duration{30 * time.Millisecond, 120 * time.Millisecond} {
		t.Run(trip.String(), func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
				ctx, cancel := context.WithTimeout(bg, 2*time.Minute)
				defer cancel()
				var goroutines sync.WaitGroup
				var mu sync.Mutex
				var holds [3]int
				for i := range holds {
					p := w.process()
					for range 4 {
						goroutines.Go(func() {
							for {
								l, err := p.mutex().Lock(ctx)
								if err != nil {
									return
								}
								mu.Lock()
								holds[i]++
								mu.Unlock()
								time.Sleep(5 * time.Millisecond)
								assert.NoError(t, l.Unlock(bg))
							}
						})
					}
				}
				goroutines.Wait()
				for _, n := range holds {
					require.Greater(t, n, (holds[0]+holds[1]+holds[2])/30, "%v: a tenth of its share", holds)
				}
			})
		})
	}
}
