package lock_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/redlock"
)

// reasonOf requires that err is about l, and returns its reason.
func reasonOf(t *testing.T, l *lock.Lease, err error) lock.Reason {
	t.Helper()
	var e *lock.LeaseError
	require.ErrorAs(t, err, &e)
	require.Equal(t, l.Name(), e.Name)
	require.Equal(t, l.ID(), e.Hold)
	require.ErrorContains(t, err, l.Name())
	require.ErrorContains(t, err, l.ID())
	return e.Reason
}

// An ending is how a lease may come to its end, and what everybody is told of it.
type ending struct {
	opts   []lock.Option
	parent bool // its context has a parent that ends
	end    func(w *world, p *process, l *lock.Lease, cancel func())
	reason lock.Reason
	is     error
}

var endings = map[string]ending{
	"its time is over": {
		opts:   []lock.Option{lock.WithoutWatchdog()},
		end:    func(*world, *process, *lock.Lease, func()) {},
		reason: lock.ReasonExpired,
		is:     lock.ErrLost,
	},
	"max hold": {
		opts:   []lock.Option{lock.WithMaxHold(time.Minute)},
		end:    func(*world, *process, *lock.Lease, func()) {},
		reason: lock.ReasonMaxHold,
		is:     lock.ErrLost,
	},
	"abandoned": {
		parent: true,
		end:    func(_ *world, _ *process, _ *lock.Lease, cancel func()) { cancel() },
		reason: lock.ReasonAbandoned,
		is:     lock.ErrLost,
	},
	"silent nodes": {
		end: func(w *world, _ *process, _ *lock.Lease, _ func()) {
			each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		},
		reason: lock.ReasonNotRenewed,
		is:     lock.ErrLost,
	},
	"deleted": {
		end: func(w *world, _ *process, _ *lock.Lease, _ func()) {
			each(w.nodes, func(n *virtual.Node) { n.Memory().Del(keys.Lock) })
		},
		reason: lock.ReasonGone,
		is:     lock.ErrLost,
	},
	"forced here": {
		end: func(_ *world, p *process, _ *lock.Lease, _ func()) {
			_, _ = p.mutex().ForceUnlock(bg)
		},
		reason: lock.ReasonForced,
		is:     lock.ErrLost,
	},
	"closed": {
		end:    func(_ *world, p *process, _ *lock.Lease, _ func()) { _ = p.locks.Close() },
		reason: lock.ReasonClosed,
		is:     lock.ErrReleased,
	},
	"unlocked": {
		end:    func(_ *world, _ *process, l *lock.Lease, _ func()) { _ = l.Unlock(bg) },
		reason: lock.ReasonUnlocked,
		is:     lock.ErrReleased,
	},
}

// With two locks, "lease is lost" does not say which, nor why: everything that tells of
// the end of a lease names it and has the reason.
func TestWhateverTellsOfAnEndNamesTheLeaseAndTheReason(t *testing.T) {
	for name, e := range endings {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				var log logbook
				p := w.process(log.option())
				l := w.lock(p.mutex(e.opts...))
				parent, cancel := context.WithCancel(bg)
				defer cancel()
				ctx := bg
				if e.parent {
					ctx = parent
				}
				ctx = l.Context(ctx)
				e.end(w, p, l, cancel)
				awaitEnd(t, l)
				told := []error{l.Err(), l.Unlock(bg), l.Extend(bg, time.Minute)}
				if !e.parent { // whose own end is the cause
					<-ctx.Done()
					told = append(told, context.Cause(ctx))
					require.Same(t, l.Err(), context.Cause(ctx), "it is one error")
				}
				for _, err := range told {
					require.ErrorIs(t, err, e.is)
					require.Equal(t, e.reason, reasonOf(t, l, err))
				}
				synctest.Wait()
				if errors.Is(e.is, lock.ErrLost) {
					require.Len(t, log.lines("lease lost", "name=orders", l.ID(), e.reason.String()), 1)
				} else {
					require.Empty(t, log.lines("lease lost"))
				}
			})
		})
	}
}

func TestLeaseThatWasNotRenewedTellsWhatEachNodeAnswered(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		time.Sleep(time.Minute)
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		awaitEnd(t, l)
		var answers *redlock.NoQuorumError
		require.ErrorAs(t, l.Err(), &answers)
		require.Equal(t, len(w.nodes)-len(w.quorum()), answers.Agreed)
		require.Len(t, answers.Nodes, len(w.nodes))
		for _, n := range w.quorum() {
			require.ErrorContains(t, l.Err(), n.Addr())
		}
		require.ErrorIs(t, l.Err(), lock.ErrNoQuorum)
	})
}

