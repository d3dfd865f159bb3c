package lock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// What ForceUnlock means for those who wait.

// inQueue are the kinds whose waiters stand in a queue on the nodes.
var inQueue = []string{"fair", "writer", "reader", "permit"}

// inTheWayOf is the kind that has a lock of the kind alone.
func inTheWayOf(kind string) string {
	if kind == "reader" {
		return "writer"
	}
	return kind
}

// Whoever was granted the lock, and has not heard of it, looks like a holder that does not work. When that is ended, it
// waits on, and need not wait until the mark that voids its hold is over.
func TestForceUnlockLeavesWaitersTheirTurn(t *testing.T) {
	for _, kind := range inQueue {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				waiter, operator := w.process(), w.process()
				m := waiter.lockOf(kind, lock.WithTTL(10*time.Minute))
				first := w.lock(operator.lockOf(inTheWayOf(kind)))
				gone, cancel := context.WithTimeout(bg, time.Second)
				defer cancel()
				require.Error(t, (<-wait(gone, m)).err) // it listens from now on
				require.NoError(t, first.Unlock(bg))
				synctest.Wait()

				waiter.SetDelay(0, time.Hour)
				c := wait(bg, m)
				time.Sleep(100 * time.Millisecond)
				requireHeld(t, w.nodes)
				waiter.Silence(true)
				ended, err := operator.lockOf(kind).(lock.Inspector).ForceUnlock(bg)
				require.NoError(t, err)
				require.True(t, ended)
				requireHolder(t, "", w.nodes)
				waiter.SetDelay(0, 0)
				start := time.Now()
				waiter.Silence(false)
				l := (<-c).after(t, start, 0, 2*time.Second)
				require.NoError(t, l.Unlock(bg))
				synctest.Wait()
				requireHolder(t, "", w.nodes)
			})
		})
	}
}

// queueUp puts a waiter into a node's queue, alive for long.
func queueUp(t *testing.T, m *miniredis.Miniredis, id string, ticket float64) {
	t.Helper()
	_, err := m.ZAdd(keys.Queue(), ticket, id)
	require.NoError(t, err)
	m.HSet(keys.Waiters(), id, "9000000000000000 1")
}

// A minority's grant is of one who waits, and whose turn it will be on the other nodes.
func TestForceUnlockLeavesWaitersTheirPlace(t *testing.T) {
	marks := map[string]string{"fair": "", "writer": "w", "reader": "r", "permit": "p1/1"}
	for _, kind := range inQueue {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
				m := w.process().lockOf(kind)
				l := w.lock(m)
				id := "waits:1" + marks[kind]
				each(w.nodes, func(n *virtual.Node) { queueUp(t, n.Memory(), id, 1) })
				w.nodes[0].Delete(keys.Lock, keys.Queue(), keys.Waiters(), keys.Readers(), keys.Permits(), keys.Slots(), keys.Free())
				give(w.nodes[0], id)

				ended, err := m.(interface {
					ForceUnlockHold(ctx context.Context, hold string) (bool, error)
				}).ForceUnlockHold(bg, id)
				require.NoError(t, err)
				require.False(t, ended, "it had nothing")
				requireHolder(t, "", w.nodes[:1])
				ended, err = m.(lock.Inspector).ForceUnlock(bg)
				require.NoError(t, err)
				require.True(t, ended)
				for _, n := range w.nodes[1:] {
					queue, err := n.Memory().ZMembers(keys.Queue())
					require.NoError(t, err)
					require.Equal(t, []string{id}, queue, n.Addr())
				}
				require.ErrorIs(t, l.Err(), lock.ErrLost)
			})
		})
	}
}

// Those that keep a place are no answers that are missing, and none that make up for such.
func TestForceUnlockNeedsAQuorumOfAnswersThoughSomeNodesAreNotAsked(t *testing.T) {
	inVirtualTime(t, []int{5}, func(t *testing.T, w *world) {
		const way = 5 * time.Millisecond
		operator := w.process().mutex()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(way, way) })
		give(w.nodes[0], "waits:1")
		queueUp(t, w.nodes[1].Memory(), "waits:1", 1)
		time.AfterFunc(way+way/2, func() { // they have been looked at
			each(w.nodes[2:], func(n *virtual.Node) { n.Pause() })
		})
		_, err := operator.ForceUnlockHold(bg, "waits:1")
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		each(w.nodes[2:], (*virtual.Node).Resume)
	})
}

// A node that does not grant because it has restarted may have queued who asked: with a dead one at the head, it does.
func TestAWaiterLeavesANodeThatIsToGrantNothing(t *testing.T) {
	for _, kind := range inQueue {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
				n := w.nodes[0]
				p := w.process(lock.WithRestartGuard(time.Hour))
				ctx, cancel := context.WithCancel(bg)
				n.Restart()
				synctest.Wait()
				_, err := n.Memory().ZAdd(keys.Queue(), 1, "dead:1")
				require.NoError(t, err)
				n.Memory().HSet(keys.Waiters(), "dead:1", "1 1")
				c := wait(ctx, p.lockOf(kind))
				time.Sleep(10 * time.Second)
				cancel()
				require.Error(t, (<-c).err)
				time.Sleep(time.Second)
				require.NotContains(t, n.Keys(), keys.Queue())
			})
		})
	}
}
