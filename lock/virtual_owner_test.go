package lock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

func TestGoroutinesThatOutliveALeaseExcludeEachOther(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		l := w.lock(m)
		outlives := context.WithoutCancel(l.Context(bg))
		inner, err := m.TryLock(outlives)
		require.NoError(t, err, "it is the owner while the lease lasts")
		require.Equal(t, l.ID(), inner.ID())
		require.NoError(t, inner.Unlock(bg))
		require.NoError(t, l.Unlock(bg))

		first, err := m.TryLock(outlives)
		require.NoError(t, err)
		for range 2 {
			_, err := m.TryLock(outlives)
			require.ErrorIs(t, err, lock.ErrLocked)
		}
		again, err := m.TryLock(first.Context(outlives))
		require.NoError(t, err, "the new owner travels in the new lease's context")
		require.NoError(t, again.Unlock(bg))
		require.NoError(t, first.Unlock(bg))
	})
}

func TestOwnerLastsAsLongAsAnyOfItsHolds(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		p := w.process()
		orders := w.lock(p.mutex())
		ctx := context.WithoutCancel(orders.Context(bg))
		stock, err := reentrantAt(p, "stock").TryLock(ctx)
		require.NoError(t, err)
		require.NoError(t, orders.Unlock(bg))
		again, err := reentrantAt(p, "stock").TryLock(ctx)
		require.NoError(t, err, "the owner has stock still")
		require.Equal(t, stock.ID(), again.ID())
		require.NoError(t, again.Unlock(bg))
		require.NoError(t, stock.Unlock(bg))
	})
}

// The owner of a scope has the whole scope, whatever it held and gave back in it.
func TestOwnerOfAScopeOutlivesItsHolds(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		scope := lock.WithOwner(bg)
		for range 2 {
			outer, err := m.TryLock(scope)
			require.NoError(t, err)
			inner, err := m.TryLock(scope)
			require.NoError(t, err)
			require.Equal(t, outer.ID(), inner.ID())
			require.NoError(t, inner.Unlock(bg))
			require.NoError(t, outer.Unlock(bg))
		}
	})
}

// A Lock that waits while its owner ends is granted to an owner of its own: whoever still
// carries the old one's context must not re-enter it.
func TestOwnerThatEndsWhileItsGoroutineWaitsHasNothingAnyMore(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		theirs := w.lock(w.process().mutex())
		stock := w.lock(reentrantAt(p, "stock"))
		outlives := context.WithoutCancel(stock.Context(bg))
		waits := wait(outlives, p.mutex())
		synctest.Wait()
		require.NoError(t, stock.Unlock(bg))
		require.NoError(t, theirs.Unlock(bg))
		g := <-waits
		require.NoError(t, g.err)
		_, err := p.mutex().TryLock(outlives)
		require.ErrorIs(t, err, lock.ErrLocked)
		inner, err := p.mutex().TryLock(g.lease.Context(bg))
		require.NoError(t, err)
		require.NoError(t, inner.Unlock(bg))
		require.NoError(t, g.lease.Unlock(bg))
	})
}

func TestGoroutineWithoutOwnerIsNotItsParent(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		for _, owned := range []context.Context{bg, lock.WithOwner(bg)} {
			l, err := m.TryLock(owned)
			require.NoError(t, err)
			ctx := lock.WithoutOwner(l.Context(owned))
			_, err = m.TryLock(ctx)
			require.ErrorIs(t, err, lock.ErrLocked)
			lease, ok := lock.FromContext(ctx)
			require.True(t, ok, "it works under the lease all the same")
			require.Same(t, l, lease)
			require.NoError(t, l.Unlock(bg))
		}
	})
}

func TestWorkFindsItsInnermostLease(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		p := w.process()
		_, ok := lock.FromContext(bg)
		require.False(t, ok)
		require.NoError(t, p.mutex().Do(bg, func(ctx context.Context) error {
			outer, ok := lock.FromContext(ctx)
			require.True(t, ok)
			require.Equal(t, "orders", outer.Name())
			require.Positive(t, outer.Token())
			return reentrantAt(p, "stock").Do(ctx, func(ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				inner, ok := lock.FromContext(ctx)
				require.True(t, ok)
				require.Equal(t, "stock", inner.Name())
				return nil
			})
		}))
	})
}

func TestLockUnderALeasesContextHandsOutContexts(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		parent, cancel := context.WithCancel(bg)
		defer cancel()
		require.NoError(t, m.Do(parent, func(ctx context.Context) error {
			return m.Do(ctx, func(ctx context.Context) error { return ctx.Err() })
		}))
	})
}

func TestOwnerThatAContextCarriesIsKept(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		l := w.lock(m)
		for name, ctx := range map[string]context.Context{
			"of a lease": l.Context(bg),
			"of a scope": lock.WithOwner(bg),
		} {
			require.Equal(t, ctx, lock.EnsureOwner(ctx), name)
		}
		inner, err := m.TryLock(lock.EnsureOwner(l.Context(bg)))
		require.NoError(t, err)
		require.Equal(t, l.ID(), inner.ID())
		require.NoError(t, inner.Unlock(bg))
		require.NoError(t, l.Unlock(bg))
	})
}

