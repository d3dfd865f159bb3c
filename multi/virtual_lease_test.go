package multi_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/reentrant"
)

// requireLost requires that everything says that err is about the lock called name.
func requireLost(t *testing.T, err error, name string, reason lock.Reason) {
	t.Helper()
	require.ErrorIs(t, err, lock.ErrLost)
	var e *lock.LeaseError
	require.ErrorAs(t, err, &e)
	require.Equal(t, name, e.Name)
	require.Equal(t, reason, e.Reason)
}

func isOver(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func requireOver(t *testing.T, done <-chan struct{}) {
	t.Helper()
	require.True(t, isOver(done), "it goes on")
}

// requireEnds waits for an end that must come. What goes on would go on for ever.
func requireEnds(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(long):
		require.Fail(t, "it goes on")
	}
}

// parents are contexts that work may have.
func parents(t *testing.T) map[string]context.Context {
	ends, cancel := context.WithCancel(bg)
	t.Cleanup(cancel)
	return map[string]context.Context{"endless": bg, "may end": ends}
}

func TestLossOfOneEndsTheLeaseAndNamesIt(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		names := []string{"c", "a", "b"}
		for i, lost := range names {
			for name, parent := range parents(t) {
				l := tryAll(bg, t, multi.New(mixed(w.client(), names...)...))
				ctx := l.Context(parent)
				inner, cancel := context.WithCancel(ctx)
				done := l.Done()
				time.Sleep(long)
				require.NoError(t, ctx.Err())
				require.NoError(t, l.Err())
				require.False(t, isOver(done))

				_, err := reentrant.New(w.client(), lost).ForceUnlock(bg)
				require.NoError(t, err)
				for _, over := range []<-chan struct{}{ctx.Done(), inner.Done(), done, l.Done()} {
					requireEnds(t, over)
				}
				for _, err := range []error{l.Err(), context.Cause(ctx), context.Cause(inner), context.Cause(l.Context(parent))} {
					requireLost(t, err, lost, lock.ReasonForced)
				}
				require.ErrorIs(t, ctx.Err(), context.Canceled)

				// The others are held, and renewed, until Unlock.
				time.Sleep(long)
				held := ids(l)
				held[i] = ""
				require.Equal(t, held, w.holders(names...), name)
				err = l.Unlock(bg)
				requireLost(t, err, lost, lock.ReasonForced)
				require.NotErrorIs(t, err, lock.ErrReleased)
				requireLost(t, l.Err(), lost, lock.ReasonForced) // it does not change
				w.requireFree(names...)
				cancel()
			}
		}
	})
}

// Of several losses, the first is told of, whenever somebody asks.
func TestFirstLossIsTheOneThatIsToldOf(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		parent, cancel := context.WithCancel(bg)
		defer cancel()
		for name, look := range map[string]func(*multi.Lease){
			"nobody looked":   func(*multi.Lease) {},
			"Done":            func(l *multi.Lease) { l.Done() },
			"Context":         func(l *multi.Lease) { l.Context(bg) },
			"Done, Context":   func(l *multi.Lease) { l.Done(); l.Context(bg) },
			"Context, Done":   func(l *multi.Lease) { l.Context(bg); l.Done() },
			"another Context": func(l *multi.Lease) { l.Context(parent) },
		} {
			l := tryAll(bg, t, multi.New(of(w.client(), "a", "b", "c")...))
			look(l)
			for _, lost := range []string{"b", "a", "c"} {
				_, err := reentrant.New(w.client(), lost).ForceUnlock(bg)
				require.NoError(t, err)
				time.Sleep(ttl)
			}
			first := "b"
			if name == "nobody looked" {
				first = "a" // in the order given
			}
			requireLost(t, l.Err(), first, lock.ReasonForced)
			err := l.Unlock(bg)
			require.ErrorIs(t, err, lock.ErrLost)
			for _, lost := range []string{"a", "b", "c"} {
				require.ErrorContains(t, err, lost)
			}
			requireLost(t, l.Err(), first, lock.ReasonForced)
		}
	})
}

// Whoever unlocks one of the leases by itself has given the whole up, but a loss stays one.
func TestLeaseOfWhichOneWasUnlockedByHandIsLostAllTheSame(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := tryAll(bg, t, multi.New(of(w.client(), "a", "b", "c")...))
		require.NoError(t, l.Leases()[0].Unlock(bg))
		_, err := reentrant.New(w.client(), "b").ForceUnlock(bg)
		require.NoError(t, err)
		requireEnds(t, l.Leases()[1].Done())
		requireLost(t, l.Err(), "b", lock.ReasonForced)
		err = l.Unlock(bg)
		require.ErrorIs(t, err, lock.ErrLost)
		require.ErrorIs(t, err, lock.ErrReleased)
		w.requireFree("a", "b", "c")
	})
}