func TestRoundThatFailedOnceIsNotTheReasonOfALaterEnd(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		each(w.nodes, func(n *virtual.Node) { n.Pause() })
		time.Sleep(defaultTTL / 2)
		each(w.nodes, func(n *virtual.Node) { n.Resume() })
		time.Sleep(long)
		require.NoError(t, l.Err())
		each(w.nodes, func(n *virtual.Node) { n.Memory().Del(keys.Lock) })
		awaitEnd(t, l)
		require.NotErrorIs(t, l.Err(), lock.ErrNoQuorum)
		require.Equal(t, lock.ReasonGone, reasonOf(t, l, l.Err()))
	})
}

// Nor of one that comes while a later round is under way.
func TestRoundThatFailedOnceIsNotWhatAnUnfinishedOneCameTo(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := w.lock(w.process(lock.WithNodeTimeout(25 * time.Second)).mutex())
		each(w.nodes, func(n *virtual.Node) { n.Refuse(extendRuns) })
		time.Sleep(defaultTTL / 2)
		require.NotEmpty(t, renewals(w.nodes[0]))
		each(w.nodes, func(n *virtual.Node) { n.Refuse(nil) })
		time.Sleep(long)
		require.NoError(t, l.Err())
		each(w.nodes, (*virtual.Node).Pause)
		awaitEnd(t, l)
		require.Equal(t, lock.ReasonNotRenewed, reasonOf(t, l, l.Err()))
		require.NotErrorIs(t, l.Err(), lock.ErrNoQuorum, "no round has failed since the last success")
		each(w.nodes, (*virtual.Node).Resume)
	})
}

func TestForceUnlockTellsAHolderInItsOwnProcessAtOnce(t *testing.T) {
	ofEitherKind(t, []int{1, 3}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		p := w.process()
		l := w.lock(of(p))
		ctx := l.Context(bg)
		ended, err := of(p).(lock.Inspector).ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, ended)
		requireLost(ctx, t, l)
		require.Equal(t, lock.ReasonForced, reasonOf(t, l, l.Err()))
	})
}

// So does a goroutine of the holder's process that gets the lock next, however it has learnt that it may, and whether
// or not another process has had it meanwhile.
func TestForceIsToldToAHolderWhoseProcessHasTheLockNext(t *testing.T) {
	kinds := map[string]func(*process) lock.Locker{
		"reentrant": func(p *process) lock.Locker { return p.mutex() },
		"fair":      func(p *process) lock.Locker { return p.queue() },
		"write":     func(p *process) lock.Locker { return readwrite.New(p.locks, "orders") },
		"permits":   func(p *process) lock.Locker { return p.permits(1).Locker(1) },
	}
	for kind, of := range kinds {
		for _, elsewhere := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, others wait %t", kind, elsewhere), func(t *testing.T) {
				inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
					holder, other := w.process(), w.process()
					l := w.lock(of(holder))
					var waits sync.WaitGroup
					lockAndUnlock := func(p *process) {
						waits.Go(func() {
							l, err := of(p).Lock(bg)
							require.NoError(t, err)
							time.Sleep(10 * time.Millisecond)
							require.NoError(t, l.Unlock(bg))
						})
						time.Sleep(100 * time.Millisecond)
					}
					if elsewhere {
						lockAndUnlock(other)
					}
					lockAndUnlock(holder)
					ended, err := of(w.process()).(lock.Inspector).ForceUnlock(bg)
					require.NoError(t, err)
					require.True(t, ended)
					awaitEnd(t, l)
					require.Equal(t, lock.ReasonForced, reasonOf(t, l, l.Err()))
					waits.Wait()
				})
			})
		}
	}
}

// What Unlock or Extend is the first to find out is a loss like any other.
func TestLossThatACallNoticesFirstHasItsReasonAndIsLogged(t *testing.T) {
	calls := map[string]func(*lock.Lease) error{
		"unlock": func(l *lock.Lease) error { return l.Unlock(bg) },
		"extend": func(l *lock.Lease) error { return l.Extend(bg, time.Minute) },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
				var log logbook
				p := w.process(log.option())
				l := w.lock(p.mutex())
				each(w.nodes, func(n *virtual.Node) { n.Memory().Del(keys.Lock) })
				err := call(l)
				require.ErrorIs(t, err, lock.ErrLost)
				require.Equal(t, lock.ReasonGone, reasonOf(t, l, err))
				require.ErrorContains(t, err, name)
				synctest.Wait()
				require.Len(t, log.lines("lease lost", l.ID(), lock.ReasonGone.String()), 1)
			})
		})
	}
}

