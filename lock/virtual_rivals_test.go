package lock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
)

// A server tells its subscribers in the same order each time. All the same, each process has its
// turn: whoever has waited for longer tries first (U4).
func TestProcessesThatWantOneNameTakeTurns(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const processes, goroutines, lasts = 6, 2, 5 * time.Second
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(50*time.Microsecond, 50*time.Microsecond) })
		ctx, cancel := context.WithTimeout(bg, lasts)
		defer cancel()
		type had struct {
			process int
			at      time.Time
		}
		holds := make(chan had, int(lasts/time.Millisecond))
		over := make(chan struct{})
		for i := range processes {
			p := w.process()
			for range goroutines {
				go func() {
					defer func() { over <- struct{}{} }()
					for {
						l, err := p.mutex().Lock(ctx)
						if err != nil {
							return
						}
						holds <- had{i, time.Now()}
						time.Sleep(2 * time.Millisecond)
						_ = l.Unlock(bg)
					}
				}()
			}
		}
		for range processes * goroutines {
			<-over
		}
		close(holds)
		var counts [processes]int
		var last [processes]time.Time
		longest := time.Duration(0)
		for h := range holds {
			if before := last[h.process]; !before.IsZero() {
				longest = max(longest, h.at.Sub(before))
			}
			last[h.process] = h.at
			counts[h.process]++
		}
		t.Log(counts, longest)
		for _, n := range counts {
			require.Greater(t, n, int(lasts/(2*time.Millisecond))/processes/2, counts)
		}
		require.Less(t, longest, time.Second)
		if len(w.nodes) == 1 { // where none splits the votes, a turn is one of six reigns
			require.Less(t, longest, 400*time.Millisecond)
		}
	})
}
