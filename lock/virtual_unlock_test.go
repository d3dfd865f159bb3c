package lock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
)

// A request that was cancelled gives its lock back.
func TestUnlockUnderADoneContextIsARelease(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(bg)
		l, err := w.process().mutex().Lock(ctx)
		require.NoError(t, err)
		cancel()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 10*time.Millisecond) })
		require.NoError(t, l.Unlock(ctx))
		time.Sleep(time.Second) // it returns with a quorum's answers
		requireHolder(t, "", w.nodes)
	})
}

// Another may have had the lock only if a quorum of nodes had forgotten it, whichever nodes answer first.
func TestUnlockFindsALossThatNobodyHasNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		forgetful func(w *world) []*virtual.Node
		lost      bool
	}{
		"quorum":   {(*world).quorum, true},
		"minority": {(*world).minority, false},
	} {
		for order, late := range map[string]bool{"answer first": false, "answer last": true} {
			for kind, opts := range map[string][]lock.Option{"release": nil, "keep": {lock.WithMinHold(time.Minute)}} {
				t.Run(name+" "+order+" "+kind, func(t *testing.T) {
					inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
						l := w.lock(w.process().mutex(append(opts, lock.WithoutWatchdog())...))
						first, last := time.Duration(0), 50*time.Millisecond
						if late {
							first, last = last, first
						}
						each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, last) })
						each(c.forgetful(w), func(n *virtual.Node) {
							n.Flush()
							n.SetDelay(0, first)
						})
						err := l.Unlock(bg)
						if c.lost {
							require.ErrorIs(t, err, lock.ErrLost)
						} else {
							require.NoError(t, err)
						}
					})
				})
			}
		}
	}
}

// A quorum that had the lock decides: an Unlock does not wait for a node that is silent although another one
// has forgotten the lock. If it is not known whether a quorum had it, it is no loss.
func TestUnlockWaitsForASilentNodeOnlyIfItDecides(t *testing.T) {
	inVirtualTime(t, []int{5}, func(t *testing.T, w *world) {
		for forgetful, wait := range map[int]time.Duration{0: 0, 1: 0, 2: defaultNodeTimeout} {
			p := w.process()
			l := w.lock(p.mutex(lock.WithoutWatchdog()))
			each(w.nodes[:forgetful], (*virtual.Node).Flush)
			w.nodes[4].Silence(true)
			start := time.Now()
			require.NoError(t, l.Unlock(bg))
			require.Equal(t, wait, time.Since(start), "%d have forgotten it", forgetful)
			w.nodes[4].Silence(false)
			time.Sleep(long)
			requireHolder(t, "", w.nodes)
		}
	})
}

// An owner is found by the client that it locks with.
func TestOwnerOfOneClientIsNoneOfAnother(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		ctx := lock.WithOwner(bg)
		l, err := w.process().mutex().Lock(ctx)
		require.NoError(t, err)
		_, err = w.process().mutex().TryLock(ctx)
		require.ErrorIs(t, err, lock.ErrLocked)
		require.NoError(t, l.Unlock(bg))
	})
}

// Whoever becomes the first of its process has to see to the lock itself, as nothing may
// ever tell it of the end of a holder that died.
func TestWhoIsBehindAWaiterThatGivesUpHasItsTurn(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const ttl = 10 * time.Second
		holder, p := w.process(), w.process()
		start := time.Now()
		w.lock(holder.mutex(lock.WithTTL(ttl), lock.WithoutWatchdog()))
		ctx, cancel := context.WithCancel(bg)
		first := wait(ctx, p.mutex())
		time.Sleep(time.Second)
		second := wait(bg, p.mutex())
		time.Sleep(time.Second)
		cancel()
		require.ErrorIs(t, (<-first).err, context.Canceled)
		holder.Kill()
		time.Sleep(ttl + time.Minute)
		require.Len(t, second, 1)
		(<-second).after(t, start, ttl, ttl+lookJitter)
	})
}

// Nothing renews a fixed lease, and nothing shortens it: neither the lease itself nor its keys.
func TestADowngradeKeepsTheDeadlineOfAFixedLease(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		m := readwrite.New(w.process().locks, "orders", lock.WithoutWatchdog())
		writes := w.lock(m)
		reads := w.lockIn(writes.Context(bg), m.RLocker())
		time.Sleep(time.Second)
		deadline := reads.Deadline()
		require.NoError(t, writes.Unlock(bg))
		synctest.Wait()
		require.Equal(t, deadline, reads.Deadline())
		s, err := m.Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, []string{reads.ID()}, s.Readers)
		require.InDelta(t, time.Until(deadline)+drift(defaultTTL), s.TTL, float64(2*time.Millisecond))
		require.NoError(t, reads.Unlock(bg))
	})
}
