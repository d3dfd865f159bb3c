package multi_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/reentrant"
)

func TestNestedCallsReenter(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		c := w.client()
		outer := tryAll(bg, t, multi.New(mixed(c, "a", "b")...))
		ctx := outer.Context(bg)
		before := w.asked()
		again := await(t, wait(ctx, multi.New(mixed(c, "a", "b")...)))
		require.Equal(t, ids(outer), ids(again))
		for i, l := range again.Leases() {
			require.Equal(t, 2, l.Count())
			require.Equal(t, outer.Leases()[i].Token(), l.Token())
		}
		one, err := reentrant.New(c, "a").TryLock(again.Context(ctx)) // one of them alone
		require.NoError(t, err)
		require.Equal(t, 3, one.Count())
		require.Equal(t, before, w.asked(), "what is held is not asked for")

		more := await(t, wait(ctx, multi.New(of(c, "c", "a")...)))
		require.Equal(t, before+1, w.asked())
		require.Equal(t, outer.Leases()[0].ID(), more.Leases()[1].ID())
		require.NoError(t, outer.Unlock(bg))
		for _, l := range []*multi.Lease{again, more} {
			require.NoError(t, l.Err(), "each lease is unlocked by itself")
			require.NoError(t, l.Unlock(bg))
		}
		require.NotEmpty(t, w.holders("a")[0])
		require.NoError(t, one.Unlock(bg))
		w.requireFree("a", "b", "c")
	})
}

func TestCallInsideALockReenters(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		c := w.client()
		outer := try(t, c, "b")
		l := await(t, wait(outer.Context(bg), multi.New(of(c, "c", "b", "a")...)))
		require.Equal(t, outer.ID(), l.Leases()[1].ID())
		require.NoError(t, l.Unlock(bg))
		require.Equal(t, []string{"", outer.ID(), ""}, w.holders("a", "b", "c"), "what the owner had before it keeps")

		// Nor does a call that fails give that back.
		theirs := try(t, w.client(), "a")
		_, err := multi.New(of(c, "b", "a")...).TryLock(outer.Context(bg))
		require.ErrorIs(t, err, lock.ErrLocked)
		require.Equal(t, []string{theirs.ID(), outer.ID()}, w.holders("a", "b"))
		require.NoError(t, theirs.Unlock(bg))

		require.NoError(t, outer.Unlock(bg))
		scope := lock.WithOwner(bg)
		first, err := reentrant.New(c, "a").Lock(scope)
		require.NoError(t, err)
		l = await(t, wait(scope, multi.New(of(c, "b", "a")...)))
		require.Equal(t, first.ID(), l.Leases()[1].ID())
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, first.Unlock(bg))
		w.requireFree("a", "b", "c")
	})
}

// Without a context of its lease, each call is an owner of its own, through the same Mutex, too.
func TestCallsWithoutAnOwnerExcludeEachOther(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		m := multi.New(of(w.client(), "a", "b")...)
		l := tryAll(bg, t, m)
		_, err := m.TryLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked)
		_, err = m.TryLock(lock.WithoutOwner(l.Context(bg)))
		require.ErrorIs(t, err, lock.ErrLocked)
		require.NoError(t, l.Unlock(bg))
		w.requireFree("a", "b")
	})
}

// A lost lease of the owner has to be unlocked before the lock can be taken again. That is no
// reason to wait.
func TestOwnerThatHasLostOneOfTheLocksIsTold(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		c := w.client()
		scope := lock.WithOwner(bg)
		outer, err := reentrant.New(c, "b").Lock(scope)
		require.NoError(t, err)
		_, err = reentrant.New(w.client(), "b").ForceUnlock(bg)
		require.NoError(t, err)
		<-outer.Done()
		m := multi.New(of(c, "a", "b", "c")...)
		_, err = m.Lock(scope)
		require.ErrorIs(t, err, lock.ErrLost)
		w.requireFree("a", "b", "c")
		require.ErrorIs(t, outer.Unlock(bg), lock.ErrLost)
		l, err := m.Lock(scope)
		require.NoError(t, err)
		require.NoError(t, l.Unlock(bg))
	})
}

// The owner that ctx carries may end while the call is under way, if ctx outlives the lease
// that it came with. Then all the locks are one new owner's.
func TestOwnerThatEndsDuringTheCallIsReplaced(t *testing.T) {
	for name, names := range map[string][]string{"two names": {"a", "b"}, "one name twice": {"a", "b", "b"}} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				c := w.client()
				m := multi.New(of(c, names...)...)
				for method, take := range map[string]func(context.Context) (*multi.Lease, error){"Lock": m.Lock, "TryLock": m.TryLock} {
					outer := try(t, c, "x")
					outlives := context.WithoutCancel(outer.Context(bg))
					w.near()
					taken := make(chan *multi.Lease, 1)
					go func() {
						l, err := take(outlives)
						if err != nil {
							t.Errorf("%s: %v", method, err)
						}
						taken <- l
					}()
					time.Sleep(nearTrip / 3)
					require.NoError(t, outer.Unlock(bg))
					l := <-taken
					for i, name := range names {
						inner, err := reentrant.New(c, name).TryLock(l.Context(bg))
						require.NoError(t, err, "%s: %s", method, name)
						require.Equal(t, l.Leases()[i].ID(), inner.ID())
						require.NoError(t, inner.Unlock(bg))
					}
					require.NoError(t, l.Unlock(bg))
					synctest.Wait()
				}
				w.requireFree("a", "b", "x")
			})
		})
	}
}

