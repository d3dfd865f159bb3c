package lock_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
)

// requireLapses requires that nothing is renewed from now on, and that the lease is
// lost when what was confirmed last ends.
func requireLapses(t *testing.T, w *world, l *lock.Lease) {
	t.Helper()
	synctest.Wait()
	renewed := len(renewals(w.nodes[0]))
	deadline := l.Deadline()
	require.Less(t, time.Until(deadline), defaultTTL)
	awaitEnd(t, l)
	require.Equal(t, deadline, time.Now())
	require.ErrorIs(t, l.Err(), lock.ErrLost)
	time.Sleep(long)
	require.Len(t, renewals(w.nodes[0]), renewed)
	requireHolder(t, "", w.nodes)
}

func TestAbandonedWorkLetsItsLockLapse(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		parent, cancel := context.WithCancel(bg)
		ctx := l.Context(parent)
		time.Sleep(long)
		require.NoError(t, ctx.Err())
		cancel()
		require.ErrorIs(t, ctx.Err(), context.Canceled)
		require.NoError(t, l.Err(), "it is held still")
		requireLapses(t, w, l)
		require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
	})
}

func TestOneOfTwoParentsKeepsTheLockRenewed(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		first, endFirst := context.WithCancel(bg)
		second, endSecond := context.WithTimeout(bg, 2*long)
		defer endSecond()
		one, two := l.Context(first), l.Context(second)
		time.Sleep(time.Minute)
		endFirst()
		time.Sleep(long)
		require.Error(t, one.Err())
		require.NoError(t, two.Err())
		require.NoError(t, l.Err())
		<-two.Done()
		require.ErrorIs(t, context.Cause(two), context.DeadlineExceeded)
		requireLapses(t, w, l)
	})
}

func TestParentThatComesLaterHasItRenewedAgain(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		first, endFirst := context.WithCancel(bg)
		l.Context(first)
		time.Sleep(time.Minute)
		endFirst()
		time.Sleep(15 * time.Second)
		renewed := len(renewals(w.nodes[0]))
		second, endSecond := context.WithCancel(bg)
		ctx := l.Context(second)
		synctest.Wait()
		require.Len(t, renewals(w.nodes[0]), renewed+1, "overdue, so at once")
		time.Sleep(long)
		require.NoError(t, ctx.Err())
		endSecond()
		requireLapses(t, w, l)
	})
}

func TestParentsOfOneLeaseDoNotConcernTheOthersOfItsHold(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		owner := lock.WithOwner(bg)
		outer, err := m.Lock(owner)
		require.NoError(t, err)
		inner, err := m.Lock(owner)
		require.NoError(t, err)
		parent, cancel := context.WithCancel(bg)
		ctx := inner.Context(parent)
		cancel()
		lost := make(chan time.Time, 1)
		start := time.Now()
		go func() { <-inner.Done(); lost <- time.Now() }()
		time.Sleep(long)
		require.Equal(t, validity(defaultTTL), (<-lost).Sub(start))
		require.ErrorIs(t, ctx.Err(), context.Canceled)
		require.NoError(t, outer.Err())
	})
}

func TestContextThatWaitedForTheLockIsNoParent(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		ctx, cancel := context.WithTimeout(bg, time.Minute)
		defer cancel()
		l, err := w.process().mutex().Lock(ctx)
		require.NoError(t, err)
		time.Sleep(long)
		require.NoError(t, l.Err())
		require.NoError(t, l.Unlock(ctx))
	})
}

func TestRenewalUnderWayWhenTheLastParentEndsMovesNothing(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		parent, cancel := context.WithCancel(bg)
		defer cancel()
		l.Context(parent)
		for _, n := range w.nodes {
			n.SetDelay(0, 100*time.Millisecond)
		}
		for len(renewals(w.nodes[0])) == 0 {
			time.Sleep(time.Millisecond)
		}
		deadline := l.Deadline()
		cancel()
		awaitEnd(t, l)
		require.Equal(t, deadline, time.Now())
	})
}

// A leader gives its lease to one request after the other, each of which ends: what it works
// under is the context with which it became leader.
func TestLeaderOutlivesTheRequestsItServes(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		leads, resign := context.WithCancel(bg)
		l, err := w.process().mutex().Lock(leads)
		require.NoError(t, err)
		for range 3 {
			request, end := context.WithTimeout(bg, time.Second)
			ctx := l.Context(request)
			<-ctx.Done()
			end()
			time.Sleep(long)
			require.NoError(t, l.Err())
		}
		resign()
		requireLapses(t, w, l)
	})
}

// Also when one of them is that context itself, and ends.
func TestWorkWhoseContextsHaveAllEndedIsAbandoned(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(bg)
		l, err := w.process().mutex().Lock(ctx)
		require.NoError(t, err)
		l.Context(ctx)
		time.Sleep(long)
		cancel()
		requireLapses(t, w, l)
	})
}

func TestContextThatCannotEndKeepsTheLockRenewed(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		type key struct{}
		forever := l.Context(context.WithValue(bg, key{}, "value"))
		require.Equal(t, "value", forever.Value(key{}))
		parent, cancel := context.WithCancel(bg)
		l.Context(parent)
		cancel()
		time.Sleep(long)
		require.NoError(t, l.Err())
		child, stop := context.WithCancel(forever)
		defer stop()
		require.NoError(t, l.Unlock(bg))
		<-child.Done()
		require.ErrorIs(t, context.Cause(child), lock.ErrReleased)
	})
}

