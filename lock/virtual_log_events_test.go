package lock_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

func TestNodeThatGoesDownAndComesBackIsLoggedOnceEach(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
				var log logbook
				w.lock(w.process(log.option()).mutex(lock.WithTTL(time.Hour)))
				p := w.process(log.option())
				node := w.nodes[0]
				for range 5 {
					_, _ = p.mutex().TryLock(bg)
					time.Sleep(time.Second)
				}
				require.Empty(t, log.lines("a node is"))
				fault(node)
				for range 20 {
					_, _ = p.mutex().TryLock(bg)
					time.Sleep(time.Second)
				}
				require.Len(t, log.lines("a node is down", "level=WARN", node.Addr()), 1)
				require.Empty(t, log.lines("a node is back"))
				node.Silence(false)
				node.Resume()
				node.Start()
				for range 20 {
					_, _ = p.mutex().TryLock(bg)
					time.Sleep(time.Second)
				}
				require.Len(t, log.lines("a node is down"), 1)
				require.Len(t, log.lines("a node is back", "level=INFO", node.Addr()), 1)
			})
		})
	}
}

// Who could not ask a node, for a reason of their own, does not know that it is back.
func TestANodeThatCouldNotBeAskedIsNotBack(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		var log logbook
		h := virtual.NewHost(w.nodes)
		p := w.processOn(h, log.option())
		require.NoError(t, w.lock(p.mutex()).Unlock(bg))
		each(w.nodes, (*virtual.Node).Pause)
		tries := func() {
			for range 5 {
				_, err := p.mutex().TryLock(bg)
				require.ErrorIs(t, err, lock.ErrNoQuorum)
				time.Sleep(time.Second)
			}
		}
		tries()
		require.Len(t, log.lines("a node is down"), len(w.nodes))
		h.Close() // the program has closed its clients
		tries()
		require.Empty(t, log.lines("a node is back"))
		require.Len(t, log.lines("a node is down"), len(w.nodes))
	})
}

func TestNodeThatRefusesACommandIsNotDown(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		var log logbook
		m := w.process(log.option()).mutex()
		require.NoError(t, w.lock(m).Unlock(bg))
		each(w.nodes, func(n *virtual.Node) { n.Refuse(acquireRuns) })
		_, err := m.TryLock(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		synctest.Wait()
		require.Empty(t, log.lines("a node is"))
	})
}

// token is how the log tells l's.
func token(l *lock.Lease) string { return fmt.Sprintf("token=%d", l.Token()) }

// Whoever does not pass the lease's context on waits for himself, for ever: the log names that. So does who waits by the
// other mutex of the name.
func TestWaitForAHoldOfTheOwnClientIsLoggedOnce(t *testing.T) {
	for _, c := range []struct{ held, waited string }{
		{"reentrant", "reentrant"}, {"fair", "fair"}, {"reentrant", "fair"}, {"fair", "reentrant"},
	} {
		t.Run(c.held+", waited for as "+c.waited, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				var log, others logbook
				p := w.process(log.option())
				l := w.lock(p.kinds()[c.held])
				time.Sleep(2 * defaultTTL)
				ctx, cancel := context.WithCancel(bg)
				mistaken := wait(ctx, p.kinds()[c.waited]) // not l.Context(ctx)
				stranger := wait(ctx, w.process(others.option()).kinds()[c.waited])
				time.Sleep(defaultTTL)
				require.Empty(t, log.lines("own client"), "others may be done soon")
				time.Sleep(3 * defaultTTL)
				require.Len(t, log.lines("own client", "level=WARN", "name=orders", l.ID(), token(l), "lease's context", "waiting=1"), 1)
				require.Empty(t, others.lines("own client"))
				cancel()
				<-mistaken
				<-stranger
			})
		})
	}
}

func TestEndOfRenewalForWorkThatHasEndedIsLogged(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		var log logbook
		l := w.lock(w.process(log.option()).mutex())
		parent, cancel := context.WithCancel(bg)
		l.Context(parent)
		time.Sleep(long)
		require.Empty(t, log.lines("not renewed any more"))
		cancel()
		synctest.Wait()
		require.Len(t, log.lines("not renewed any more", "every context of its work has ended", "name=orders", l.ID(), token(l), "until="), 1)
		awaitEnd(t, l)
		synctest.Wait()
		require.Len(t, log.lines("lease lost", lock.ReasonAbandoned.String()), 1)
	})
}

func TestClientsLogNamesNodesByTheirAddresses(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		var log logbook
		held := w.lock(w.process().mutex())
		ctx, cancel := context.WithCancel(bg)
		next := wait(ctx, w.process(log.option()).mutex())
		time.Sleep(time.Second)
		each(w.nodes, func(n *virtual.Node) { n.Silence(true) })
		time.Sleep(2 * time.Minute)
		require.NotEmpty(t, log.lines("waiter: subscription connection is dead", w.nodes[0].Addr()))
		require.Empty(t, log.lines("node=0"))
		cancel()
		<-next
		_ = held
	})
}

func TestNodesThatTheGuardKeepsOutAtTheStartAreLogged(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		const young = "started recently"
		guarded := lock.WithRestartGuard(time.Minute)
		var log logbook
		w.process(guarded, log.option())
		require.Len(t, log.lines(young), 1)
		require.Len(t, log.lines(young, "guard=1m0s", w.nodes[0].Addr(), w.nodes[1].Addr(), w.nodes[2].Addr()), 1)

		time.Sleep(time.Hour)
		w.nodes[1].Reboot()
		w.loadScripts()
		var later logbook
		w.process(guarded, later.option())
		require.Len(t, later.lines(young, w.nodes[1].Addr()), 1)
		require.Empty(t, later.lines(young, w.nodes[0].Addr()), "it is old enough")

		time.Sleep(time.Hour)
		var old, unguarded logbook
		w.process(guarded, old.option())
		require.Empty(t, old.lines(young))
		w.nodes[1].Reboot()
		w.loadScripts()
		w.process(unguarded.option())
		require.Empty(t, unguarded.lines(young))
	})
}