// A process that was paused must not go on because nobody has told it yet.
func TestContextLooksAtTheClock(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		c := w.client(lock.WithoutWatchdog(), lock.WithTTL(time.Minute))
		for name, parent := range parents(t) {
			for range 20 { // who comes first at one moment is up to chance
				short := reentrant.New(c, "a", lock.WithTTL(ttl))
				l := tryAll(bg, t, multi.New(append([]lock.Locker{short}, of(c, "b", "c")...)...))
				ctx := l.Context(parent)
				require.Equal(t, l.Leases()[0].Deadline(), l.Deadline(), "the earliest")
				require.Less(t, l.Deadline(), l.Leases()[1].Deadline())
				time.Sleep(time.Until(l.Deadline()))
				require.ErrorIs(t, ctx.Err(), context.Canceled, name)
				requireLost(t, context.Cause(ctx), "a", lock.ReasonExpired)
				require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
				time.Sleep(time.Second) // what is left on the node is removed
			}
		}
	})
}

func TestDeadlineMovesWithTheRenewals(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := tryAll(bg, t, multi.New(of(w.client(), "b", "a")...))
		for range 20 {
			time.Sleep(7 * time.Second)
			earliest := l.Leases()[0].Deadline()
			if d := l.Leases()[1].Deadline(); d.Before(earliest) {
				earliest = d
			}
			require.Equal(t, earliest, l.Deadline())
			require.Greater(t, time.Until(l.Deadline()), ttl/2)
		}
		require.NoError(t, l.Unlock(bg))
	})
}

func TestUnlockEndsEverythingBeforeItReturns(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		for _, parent := range parents(t) {
			l := tryAll(bg, t, multi.New(of(w.client(), "b", "a")...))
			ctx, done := l.Context(parent), l.Done()
			cancelled, cancel := context.WithCancel(bg)
			cancel()
			require.NoError(t, l.Unlock(cancelled), "it ignores the context's end")
			requireOver(t, ctx.Done())
			requireOver(t, done)
			require.ErrorIs(t, ctx.Err(), context.Canceled)
			require.ErrorIs(t, context.Cause(ctx), lock.ErrReleased)
			require.ErrorIs(t, l.Err(), lock.ErrReleased)
			require.NotErrorIs(t, l.Err(), lock.ErrLost)
			err := l.Unlock(bg)
			require.ErrorIs(t, err, lock.ErrReleased)
			require.NotErrorIs(t, err, lock.ErrLost)
			require.ErrorIs(t, context.Cause(l.Context(parent)), lock.ErrReleased)
			w.requireFree("a", "b")
		}
	})
}

// Of two goroutines that unlock at once, as a clean-up and the work itself may do, one has unlocked all the locks.
func TestOneOfTwoUnlocksAtOnceReleasesEverything(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		var names []string
		for i := range 40 {
			names = append(names, fmt.Sprint(i))
		}
		m := multi.New(of(w.client(), names...)...)
		ends, cancel := context.WithCancel(bg)
		defer cancel()
		for range 100 {
			l := tryAll(bg, t, m)
			contexts := []context.Context{l.Context(bg), l.Context(ends)}
			var errs [2]error
			var both sync.WaitGroup
			for i := range errs {
				both.Go(func() {
					errs[i] = l.Unlock(bg)
					for _, ctx := range contexts {
						if !isOver(ctx.Done()) || !errors.Is(context.Cause(ctx), lock.ErrReleased) || !errors.Is(l.Err(), lock.ErrReleased) {
							t.Error("it is not over when Unlock returns")
						}
					}
				})
			}
			both.Wait()
			if errs[0] != nil {
				errs[0], errs[1] = errs[1], errs[0]
			}
			require.NoError(t, errs[0])
			require.ErrorIs(t, errs[1], lock.ErrReleased)
			require.Equal(t, errors.Join(lock.UnlockTogether(bg, l.Leases()...)...), errs[1], "of each lock what its own lease tells")
			require.Equal(t, errs[1], l.Unlock(bg))
		}
		w.requireFree(names...)
	})
}

// A second call does not wait for the nodes either.
func TestUnlockDuringAnotherOneReturnsAtOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := tryAll(bg, t, multi.New(of(w.client(), "a", "b")...))
		for _, n := range w.nodes {
			n.Silence(true)
		}
		first := make(chan error, 1)
		go func() { first <- l.Unlock(bg) }()
		synctest.Wait()
		require.Empty(t, first)
		require.Zero(t, took(func() { require.ErrorIs(t, l.Unlock(bg), lock.ErrReleased) }))
		require.ErrorIs(t, <-first, lock.ErrNoQuorum)
	})
}

