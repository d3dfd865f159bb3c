package lock_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// traffic has p lock and unlock names of their own all the time, so that it notices what becomes
// of its nodes.
func (p *process) traffic(t *testing.T) {
	t.Helper()
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
			if l, err := reentrantAt(p, fmt.Sprint("other ", i%10)).TryLock(bg); err == nil {
				_ = l.Unlock(bg)
			}
		}
	}()
}

// A node that comes back empty has what is held again at once, and not with the next renewal: so
// one may go after the other.
func TestNodesThatComeBackEmptyOneAfterTheOtherCostNoLease(t *testing.T) {
	ofEitherKind(t, []int{3, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, time.Millisecond) }) // or a pair might be over before each is asked
		p := w.process()
		p.traffic(t)
		l := w.lock(of(p))
		rival := w.process()
		rival.traffic(t)
		waiting := wait(bg, of(rival))
		time.Sleep(time.Second)
		start := time.Now()
		each(w.nodes, func(n *virtual.Node) {
			n.Kill()
			time.Sleep(500 * time.Millisecond)
			n.Start()
			w.loadScripts()
			time.Sleep(time.Second)
			require.NoError(t, l.Err())
			requireHolder(t, l.ID(), w.nodes)
		})
		require.Less(t, time.Since(start), defaultTTL/3, "or a renewal had come by itself")
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, (<-waiting).lease.Unlock(bg))
	})
}

// Where the nodes have no time for so many, no more are asked for.
func TestHoldsAreGivenBackNoFasterThanTheNodesAnswer(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		const (
			many = 1000
			trip = 30 * time.Millisecond
		)
		p := w.process(lock.WithTTL(time.Hour))
		leases := w.lockMany(p, many)
		w.nodes[0].Kill()
		l := w.lock(p.mutex()) // it is noticed
		time.Sleep(time.Second)
		w.nodes[0].Start()
		w.loadScripts()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, trip) })
		asked := len(renewals(w.nodes[2]))
		require.NoError(t, l.Unlock(bg)) // so is this
		time.Sleep(10 * time.Second)
		at := renewals(w.nodes[2])[asked:]
		require.GreaterOrEqual(t, len(at), many)
		for i := 250; i < many; i++ {
			require.GreaterOrEqual(t, at[i].Sub(at[i-250]), trip)
		}
		for i := range leases {
			require.True(t, w.nodes[0].Memory().Exists(fmt.Sprintf("lock:{order %d}", i)))
		}
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
		for _, l := range leases {
			require.NoError(t, l.Unlock(bg))
		}
	})
}

// The nodes are not asked for all of many holds at once.
func TestManyHoldsAreGivenBackOneAfterTheOther(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		const many = 1000
		p := w.process(lock.WithTTL(time.Hour))
		leases := w.lockMany(p, many)
		back, well := w.nodes[0], w.nodes[2]
		back.Kill()
		l := w.lock(p.mutex()) // it is noticed
		back.Start()
		w.loadScripts()
		time.Sleep(time.Second)
		asked := len(renewals(well))
		require.NoError(t, l.Unlock(bg)) // so is this
		start := time.Now()
		time.Sleep(5 * time.Second)
		at := renewals(well)[asked:]
		require.GreaterOrEqual(t, len(at), many)
		require.Less(t, at[len(at)-1].Sub(start), time.Second)
		for i := 260; i < len(at); i++ {
			require.GreaterOrEqual(t, at[i].Sub(at[i-260]), 10*time.Millisecond-slack)
		}
		for i := range leases {
			require.True(t, back.Memory().Exists(fmt.Sprintf("lock:{order %d}", i)))
		}
		for _, l := range leases {
			require.NoError(t, l.Unlock(bg))
		}
	})
}
