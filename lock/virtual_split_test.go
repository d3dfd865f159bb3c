package lock_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// oneFar has the first node be far, and the others near.
func (w *world) oneFar() {
	each(w.nodes, func(n *virtual.Node) { n.SetDelay(100*time.Microsecond, 100*time.Microsecond) })
	w.nodes[0].SetDelay(35*time.Millisecond, 35*time.Millisecond)
}

// Who has too few of the near nodes, as rivals have the others, does not keep them until a far one has answered: with that
// one the rivals would do the same, and the next ones, too.
func TestRivalsWithSplitVotesDoNotWaitForAFarNode(t *testing.T) {
	const processes, goroutines, hold, lasts = 5, 20, 300 * time.Microsecond, 4 * time.Second
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		var mu sync.Mutex
		var longest time.Duration
		holds := 0
		var busy sync.WaitGroup
		w.oneFar()
		start := time.Now()
		for i := range processes {
			p := w.process()
			for j := range goroutines {
				busy.Go(func() {
					r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
					for time.Since(start) < lasts {
						time.Sleep(time.Duration(r.Int64N(int64(400 * time.Millisecond))))
						began := time.Now()
						l, err := p.mutex().Lock(bg)
						if !assert.NoError(t, err) {
							return
						}
						mu.Lock()
						if began.Sub(start) > lasts/4 { // by then it is known who is far
							longest, holds = max(longest, time.Since(began)), holds+1
						}
						mu.Unlock()
						time.Sleep(hold)
						assert.NoError(t, l.Unlock(bg))
					}
				})
			}
		}
		busy.Wait()
		require.Greater(t, holds, int(processes*goroutines*(lasts*3/4)/(250*time.Millisecond)))
		require.Less(t, longest, 200*time.Millisecond)
	})
}

// A near node that keeps the hold of somebody who has died elsewhere is no reason not to lock: a far one makes up for it.
func TestAFarNodeCountsWhereANearOneKeepsADeadHold(t *testing.T) {
	for name, take := range map[string]func(lock.Locker) (*lock.Lease, error){
		"Lock":    func(m lock.Locker) (*lock.Lease, error) { return m.Lock(bg) },
		"TryLock": func(m lock.Locker) (*lock.Lease, error) { return m.TryLock(bg) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
				w.oneFar()
				p := w.process()
				for range 20 { // it learns who is far
					require.NoError(t, w.lock(p.mutex()).Unlock(bg))
					time.Sleep(200 * time.Millisecond)
				}
				w.nodes[1].Memory().HSet(keys.Lock, "dead:1", "1")
				w.nodes[1].Memory().SetTTL(keys.Lock, time.Minute)
				start := time.Now()
				l, err := take(p.mutex())
				require.NoError(t, err)
				require.Less(t, time.Since(start), time.Second)
				require.NoError(t, l.Unlock(bg))
			})
		})
	}
}
