package multi_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/reentrant"
)

// To a near node one pipeline is on the way at a time: what leaves later arrives later.
func TestFreeNamesCostOneRoundTrip(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		names := []string{"d", "b", "a", "c"}
		m := multi.New(mixed(w.client(), names...)...)
		w.near()
		for name, lock := range map[string]func(context.Context) (*multi.Lease, error){"Lock": m.Lock, "TryLock": m.TryLock} {
			start := time.Now()
			l, err := lock(bg)
			require.NoError(t, err)
			w.requireAtOnce(start, len(names), name, lua.Acquire{}, lua.FairAcquire{})
			require.Equal(t, ids(l), w.holders(names...), "the leases are in the order given")
			start = time.Now()
			require.NoError(t, l.Unlock(bg))
			w.requireAtOnce(start, len(names), name, lua.Release{}, lua.FairRelease{})
		}
		w.requireFree(names...)
	})
}

// requireAtOnce requires that every node was sent so many of the scripts since start, all
// of them at the same moment.
func (w *world) requireAtOnce(start time.Time, count int, msg string, scripts ...interface{ Call() lua.Call }) {
	w.t.Helper()
	synctest.Wait()
	time.Sleep(1130 * time.Millisecond) // for nodes that were not waited for; and not to meet a probe
	for _, n := range w.nodes {
		var at []time.Duration
		for _, s := range scripts {
			for _, c := range n.Commands(virtual.Script(s.Call().Script().SHA)) {
				if !c.At.Before(start) {
					at = append(at, c.At.Sub(start))
				}
			}
		}
		require.Len(w.t, at, count, "%s: %s", msg, n.Addr())
		require.Equal(w.t, slices.Repeat(at[:1], count), at, "%s: %s", msg, n.Addr())
	}
}

// What is before the refused name is kept, and what is behind it is given back while the call
// waits.
func TestWaitHoldsWhatIsBeforeAndNothingBehind(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		names := []string{"a", "b", "c", "d"}
		for i, taken := range names {
			theirs := try(t, w.client(), taken)
			waits := blocked(bg, t, multi.New(mixed(w.client(), "c", "a", "d", "b")...))
			for j, holder := range w.holders(names...) {
				switch {
				case j < i:
					require.NotEmpty(t, holder, "%s, waiting for %s", names[j], taken)
				case j == i:
					require.Equal(t, theirs.ID(), holder)
				default:
					require.Empty(t, holder, "%s, waiting for %s", names[j], taken)
				}
			}
			time.Sleep(2 * ttl) // what is kept is renewed
			require.NoError(t, theirs.Unlock(bg))
			l := await(t, waits)
			require.NoError(t, l.Err())
			require.NoError(t, l.Unlock(bg))
			w.requireFree(names...)
		}
	})
}

// A name in braces is another way to write the one without, unless that has a hash tag, so it has the same place in the
// order. Others would wait in a circle with whoever writes it without.
func TestANameInBracesHasThePlaceOfTheOneWithout(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		for name, between := range map[string]string{ // in the order of bytes, it is between the name and the one in braces
			"m":       "p",
			"a{b":     "p",
			"a}b":     "p",
			"{}":      "{|",
			"a{}b{c}": "p",
		} {
			require.Less(t, min(name, "{"+name+"}"), between)
			require.Greater(t, max(name, "{"+name+"}"), between)
			var kept []bool
			for _, spelling := range []string{name, "{" + name + "}"} {
				theirs := try(t, w.client(), between)
				waits := blocked(bg, t, multi.New(of(w.client(), between, spelling)...))
				kept = append(kept, w.holders(spelling)[0] != "")
				require.NoError(t, theirs.Unlock(bg))
				require.NoError(t, await(t, waits).Unlock(bg))
				w.requireFree(spelling, between)
			}
			require.Equal(t, kept[0], kept[1], "%s, and the same in braces, while the call waits for %s", name, between)
			if !strings.Contains(name, "}") {
				require.True(t, kept[0], "%s is before %s", name, between)
			}
		}
	})
}

