package lock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/reentrant"
)

// probes is when the node was asked whether it has a hold.
func probes(n *virtual.Node) []time.Time {
	var at []time.Time
	for _, c := range n.Commands(runs(lua.Holds{})) {
		at = append(at, c.At)
	}
	return at
}

// A client that sends nothing notices a node that forgot within about a second, too: so one may
// go after the other.
func TestIdleClientGivesForgetfulNodesTheHoldsAgain(t *testing.T) {
	for name, fault := range map[string]func(*virtual.Node){
		"down for a while": func(n *virtual.Node) {
			n.Kill()
			time.Sleep(1500 * time.Millisecond)
			n.Start()
		},
		"down for a moment": func(n *virtual.Node) {
			n.Kill()
			n.Start()
			// In a real network go-redis notices that a connection is broken before it uses it.
			time.Sleep(3 * time.Second)
		},
		"emptied": (*virtual.Node).Flush,
	} {
		t.Run(name, func(t *testing.T) {
			ofEitherKind(t, []int{3, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
				l := w.lock(of(w.probing(virtual.NewHost(w.nodes), lock.WithTTL(time.Hour)))) // no renewal comes by itself
				each(w.nodes, func(n *virtual.Node) {
					fault(n)
					w.loadScripts()
					// The next probe may still wait for its connection: then the one after it tells.
					time.Sleep(2100 * time.Millisecond)
					synctest.Wait()
					requireHolder(t, l.ID(), w.nodes)
				})
				require.NoError(t, l.Unlock(bg))
			})
		})
	}
}

// One of all holds is asked for, and nothing while nothing is held.
func TestNodesAreProbedOnceInASecondWhileSomethingIsHeld(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		p := w.probing(virtual.NewHost(w.nodes))
		time.Sleep(time.Minute)
		require.Empty(t, probes(w.nodes[0]))
		leases := w.lockMany(p, 100)
		time.Sleep(time.Minute + 100*time.Millisecond)
		require.Len(t, probes(w.nodes[0]), 60)
		for _, l := range leases {
			require.NoError(t, l.Unlock(bg))
		}
		time.Sleep(time.Minute)
		require.Len(t, probes(w.nodes[0]), 60)

		l := w.lock(p.mutex())
		time.Sleep(10*time.Second + 100*time.Millisecond)
		require.Len(t, probes(w.nodes[0]), 70)
		require.NoError(t, l.Unlock(bg))
	})
}

// A single node has nobody to get a hold back from.
func TestSingleNodeIsNotProbed(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		l := w.lock(w.probing(virtual.NewHost(w.nodes)).mutex())
		time.Sleep(time.Minute)
		require.Empty(t, probes(w.nodes[0]))
		require.NoError(t, l.Unlock(bg))
	})
}

// The restart guard may keep a node without the holds for as long as it likes: they are not all
// renewed each second for that.
func TestNodeThatStaysWithoutTheHoldIsNoticedOnce(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		p := w.probing(virtual.NewHost(w.nodes), lock.WithRestartGuard(time.Hour))
		time.Sleep(2 * time.Hour)
		l := w.lock(p.mutex())
		leases := append(w.lockMany(p, 9), l)
		w.nodes[0].Reboot()
		w.nodes[0].Flush()
		w.loadScripts()
		time.Sleep(defaultTTL)
		requireHolder(t, "", w.nodes[:1])
		require.LessOrEqual(t, len(renewals(w.nodes[1])), 6*len(leases))
		for _, l := range leases {
			require.NoError(t, l.Unlock(bg))
		}
	})
}

// Those that have begun since have it on every node, and there may be many.
func TestEmptiedNodeIsNoticedThoughHoldsHaveBegunSince(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		p := w.probing(virtual.NewHost(w.nodes), lock.WithTTL(time.Hour))
		l := w.lock(p.mutex())
		time.Sleep(100 * time.Millisecond)
		w.nodes[0].Flush()
		w.loadScripts()
		leases := w.lockMany(p, 50)
		time.Sleep(1500 * time.Millisecond)
		requireHolder(t, l.ID(), w.nodes)
		for _, l := range append(leases, l) {
			require.NoError(t, l.Unlock(bg))
		}
	})
}

// A hold that has been renewed since has it there again, and holds with a short TTL are renewed often.
func TestEmptiedNodeIsNoticedThoughAnOlderHoldHasBeenRenewedSince(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		p := w.probing(virtual.NewHost(w.nodes))
		often, err := reentrant.New(p.locks, "often", lock.WithTTL(2*time.Second)).Lock(bg) // its renewal gives it back
		require.NoError(t, err)
		time.Sleep(time.Millisecond)
		l := w.lock(p.mutex(lock.WithTTL(time.Hour)))
		time.Sleep(200 * time.Millisecond)
		w.nodes[0].Flush()
		w.loadScripts()
		time.Sleep(1500 * time.Millisecond)
		requireHolder(t, l.ID(), w.nodes)
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, often.Unlock(bg))
	})
}

// requireNoticed requires that l is soon there again when the first node loses all but the key of first.
func (w *world) requireNoticed(t *testing.T, l *lock.Lease, first lua.Keys) {
	t.Helper()
	for range 3 {
		for _, key := range w.nodes[0].Keys() {
			if key != first.Lock {
				w.nodes[0].Delete(key)
			}
		}
		time.Sleep(2100 * time.Millisecond)
		synctest.Wait()
		requireHolder(t, l.ID(), w.nodes)
	}
}

// The oldest hold may be one that the node never had, as something else has its name there.
func TestEmptiedNodeIsNoticedThoughItNeverHadAnOlderHold(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		first, err := lua.NewKeys("lock", "first")
		require.NoError(t, err)
		require.NoError(t, w.nodes[0].Memory().Set(first.Lock, "something else"))
		p := w.probing(virtual.NewHost(w.nodes), lock.WithTTL(time.Hour))
		older, err := reentrant.New(p.locks, "first").Lock(bg)
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		l := w.lock(p.mutex())
		time.Sleep(10 * time.Second)
		w.requireNoticed(t, l, first)
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, older.Unlock(bg))
	})
}

// What somebody has put in the place of a hold says nothing of the others.
func TestEmptiedNodeIsNoticedThoughSomethingElseHasTheNameOfAnOlderHold(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		p := w.probing(virtual.NewHost(w.nodes), lock.WithTTL(time.Hour))
		older, err := reentrant.New(p.locks, "first").Lock(bg)
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		l := w.lock(p.mutex())
		first, err := lua.NewKeys("lock", "first")
		require.NoError(t, err)
		w.nodes[0].Delete(first.Lock)
		require.NoError(t, w.nodes[0].Memory().Set(first.Lock, "something else"))
		time.Sleep(2 * time.Second)
		w.requireNoticed(t, l, first)
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, older.Unlock(bg))
	})
}

// It has been given the holds meanwhile, so it is news that it lacks them.
func TestNodeThatIsEmptiedAgainIsNoticedAgain(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		p := w.probing(virtual.NewHost(w.nodes), lock.WithTTL(time.Hour))
		l := w.lock(p.mutex())
		time.Sleep(600 * time.Millisecond) // not when nodes are asked
		for range 5 {
			w.nodes[0].Flush()
			w.loadScripts()
			time.Sleep(time.Second)
			synctest.Wait()
			requireHolder(t, l.ID(), w.nodes)
		}
		require.NoError(t, l.Unlock(bg))
	})
}
