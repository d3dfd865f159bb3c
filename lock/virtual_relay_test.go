package lock_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
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