func TestSpellingsOfOneNameDoNotWaitInACircle(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		w.near()
		ctx, cancel := context.WithTimeout(bg, time.Minute)
		defer cancel()
		done := make(chan error)
		for _, spelling := range []string{"a{b", "{a{b}"} {
			m := multi.New(of(w.client(), spelling, "m")...)
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
		for _, err := range []error{<-done, <-done} {
			require.NoError(t, err, "they wait for each other")
		}
		w.requireFree("a{b", "m")
	})
}

// Each name that was waited for is kept, so a call waits once for each at the most.
func TestNameThatWasWaitedForIsKept(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		names := []string{"a", "b", "c"}
		var theirs []*lock.Lease
		for _, name := range names {
			theirs = append(theirs, try(t, w.client(), name))
		}
		waits := blocked(bg, t, multi.New(of(w.client(), "c", "b", "a")...))
		for i, l := range theirs {
			require.NoError(t, l.Unlock(bg))
			synctest.Wait()
			for j, holder := range w.holders(names...)[:i+1] {
				require.NotEmpty(t, holder, "%s, once %s is free", names[j], names[i])
			}
		}
		l := await(t, waits)
		require.Equal(t, ids(l), w.holders("c", "b", "a"))
		require.NoError(t, l.Unlock(bg))
		w.requireFree(names...)
	})
}

// Two calls that are given the same names in opposite orders, and each of which gets the first
// that it asks for, would wait for each other for ever if that was the one that it was given first.
func TestOppositeOrdersDoNotWaitInACircle(t *testing.T) {
	for name, of := range map[string]func(*lock.Client, ...string) []lock.Locker{"reentrant": of, "mixed": mixed} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				all := tryAll(bg, t, multi.New(of(w.client(), "a", "b")...))
				forth := blocked(bg, t, multi.New(of(w.client(), "a", "b")...))
				back := blocked(bg, t, multi.New(of(w.client(), "b", "a")...))
				require.NoError(t, all.Unlock(bg))
				for range 2 { // whoever is first
					var g grant
					select {
					case g = <-forth:
					case g = <-back:
					case <-time.After(long):
						require.Fail(t, "they wait for each other")
					}
					require.NoError(t, g.err)
					require.NoError(t, g.lease.Unlock(bg))
				}
				w.requireFree("a", "b")
			})
		})
	}
}

func TestTryLockIsAllOrNothing(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		names := []string{"a", "b", "c"}
		m := multi.New(mixed(w.client(), "c", "b", "a")...)
		for i, taken := range names {
			theirs := try(t, w.client(), taken)
			also := try(t, w.client(), names[max(i, 2)]+"x")
			l, err := m.TryLock(bg)
			require.Nil(t, l)
			require.ErrorIs(t, err, lock.ErrLocked)
			var e *lock.AcquireError
			require.ErrorAs(t, err, &e)
			require.Equal(t, taken, e.Name)
			require.Equal(t, theirs.ID(), e.Holder)
			require.NoError(t, theirs.Unlock(bg))
			require.NoError(t, also.Unlock(bg))
			w.requireFree(names...)
		}
		for _, name := range names[1:] { // the first of those that are refused is told of
			l := try(t, w.client(), name)
			defer l.Unlock(bg)
		}
		_, err := m.TryLock(bg)
		var e *lock.AcquireError
		require.ErrorAs(t, err, &e)
		require.Equal(t, "b", e.Name)
	})
}

// Bad input is told at once, whatever else there would be to wait for.
func TestErrorThatNoWaitCanMendComesAtOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		c := w.client()
		theirs := try(t, w.client(), "b")
		defer theirs.Unlock(bg)
		locks := append(of(c, "c", "b", "a"), reentrant.New(c, "d", lock.WithTTL(-1)))
		for name, lock := range map[string]func(context.Context) (*multi.Lease, error){
			"Lock": multi.New(locks...).Lock, "TryLock": multi.New(locks...).TryLock,
		} {
			ctx, cancel := context.WithTimeout(bg, time.Minute)
			defer cancel()
			var err error
			require.Zero(t, took(func() { _, err = lock(ctx) }), name)
			require.ErrorContains(t, err, "TTL", name)
			require.Equal(t, []string{"", theirs.ID(), "", ""}, w.holders("a", "b", "c", "d"), name)
		}
	})
}

