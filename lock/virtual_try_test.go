package lock_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/semaphore"
)

// Many schedulers come at the same moment, and each is the first at another node: one of them
// is to do the work, and only the others may be told that it is being done.
func TestOneOfThoseThatTryAtTheSameMomentGetsAFreeLock(t *testing.T) {
	for kind, of := range map[string]func(p *process, name string) lock.Locker{
		"reentrant": func(p *process, name string) lock.Locker { return reentrantAt(p, name) },
		"fair":      func(p *process, name string) lock.Locker { return fair.New(p.locks, name) },
		"readwrite": func(p *process, name string) lock.Locker { return readwrite.New(p.locks, name) },
		"permits":   func(p *process, name string) lock.Locker { return semaphore.New(p.locks, name, 1).Locker(1) },
	} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{2, 3, 5}, func(t *testing.T, w *world) {
				var rivals []*process
				for range w.nodes {
					p := w.process()
					require.NoError(t, w.lock(of(p, "warm up")).Unlock(bg)) // it has its connections
					rivals = append(rivals, p)
				}
				for round := range 20 {
					var won, locked atomic.Int64
					var all sync.WaitGroup
					for first, p := range rivals {
						for i, n := range w.nodes {
							n.SetDelay(time.Duration((i-first+len(w.nodes))%len(w.nodes)+1)*time.Millisecond, 0)
						}
						all.Go(func() {
							_, err := of(p, fmt.Sprint("job ", round)).TryLock(bg)
							switch {
							case err == nil:
								won.Add(1)
							case errors.Is(err, lock.ErrLocked):
								locked.Add(1)
							}
						})
						synctest.Wait() // it has asked
					}
					w.holdUp(0)
					all.Wait()
					require.EqualValues(t, 1, won.Load(), "round %d", round)
					require.EqualValues(t, len(rivals)-1, locked.Load(), "round %d", round)
				}
			})
		})
	}
}

// Permits that are in use are refused soon, whichever of their holders a node names.
func TestPermitsInUseAreRefusedSoonThoughNodesNameDifferentHolders(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		var held []*semaphore.Permit
		for range w.nodes {
			p, err := w.process().permits(len(w.nodes)).TryAcquire(bg, 1)
			require.NoError(t, err)
			held = append(held, p)
		}
		synctest.Wait()
		for i, n := range w.nodes { // each has another one end first
			until, err := n.Memory().ZScore(keys.Permits(), held[i].ID())
			require.NoError(t, err)
			_, err = n.Memory().ZAdd(keys.Permits(), until-float64(time.Second.Microseconds()), held[i].ID())
			require.NoError(t, err)
		}
		start := time.Now()
		_, err := w.process().permits(len(w.nodes)).TryAcquire(bg, 1)
		require.ErrorIs(t, err, lock.ErrLocked)
		require.Less(t, time.Since(start), 20*time.Millisecond, "a pause")
		for _, p := range held {
			require.NoError(t, p.Release(bg))
		}
	})
}

// An even number of nodes can be split into halves. Neither rival may take the other
// for the holder, and sleep until it is woken: nobody would wake it (trap 32).
func TestRivalsWithHalfOfTheNodesEachDoNotTakeEachOtherForTheHolder(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, []int{2, 4}, func(t *testing.T, w *world) {
		half := w.nodes[len(w.nodes)/2:]
		m := w.process().mutex()
		for range 10 {
			each(half, func(n *virtual.Node) { n.Memory().HSet(keys.Lock, "rival:1", "1") })
			waiting := wait(bg, m)
			time.Sleep(100 * time.Millisecond)
			each(half, func(n *virtual.Node) { n.Memory().Del(keys.Lock) })
			freed := time.Now()
			lease := (<-waiting).after(t, freed, 0, 950*time.Millisecond) // a poll takes two seconds and more
			require.NoError(t, lease.Unlock(bg))
		}
	})
}