// A release that one lock's nodes do not confirm is that lock's error, and the others are free.
func TestUnlockReleasesTheOthersWhateverFails(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		other := newWorld(t, 1)
		l := tryAll(bg, t, multi.New(append(of(w.client(), "a", "c"), of(other.client(), "b")...)...))
		other.nodes[0].Silence(true)
		err := l.Unlock(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		require.ErrorContains(t, err, `"b"`)
		w.requireFree("a", "c")
	})
}

// Once all contexts of the work have ended, no lock is renewed any more. That somebody has
// asked for Done does not change this.
func TestAbandonedWorkLetsAllLocksLapse(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := tryAll(bg, t, multi.New(mixed(w.client(), "a", "b", "c")...))
		done := l.Done()
		parent, cancel := context.WithCancel(bg)
		ctx := l.Context(parent)
		time.Sleep(long)
		require.NoError(t, ctx.Err())
		cancel()
		requireEnds(t, ctx.Done())
		require.Equal(t, context.Canceled, context.Cause(ctx))
		require.NoError(t, l.Err(), "it is held still")
		time.Sleep(ttl)
		requireOver(t, done)
		var e *lock.LeaseError
		require.ErrorAs(t, l.Err(), &e)
		require.Equal(t, lock.ReasonAbandoned, e.Reason)
		require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
		w.requireFree("a", "b", "c")
	})
}

// The context that Lock was called with is work too, if it can end, as for one lock.
func TestLeaderOutlivesTheRequestsItServes(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		leads, resign := context.WithCancel(bg)
		l := tryAll(leads, t, multi.New(of(w.client(), "a", "b")...))
		for range 3 {
			request, cancel := context.WithCancel(bg)
			ctx := l.Context(request)
			cancel()
			<-ctx.Done()
			time.Sleep(2 * ttl)
			require.NoError(t, l.Err())
		}
		resign()
		time.Sleep(ttl)
		require.ErrorIs(t, l.Err(), lock.ErrLost)
	})
}

type key struct{}

func TestContextCarriesWhatItsParentDoes(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		l := tryAll(bg, t, multi.New(of(w.client(), "b", "a")...))
		_, ok := multi.FromContext(bg)
		require.False(t, ok)
		for name, parent := range parents(t) {
			ctx := l.Context(context.WithValue(parent, key{}, name))
			require.Equal(t, name, ctx.Value(key{}))
			require.Nil(t, ctx.Value("no such key"))
			_, ok := ctx.Deadline()
			require.False(t, ok)
			found, ok := multi.FromContext(ctx)
			require.True(t, ok)
			require.Same(t, l, found)
			last, ok := lock.FromContext(ctx)
			require.True(t, ok)
			require.Same(t, l.Leases()[1], last)
		}
		until, cancel := context.WithTimeout(bg, time.Second)
		defer cancel()
		ctx := l.Context(until)
		want, _ := until.Deadline()
		got, ok := ctx.Deadline()
		require.True(t, ok)
		require.Equal(t, want, got)
		time.Sleep(time.Second)
		<-ctx.Done()
		require.Equal(t, context.DeadlineExceeded, ctx.Err())
		require.Equal(t, context.DeadlineExceeded, context.Cause(ctx))
		require.NoError(t, l.Unlock(bg))
	})
}

// An abrupt context ends by hand, and tells those who follow it one after the other.
type abrupt struct {
	context.Context
	done  chan struct{}
	funcs []func()
}

func (c *abrupt) Done() <-chan struct{} { return c.done }

func (c *abrupt) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// AfterFunc is how package context follows a context that is not one of its own.
func (c *abrupt) AfterFunc(f func()) func() bool {
	c.funcs = append(c.funcs, f)
	return func() bool { return false }
}

// A parent tells its children of its end in any order.
func TestADeadlineIsNoCancellationWhicheverLockHearsOfItFirst(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := tryAll(bg, t, multi.New(of(w.client(), "b", "a")...))
		for _, backwards := range []bool{false, true} {
			parent := &abrupt{Context: bg, done: make(chan struct{})}
			ctx := l.Context(parent)
			require.NotEmpty(t, parent.funcs)
			close(parent.done)
			if backwards {
				slices.Reverse(parent.funcs)
			}
			for _, tell := range parent.funcs {
				tell()
				synctest.Wait()
			}
			require.Equal(t, context.DeadlineExceeded, ctx.Err())
			require.Equal(t, context.DeadlineExceeded, context.Cause(ctx))
		}
		require.NoError(t, l.Unlock(bg))
	})
}