// A lease that is kept while the call waits may end meanwhile. What Lock returns is held.
func TestWhatIsLostDuringTheWaitIsTakenAgain(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		c := w.client()
		theirs := try(t, w.client(), "b")
		waits := blocked(bg, t, multi.New(of(c, "a", "b", "c")...))
		kept := w.holders("a")
		_, err := reentrant.New(w.client(), "a").ForceUnlock(bg)
		require.NoError(t, err)
		time.Sleep(ttl)
		require.NoError(t, theirs.Unlock(bg))
		l := await(t, waits)
		require.NoError(t, l.Err())
		require.Equal(t, ids(l), w.holders("a", "b", "c"))
		require.NotEqual(t, kept, w.holders("a"))
		require.NoError(t, l.Unlock(bg))
		w.requireFree("a", "b", "c")
	})
}

// Nodes of another lock may answer so late that a lease is over by then. What TryLock returns is held.
func TestTryLockReturnsNothingThatIsOver(t *testing.T) {
	const short, slow = 300 * time.Millisecond, 600 * time.Millisecond
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		other := newWorld(t, 1)
		c, d := w.client(), other.client(lock.WithNodeTimeout(time.Second))
		brief := reentrant.New(c, "a", lock.WithTTL(short), lock.WithoutWatchdog())
		both := multi.New(reentrant.New(d, "b"), brief)
		refused := func(ctx context.Context, is, isNot error) *lock.AcquireError {
			t.Helper()
			other.nodes[0].SetDelay(0, slow)
			defer other.nodes[0].SetDelay(0, 0)
			l, err := both.TryLock(ctx)
			require.ErrorIs(t, err, is)
			require.Nil(t, l)
			require.NotErrorIs(t, err, isNot)
			require.NotErrorIs(t, err, lock.ErrLocked)
			var e *lock.AcquireError
			require.ErrorAs(t, err, &e)
			require.Equal(t, "a", e.Name)
			require.Equal(t, slow, e.Waited)
			other.requireFree("b")
			return e
		}
		// Trying again helps: no lease is lost that the caller had.
		_ = refused(bg, lock.ErrNoQuorum, lock.ErrLost)
		w.requireFree("a")

		owner := lock.EnsureOwner(bg)
		earlier, err := brief.TryLock(owner)
		require.NoError(t, err)
		_ = refused(owner, lock.ErrLost, lock.ErrNoQuorum)
		require.ErrorIs(t, earlier.Unlock(bg), lock.ErrLost)

		earlier, err = reentrant.New(c, "a").TryLock(owner)
		require.NoError(t, err)
		_ = refused(owner, lock.ErrNoQuorum, lock.ErrLost)
		require.NoError(t, earlier.Unlock(bg))

		time.AfterFunc(short/2, func() { _ = c.Close() })
		_ = refused(bg, lock.ErrClosed, lock.ErrNoQuorum)
	})
}

// A call waits for nodes that are down, too, and holds what is before meanwhile.
func TestLockWaitsForAQuorum(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		other := newWorld(t, 1)
		m := multi.New(append(of(other.client(), "b"), of(w.client(), "a", "c")...)...)
		other.nodes[0].Silence(true)
		_, err := m.TryLock(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		require.NotErrorIs(t, err, lock.ErrLocked)
		require.Equal(t, []string{"", ""}, w.holders("a", "c"))

		waits := wait(bg, m)
		time.Sleep(ttl)
		require.Empty(t, waits)
		held := w.holders("a", "c")
		require.NotEmpty(t, held[0])
		require.Empty(t, held[1])
		other.nodes[0].Silence(false)
		require.NoError(t, await(t, waits).Unlock(bg))
		w.requireFree("a", "c")
		other.requireFree("b")
	})
}