// Whatever carries no owner, or one that is over, is given one that all Locks under it share.
func TestOwnerIsGivenToAContextThatCarriesNone(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		over := w.lock(m)
		outlives := context.WithoutCancel(over.Context(bg))
		require.NoError(t, over.Unlock(bg))
		for name, ctx := range map[string]context.Context{
			"none":      bg,
			"taken off": lock.WithoutOwner(lock.WithOwner(bg)),
			"over":      outlives,
		} {
			owned := lock.EnsureOwner(ctx)
			outer, err := m.TryLock(owned)
			require.NoError(t, err, name)
			inner, err := m.TryLock(owned)
			require.NoError(t, err, name)
			require.Equal(t, outer.ID(), inner.ID(), name)
			_, err = m.TryLock(lock.EnsureOwner(ctx))
			require.ErrorIs(t, err, lock.ErrLocked, "%s: each time another one", name)
			require.NoError(t, inner.Unlock(bg))
			require.NoError(t, outer.Unlock(bg))
		}
	})
}

// A lease that is to be renewed is, though its owner's first lease was not, and lasts for as long or longer.
func TestWhatReentersALeaseThatIsNotRenewedIsRenewed(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		for _, first := range []time.Duration{10 * time.Second, time.Minute} {
			owner := lock.WithOwner(bg)
			outer, err := p.mutex(lock.WithTTL(first), lock.WithoutWatchdog()).Lock(owner)
			require.NoError(t, err)
			inner, err := p.mutex(lock.WithTTL(10 * time.Second)).Lock(owner)
			require.NoError(t, err)
			<-outer.Done()
			time.Sleep(2 * time.Minute)
			require.NoError(t, inner.Err())
			require.ErrorIs(t, outer.Unlock(bg), lock.ErrLost)
			require.NoError(t, inner.Unlock(bg))
		}
	})
}

// Goroutines of one owner share one hold, though one of them is passed the lock while another one asks the nodes, and
// is granted it, too. A hold that was overwritten would be nobody's to forget, and its owner would never end.
func TestAnOwnerHasOneHoldThoughItIsPassedOneWhileItAsks(t *testing.T) {
	const trip = 4 * time.Millisecond
	type shared struct {
		mine, theirs *lock.Lease // nil: none
		m            lock.Locker
		tries        bool // by a TryLock, and not by a Lock that waits
		leader       bool // another owner waits before them
	}
	acquire := func(ctx context.Context, m func(context.Context) (*lock.Lease, error), brief bool) <-chan grant {
		c := make(chan grant, 1)
		go func() {
			l, err := m(ctx)
			if brief && err == nil {
				err = l.Unlock(bg)
			}
			c <- grant{lease: l, err: err}
		}()
		return c
	}
	for name, share := range map[string]func(w *world, p, other *process) shared{
		"permits": func(w *world, p, other *process) shared {
			m := p.permits(2).Locker(1)
			return shared{mine: w.lock(m), theirs: w.lock(other.permits(2).Locker(1)), m: m}
		},
		"readers": func(w *world, p, other *process) shared {
			return shared{theirs: w.lock(other.lockOf("writer")), m: p.lockOf("reader"), tries: true, leader: true}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				p, other := w.process(), w.process()
				for n := range 66 {
					gap, brief := time.Duration(n/2)*trip/8-2*trip, n%2 == 0
					each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
					s := share(w, p, other)
					outer := w.lock(reentrantAt(p, "stock"))
					scope := context.WithoutCancel(outer.Context(bg))
					wants := []context.Context{scope, scope}
					if s.tries {
						wants = wants[1:]
					}
					if s.leader {
						wants = append([]context.Context{bg}, wants...)
					}
					var grants []<-chan grant
					for _, ctx := range wants {
						grants = append(grants, acquire(ctx, s.m.Lock, brief))
						synctest.Wait()
					}
					time.Sleep(time.Second)
					each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
					go func() { _ = s.theirs.Unlock(bg) }()
					time.Sleep(2*trip + gap)
					if s.tries {
						grants = append(grants, acquire(scope, s.m.TryLock, brief))
					}
					if s.mine != nil {
						require.NoError(t, s.mine.Unlock(bg))
					}
					var leases []*lock.Lease
					for _, c := range grants {
						g := await(t, c)
						if s.tries && errors.Is(g.err, lock.ErrLocked) {
							continue
						}
						require.NoError(t, g.err)
						if !brief {
							leases = append(leases, g.lease)
						}
					}
					if s.leader && !brief {
						require.NoError(t, leases[0].Unlock(bg))
						leases = leases[1:]
					}
					for _, l := range leases {
						require.Equal(t, leases[0].ID(), l.ID(), "%v", gap)
						require.NoError(t, l.Unlock(bg))
					}
					require.NoError(t, outer.Unlock(bg))
					first := w.lockIn(scope, reentrantAt(p, "stock"))
					_, err := reentrantAt(p, "stock").TryLock(scope)
					require.ErrorIs(t, err, lock.ErrLocked, "%v: the owner has ended", gap)
					require.NoError(t, first.Unlock(bg))
					time.Sleep(time.Minute)
					each(w.nodes, func(n *virtual.Node) { require.False(t, n.Memory().Exists(keys.Lock)) })
				}
			})
		})
	}
}