func TestDo(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		m := multi.New(of(w.client(), "b", "a")...)
		failed := errors.New("it failed")
		require.Same(t, failed, m.Do(bg, func(ctx context.Context) error {
			l, ok := multi.FromContext(ctx)
			require.True(t, ok)
			require.Equal(t, ids(l), w.holders("b", "a"))
			require.NoError(t, m.Do(ctx, func(ctx context.Context) error { return ctx.Err() }), "it re-enters")
			return failed
		}), "itself, and not joined with nothing")
		w.requireFree("a", "b")

		err := m.Do(bg, func(ctx context.Context) error {
			_, err := reentrant.New(w.client(), "a").ForceUnlock(bg)
			require.NoError(t, err)
			requireEnds(t, ctx.Done())
			return nil
		})
		requireLost(t, err, "a", lock.ReasonForced)
		w.requireFree("a", "b")

		theirs := try(t, w.client(), "a")
		ctx, cancel := context.WithTimeout(bg, time.Second)
		defer cancel()
		require.ErrorIs(t, m.Do(ctx, func(context.Context) error { return nil }), lock.ErrLocked)
		require.NoError(t, theirs.Unlock(bg))
	})
}

func TestPanicInDoUnlocks(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		m := multi.New(of(w.client(), "b", "a")...)
		require.PanicsWithValue(t, "boom", func() {
			_ = m.Do(bg, func(context.Context) error { panic("boom") })
		})
		w.requireFree("a", "b")
	})
}

// running is how many goroutines run code of this package.
func running() int {
	synctest.Wait()
	buf := make([]byte, 1<<20)
	n := 0
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(stack, "holdfast/multi.(") {
			n++
		}
	}
	return n
}

// A lease costs no goroutine, and one if somebody asks for Done: that one ends with the lease.
func TestGoroutinesOfALease(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		m := multi.New(of(w.client(), "a", "b", "c")...)
		l := tryAll(bg, t, m)
		parent, cancel := context.WithCancel(bg)
		l.Context(parent)
		require.Zero(t, running())
		for range 10 {
			l.Done()
		}
		require.Equal(t, 1, running())
		for range 10 {
			l.Context(bg)
		}
		require.Equal(t, 1, running())
		cancel()
		require.Equal(t, 1, running())
		require.NoError(t, l.Unlock(bg))
		require.Zero(t, running())

		l = tryAll(bg, t, m) // a context that sees the end serves Done too
		l.Context(bg)
		l.Done()
		require.Zero(t, running())
		_, err := reentrant.New(w.client(), "b").ForceUnlock(bg)
		require.NoError(t, err)
		requireEnds(t, l.Done())
		require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
	})
}

// However many contexts the work takes, those that are dropped cost nothing.
func TestContextsDoNotPileUp(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		l := tryAll(bg, t, multi.New(of(w.client(), "a", "b")...))
		const n = 5_000
		type key struct{}
		serves, stop := context.WithCancel(bg)
		defer stop()
		use := func() {
			for i := range n {
				for _, parent := range []context.Context{bg, serves, context.WithValue(serves, key{}, i)} {
					ctx := l.Context(parent)
					require.NoError(t, ctx.Err())
					require.Equal(t, parent.Value(key{}), ctx.Value(key{}))
				}
				request, end := context.WithCancel(bg)
				ctx := l.Context(request)
				end()
				require.ErrorIs(t, ctx.Err(), context.Canceled)
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
		require.NoError(t, l.Unlock(bg))
	})
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Locks that end at the same moment do so in some order, and everybody is told of the same first one.
func TestAllContextsNameTheSameLock(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		c := w.client()
		for range 20 {
			var locks []lock.Locker
			for _, name := range []string{"a", "b", "c"} {
				locks = append(locks, reentrant.New(c, name, lock.WithTTL(time.Second), lock.WithoutWatchdog()))
			}
			l := tryAll(bg, t, multi.New(locks...))
			parent, cancel := context.WithCancel(bg)
			other, stop := context.WithCancel(bg)
			contexts := []context.Context{l.Context(parent), l.Context(bg), l.Context(other)}
			time.Sleep(2 * time.Second)
			for _, ctx := range contexts {
				require.ErrorIs(t, ctx.Err(), context.Canceled)
				require.Same(t, l.Err(), context.Cause(ctx))
			}
			cancel()
			stop()
			_ = l.Unlock(bg) // they are lost
		}
	})
}

func TestTheInnermostLeaseIsThatOfTheContext(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		c := w.client()
		outer, inner := multi.New(of(c, "a", "b")...), multi.New(of(c, "c", "d")...)
		require.NoError(t, outer.Do(bg, func(ctx context.Context) error {
			before, ok := multi.FromContext(ctx)
			require.True(t, ok)
			require.Equal(t, "a", before.Leases()[0].Name())
			return inner.Do(ctx, func(ctx context.Context) error {
				l, ok := multi.FromContext(ctx)
				require.True(t, ok)
				require.Equal(t, "c", l.Leases()[0].Name())
				return nil
			})
		}))
	})
}