// So is what Do finds when it unlocks: it says so beside what the work has come to.
func TestLossThatDoNoticesFirstHasItsReasonAndIsLogged(t *testing.T) {
	for name, comesTo := range map[string]error{"well": nil, "in vain": errors.New("no paper left")} {
		t.Run(name, func(t *testing.T) {
			ofEitherKind(t, []int{1, 3, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
				var log logbook
				var l *lock.Lease
				err := of(w.process(log.option())).Do(bg, func(ctx context.Context) error {
					l, _ = lock.FromContext(ctx)
					synctest.Wait()
					each(w.nodes, func(n *virtual.Node) { n.Memory().Del(keys.Lock) })
					return comesTo
				})
				require.ErrorIs(t, err, lock.ErrLost)
				require.Equal(t, lock.ReasonGone, reasonOf(t, l, err))
				if comesTo != nil {
					require.ErrorIs(t, err, comesTo)
				}
				synctest.Wait()
				require.Len(t, log.lines("lease lost", l.ID(), lock.ReasonGone.String()), 1)
			})
		})
	}
}

func TestErrOfALeaseThatIsHeldAllocatesNothing(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		require.Zero(t, testing.AllocsPerRun(100, func() {
			if l.Err() != nil {
				t.Error("it is held")
			}
		}))
	})
}

func TestReasonsHaveNames(t *testing.T) {
	seen := make(map[string]bool)
	for r := lock.ReasonNone; r <= lock.ReasonAbandoned; r++ {
		text, err := r.MarshalText()
		require.NoError(t, err)
		require.Equal(t, r.String(), string(text))
		require.NotContains(t, r.String(), "reason ", "%d", r)
		require.False(t, seen[r.String()])
		seen[r.String()] = true
	}
	require.Equal(t, "reason 200", lock.Reason(200).String())
}

// To ask takes time, which counts: the hold is granted as of when it was asked for.
func TestAGrantIsValidAlthoughTheNodesWereAskedWhyTheHoldBeforeIsGone(t *testing.T) {
	const trip = 60 * time.Millisecond
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.queue())
		waiter := wait(bg, p.queue(lock.WithTTL(trip*7/4), lock.WithoutWatchdog()))
		time.Sleep(100 * time.Millisecond)
		operator := w.process().queue()
		_, err := operator.Inspect(bg)
		require.NoError(t, err)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
		ended, err := operator.ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, ended)
		time.Sleep(10 * trip)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
		next := await(t, waiter)
		require.NoError(t, next.err)
		require.True(t, next.lease.Deadline().After(next.at), "valid until %v at %v", next.lease.Deadline(), next.at)
		require.NoError(t, next.lease.Unlock(bg))
		time.Sleep(trip) // a node may still have to answer what was asked before
		requireHolder(t, "", w.nodes)
		awaitEnd(t, l)
	})
}

// A limit that is far away is not why a lease was lost.
func TestAMaxHoldThatIsNotOverIsNoReason(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex(lock.WithMaxHold(time.Hour)))
		synctest.Wait()
		each(w.nodes, func(n *virtual.Node) { n.Silence(true) })
		<-l.Done()
		var e *lock.LeaseError
		require.ErrorAs(t, l.Err(), &e)
		require.Equal(t, lock.ReasonNotRenewed, e.Reason)
		each(w.nodes, func(n *virtual.Node) { n.Silence(false) })
	})
}

// The nodes that were told may be few: one that knows is enough, as only ForceUnlock tells it.
func TestForceIsToldByANodeThatIsLeftToKnowOfIt(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		each(w.nodes[1:], func(n *virtual.Node) { n.Refuse(runs(lua.Force{})) })
		ended, err := w.process().mutex().ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, ended)
		err = l.Unlock(bg)
		require.ErrorIs(t, err, lock.ErrLost)
		require.Equal(t, lock.ReasonForced, reasonOf(t, l, err))
	})
}

// What fails because another lease was lost is not about that one, and its own lease goes on.
func TestAnOperationUnderTheContextOfALostLeaseFailsForItsOwn(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		l, other := w.lock(p.mutex()), w.lock(reentrantAt(p, "stock"))
		ctx := other.Context(bg)
		require.NoError(t, other.Unlock(bg))
		<-ctx.Done()
		each(w.nodes, (*virtual.Node).Pause)
		err := l.Extend(ctx, time.Minute)
		each(w.nodes, (*virtual.Node).Resume)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, lock.ReasonNone, reasonOf(t, l, err))
		require.NoError(t, l.Err())
		require.NoError(t, l.Unlock(bg))
	})
}
