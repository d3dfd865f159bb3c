package lock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/redlock"
)

// closeBound is what docs/goroutines.md promises of Close: what is under way has ten
// node timeouts to be answered, and the releases one before that.
const closeBound = 11 * defaultNodeTimeout

func TestCloseIsBoundedWhenTheNetworkIsLost(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				p := w.process()
				held := w.lockMany(p, 20)
				w.lock(w.process().mutex())
				waiting := wait(bg, p.mutex()) // has subscriptions
				time.Sleep(time.Minute)
				each(w.nodes, fault)
				for i, pause := range []time.Duration{0, time.Second} {
					// Also while renewals hang that were sent since.
					time.Sleep(pause)
					start := time.Now()
					err := p.locks.Close()
					require.LessOrEqual(t, time.Since(start), closeBound)
					if i > 0 {
						require.NoError(t, err, "a second Close")
						require.Equal(t, start, time.Now())
						continue
					}
					require.ErrorIs(t, err, redlock.ErrNoQuorum)
					g := <-waiting
					require.ErrorIs(t, g.err, lock.ErrClosed)
					require.Equal(t, start, g.at, "who waits is told at once")
				}
				for _, l := range held {
					require.ErrorIs(t, l.Err(), lock.ErrReleased)
				}
			})
		})
	}
}

func TestCloseWhileRenewalsHangIsBounded(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				p := w.process()
				l := w.lock(p.mutex())
				synctest.Wait()
				each(w.nodes, fault)
				time.Sleep(defaultTTL/3 + 100*time.Millisecond)
				start := time.Now()
				require.Error(t, p.locks.Close())
				require.LessOrEqual(t, time.Since(start), closeBound+defaultNodeTimeout)
				require.ErrorIs(t, l.Err(), lock.ErrReleased)
				require.ErrorIs(t, l.Unlock(bg), lock.ErrReleased)
			})
		})
	}
}

func TestNothingIsRenewedAfterClose(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex())
		time.Sleep(time.Minute)
		require.NoError(t, p.locks.Close())
		renewed := len(renewals(w.nodes[0]))
		synctest.Wait()
		requireHolder(t, "", w.nodes)
		time.Sleep(long)
		require.Len(t, renewals(w.nodes[0]), renewed)
		require.ErrorIs(t, l.Err(), lock.ErrReleased)
	})
}

func TestUnlockIsBoundedWhenTheNetworkIsLost(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				l := w.lock(w.process().mutex())
				synctest.Wait()
				each(w.nodes, fault)
				time.Sleep(defaultTTL/3 - defaultTTL/24)
				start := time.Now()
				require.ErrorIs(t, l.Unlock(bg), redlock.ErrNoQuorum)
				require.LessOrEqual(t, time.Since(start), 2*defaultNodeTimeout)
				require.ErrorIs(t, l.Err(), lock.ErrReleased)
			})
		})
	}
}

func TestReleaseThatNobodyHeardIsMadeWhenNodesComeBack(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		synctest.Wait()
		each(w.nodes, func(n *virtual.Node) { n.Silence(true) })
		require.ErrorIs(t, l.Unlock(bg), redlock.ErrNoQuorum)
		time.Sleep(5 * time.Second)
		each(w.nodes, func(n *virtual.Node) { n.Silence(false) })
		time.Sleep(5 * time.Second)
		requireHolder(t, "", w.nodes) // well before the TTL
	})
}

func TestReleaseThatNobodyHeardIsMadeAsLongAsAnExtensionHasTheKeyLive(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		for _, heard := range []bool{true, false} {
			l := w.lock(w.process().mutex(lock.WithTTL(time.Second)))
			if !heard {
				each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 500*time.Millisecond) })
			}
			err := l.Extend(bg, 10*time.Minute)
			require.Equal(t, heard, err == nil)
			each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
			each(w.nodes, func(n *virtual.Node) { n.Silence(true) })
			require.ErrorIs(t, l.Unlock(bg), redlock.ErrNoQuorum)
			time.Sleep(5 * time.Second)
			each(w.nodes, func(n *virtual.Node) { n.Silence(false) })
			time.Sleep(5 * time.Second)
			requireHolder(t, "", w.nodes) // well before the extension ends
		}
	})
}