func TestEveryContextThatCannotEndEndsWithTheLease(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		contexts := []context.Context{l.Context(bg), l.Context(bg), l.Context(context.WithoutCancel(l.Context(bg)))}
		require.NoError(t, l.Unlock(bg))
		for _, ctx := range contexts {
			select {
			case <-ctx.Done():
			default:
				require.Fail(t, "it goes on")
			}
			require.ErrorIs(t, context.Cause(ctx), lock.ErrReleased)
		}
	})
}

// Contexts that nobody has any more leave nothing behind, whether their parents have ended, go on
// or cannot end.
func TestContextsDoNotPileUp(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		defer func() { require.NoError(t, l.Unlock(bg)) }()
		l.Context(bg)
		const n = 20_000
		type key struct{}
		serves, stop := context.WithCancel(bg)
		defer stop()
		use := func() {
			for i := range n {
				require.NoError(t, l.Context(bg).Err())
				require.NoError(t, l.Context(serves).Err())
				require.NoError(t, l.Context(context.WithValue(serves, key{}, i)).Err())
			}
			for i := range n {
				request, end := context.WithCancel(bg)
				ctx := l.Context(request)
				end()
				require.Error(t, ctx.Err())
				if i%100 == 0 {
					synctest.Wait() // as the runtime keeps what many goroutines at once have taken
				}
			}
			synctest.Wait()
		}
		use() // what is kept for later use is there now
		before := heap()
		use()
		require.Less(t, heap()-before, int64(16*n), "a context takes hundreds of bytes")
	})
}

// Contexts of parents that end together have nothing else in common.
func TestContextsOfOneParentKeepTheirValues(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		type key string
		why := errors.New("told to stop")
		serves, stop := context.WithCancelCause(bg)
		defer stop(nil)
		one := l.Context(context.WithValue(serves, key("request"), 1))
		two := l.Context(context.WithValue(context.WithValue(serves, key("request"), 2), key("user"), "ann"))
		require.Equal(t, 1, one.Value(key("request")))
		require.Equal(t, 2, two.Value(key("request")))
		require.Nil(t, one.Value(key("user")))
		require.Equal(t, "ann", two.Value(key("user")))
		child, end := context.WithCancel(two)
		defer end()
		stop(why)
		for _, ctx := range []context.Context{one, two, child} {
			require.ErrorIs(t, ctx.Err(), context.Canceled)
			require.Equal(t, why, context.Cause(ctx))
		}
		require.NoError(t, l.Err())
		timed, end := context.WithTimeout(bg, time.Second)
		defer end()
		three := l.Context(timed)
		<-three.Done()
		require.ErrorIs(t, three.Err(), context.DeadlineExceeded)
		require.NoError(t, l.Unlock(bg))
		over := l.Context(context.WithValue(bg, key("request"), 4))
		require.ErrorIs(t, context.Cause(over), lock.ErrReleased)
		require.Equal(t, 4, over.Value(key("request")))
	})
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A reader that joins those of its process is renewed though the work of the others has been given up.
func TestAReaderThatJoinsAbandonedOnesIsRenewed(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		m := readwrite.New(p.locks, "orders")
		ctx, cancel := context.WithCancel(bg)
		first, err := m.RLock(ctx)
		require.NoError(t, err)
		first.Context(ctx)
		cancel()
		time.Sleep(10 * time.Millisecond)
		second, err := m.RLock(bg)
		require.NoError(t, err)
		require.Equal(t, first.Deadline(), second.Deadline(), "it has joined")
		time.Sleep(3 * defaultTTL)
		require.NoError(t, second.Err())
		require.NoError(t, second.Unlock(bg))
	})
}

// A context that lives for long, as a server's does, keeps nothing of a lease that is over.
func TestALeaseThatIsOverIsForgottenByItsContexts(t *testing.T) {
	for name, c := range map[string]struct{ waits, works bool }{"of the wait": {true, false}, "of the work": {false, true}} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
				parent, cancel := context.WithCancel(bg)
				defer cancel()
				m := w.process().mutex()
				var leases []weak.Pointer[lock.Lease]
				for range 50 {
					waits, works := bg, bg
					if c.waits {
						waits = parent
					}
					if c.works {
						works = parent
					}
					l, err := m.Lock(waits)
					require.NoError(t, err)
					l.Context(works)
					require.NoError(t, l.Unlock(bg))
					leases = append(leases, weak.Make(l))
				}
				time.Sleep(time.Minute)
				left := 0
				for range 5 {
					runtime.GC()
				}
				for _, p := range leases {
					if p.Value() != nil {
						left++
					}
				}
				require.LessOrEqual(t, left, 5)
			})
		})
	}
}

// Nor does a lease that is over keep the contexts that it was given.
func TestContextsAreForgottenByALeaseThatIsOver(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		var leases []*lock.Lease
		type request struct{ context.Context }
		var requests []weak.Pointer[request]
		for range 50 {
			l := w.lock(m)
			parent, cancel := context.WithCancel(bg)
			r := &request{parent}
			l.Context(r)
			require.NoError(t, l.Unlock(bg))
			cancel()
			leases, requests = append(leases, l), append(requests, weak.Make(r))
		}
		time.Sleep(time.Minute)
		for range 5 {
			runtime.GC()
		}
		left := 0
		for _, r := range requests {
			if r.Value() != nil {
				left++
			}
		}
		require.LessOrEqual(t, left, 5)
		runtime.KeepAlive(leases)
	})
}