func TestSameNameTwiceIsOneLock(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		c := w.client()
		b := reentrant.New(c, "b")
		m := multi.New(b, reentrant.New(c, "a"), reentrant.New(c, "b"), b)
		check := func(l *multi.Lease) {
			t.Helper()
			leases := l.Leases()
			require.Len(t, leases, 4)
			require.Equal(t, leases[0].ID(), leases[2].ID())
			require.Equal(t, leases[0].ID(), leases[3].ID())
			require.ElementsMatch(t, []int{1, 2, 3}, []int{leases[0].Count(), leases[2].Count(), leases[3].Count()})
			require.Equal(t, []string{leases[1].ID(), leases[0].ID()}, w.holders("a", "b"))
		}
		l := tryAll(bg, t, m)
		require.Equal(t, 2, w.asked())
		check(l)
		require.NoError(t, l.Unlock(bg))
		w.requireFree("a", "b")

		theirs := try(t, w.client(), "b")
		_, err := m.TryLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked)
		waits := blocked(bg, t, m)
		require.NotEmpty(t, w.holders("a")[0])
		require.NoError(t, theirs.Unlock(bg))
		l = await(t, waits)
		check(l)
		require.NoError(t, l.Unlock(bg))
		w.requireFree("a", "b")
	})
}

// A late lock is one of somebody else's make, whose first TryLock takes its time.
type late struct {
	lock.Locker
	by time.Duration
}

func (l *late) TryLock(ctx context.Context) (*lock.Lease, error) {
	time.Sleep(l.by)
	l.by = 0
	return l.Locker.TryLock(ctx)
}

// A lock that is given twice is re-entered, and what the call was granted may be over by then. That is no lease of
// the caller's, who would have to unlock it: it is taken again.
func TestWhatIsLostBeforeItIsReenteredIsTakenAgain(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const short = 150 * time.Millisecond
		fixed := w.client(lock.WithTTL(short), lock.WithoutWatchdog())
		m := multi.New(append(of(fixed, "b", "b"), &late{Locker: reentrant.New(w.client(), "a"), by: short})...)
		l := await(t, blocked(bg, t, m))
		require.NoError(t, l.Err())
		require.NoError(t, l.Unlock(bg))
		w.requireFree("a", "b")

		scope := lock.WithOwner(bg)
		outer, err := reentrant.New(fixed, "b").Lock(scope)
		require.NoError(t, err)
		time.Sleep(short)
		_, err = m.Lock(scope)
		require.ErrorIs(t, err, lock.ErrLost, "the caller's own lease is in the way until it is unlocked")
		require.ErrorIs(t, outer.Unlock(bg), lock.ErrLost)
		w.requireFree("a", "b")
	})
}

// Locks of one name on different nodes have no order. So whoever waits for one holds none of
// the others, and two that are given them in opposite orders both come through.
func TestNamesakesOnDifferentNodesAreNotHeldWhileWaiting(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		other := newWorld(t, 1)
		here, there := reentrant.New(w.client(), "b"), reentrant.New(other.client(), "b")
		m := multi.New(append(of(w.client(), "a", "c"), here, there)...)
		for taken, c := range map[string]*lock.Client{"here": w.client(), "there": other.client()} {
			theirs := try(t, c, "b")
			waits := blocked(bg, t, m)
			held := w.holders("a", "b", "c")
			require.NotEmpty(t, held[0], taken)
			require.Empty(t, held[2], taken)
			require.ElementsMatch(t, []string{"", theirs.ID()}, append(other.holders("b"), held[1]), taken)
			require.NoError(t, theirs.Unlock(bg))
			require.NoError(t, await(t, waits).Unlock(bg))
			w.requireFree("a", "b", "c")
			other.requireFree("b")
		}
	})
}

// Each of the two gets one of the locks in each round, and gives it back for the other one's
// sake. If both came again at the same moment, this would go on for ever.
func TestNamesakesInOppositeOrdersComeThrough(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		other := newWorld(t, 1)
		w.near()
		other.near()
		ctx, cancel := context.WithTimeout(bg, 10*time.Second)
		defer cancel()
		done := make(chan error)
		for i := range 2 {
			here, there := reentrant.New(w.client(), "b"), reentrant.New(other.client(), "b")
			m := multi.New(here, there)
			if i == 1 {
				m = multi.New(there, here)
			}
			go func() {
				for range 20 {
					if err := m.Do(ctx, func(context.Context) error { time.Sleep(nearTrip); return nil }); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range 2 {
			require.NoError(t, <-done, "they refuse each other for ever")
		}
		w.requireFree("b")
		other.requireFree("b")
	})
}

// A call that ends between two of its attempts says what the one before saw.
func TestNamesakesThatAreGivenUpSayWhy(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		other := newWorld(t, 1)
		w.near()
		other.near()
		rival := multi.New(append(of(other.client(), "b"), of(w.client(), "b")...)...)
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = rival.Do(bg, func(context.Context) error { time.Sleep(2 * nearTrip); return nil })
				}
			}
		}()
		m := multi.New(append(of(w.client(), "b"), of(other.client(), "b")...)...)
		gaveUp := 0
		// No message arrives as the call ends: the answer to the last attempt would be late, or the
		// next one would not be sent, which are other reasons.
		for patience := nearTrip + nearTrip/5; patience < 100*nearTrip; patience += nearTrip / 2 {
			ctx, cancel := context.WithTimeout(bg, patience)
			err := m.Do(ctx, func(context.Context) error { return nil })
			cancel()
			if err == nil {
				continue
			}
			gaveUp++
			require.ErrorIs(t, err, context.DeadlineExceeded)
			var e *lock.AcquireError
			require.ErrorAs(t, err, &e)
			require.Equal(t, "b", e.Name)
			require.True(t, errors.Is(err, lock.ErrLocked) || len(e.Silent) > 0, "%v after %v", err, patience)
			require.NotContains(t, err.Error(), "no node had been asked")
		}
		require.NotZero(t, gaveUp)
	})
}