// Nor does a call give up because its process was paused, or the network slow, for longer than the locks would have
// been valid: nobody else has them.
func TestLockGoesOnAfterAnAttemptThatTookTooLong(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const ttl = 150 * time.Millisecond
		for _, of := range []func(*lock.Client, ...string) []lock.Locker{of, mixed} {
			m := multi.New(of(w.client(lock.WithTTL(ttl)), "c", "a", "b")...)
			slow := func(by time.Duration) {
				for _, n := range w.nodes {
					n.SetDelay(0, by)
				}
			}
			slow(ttl)
			waits := blocked(bg, t, m)
			slow(0)
			l := await(t, waits)
			require.NoError(t, l.Err())
			require.Equal(t, ids(l), w.holders("c", "a", "b"))
			require.NoError(t, l.Unlock(bg))
			w.requireFree("a", "b", "c")

			slow(ttl)
			_, err := m.TryLock(bg)
			require.ErrorContains(t, err, "longer than the lock would have been valid")
			require.ErrorIs(t, err, lock.ErrNoQuorum)
			require.NotErrorIs(t, err, lock.ErrLocked)
			slow(0)
			w.requireFree("a", "b", "c")
		}
	})
}

func TestLocksOfSeveralClients(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		other := newWorld(t, 5)
		c, d := w.client(), other.client()
		m := multi.New(reentrant.New(c, "a"), reentrant.New(d, "b"), fair.New(c, "c"))
		for range 2 {
			l := tryAll(bg, t, m)
			require.Equal(t, []string{l.Leases()[0].ID(), l.Leases()[2].ID()}, w.holders("a", "c"))
			require.Equal(t, []string{l.Leases()[1].ID()}, other.holders("b"))
			inner := tryAll(l.Context(bg), t, m)
			require.Equal(t, ids(l), ids(inner), "one owner has the locks of both")
			require.NoError(t, inner.Unlock(bg))
			require.NoError(t, l.Unlock(bg))
		}
		w.requireFree("a", "c")
		other.requireFree("b")
	})
}

func TestClosedClientEndsTheCall(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		other := newWorld(t, 1)
		closing := other.client()
		theirs := try(t, other.client(), "b")
		defer theirs.Unlock(bg)
		m := multi.New(append(of(closing, "b"), of(w.client(), "a", "c")...)...)
		waits := blocked(bg, t, m)
		require.NoError(t, closing.Close())
		require.ErrorIs(t, (<-waits).err, lock.ErrClosed)
		w.requireFree("a", "c")
		for _, take := range []func(context.Context) (*multi.Lease, error){m.Lock, m.TryLock} {
			_, err := take(bg)
			require.ErrorIs(t, err, lock.ErrClosed)
		}
		w.requireFree("a", "c")
	})
}

// A Lock that has waited for one name waits for the next one, too, though nodes refuse its commands for a while.
func TestALockOfSeveralWaitsOnThoughNodesRefuseIt(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		m := multi.New(mixed(w.client(), "a", "b")...)
		refuse := func(match func([]string) bool) {
			for _, n := range w.nodes {
				n.Refuse(match)
			}
		}
		ofB := func(args []string) bool {
			return slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, "{b}") })
		}
		theirs := mixed(w.client(), "a")
		first, err := theirs[0].TryLock(bg)
		require.NoError(t, err)
		type result struct {
			lease *multi.Lease
			err   error
		}
		done := make(chan result, 1)
		go func() {
			l, err := m.Lock(bg)
			done <- result{l, err}
		}()
		time.Sleep(time.Second)
		refuse(ofB)
		_, err = multi.New(mixed(w.client(), "b")...).Lock(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum, "who begins is told of it")
		require.NoError(t, first.Unlock(bg))
		time.Sleep(time.Minute)
		require.Empty(t, done)
		refuse(nil)
		time.Sleep(time.Second)
		got := <-done
		require.NoError(t, got.err)
		require.NoError(t, got.lease.Unlock(bg))
		w.requireFree("a", "b")
	})
}
