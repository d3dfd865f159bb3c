package lock_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/reentrant"
)

// several are so many locks of a process, of both kinds.
func several(p *process, names int) (locks []lock.Locker) {
	for i := range names {
		name := fmt.Sprint("name ", i, " of ", names)
		if i%2 == 0 {
			locks = append(locks, reentrant.New(p.locks, name))
		} else {
			locks = append(locks, fair.New(p.locks, name))
		}
	}
	return locks
}

// tryTogether takes locks that must be free.
func tryTogether(ctx context.Context, t *testing.T, locks ...lock.Locker) []*lock.Lease {
	t.Helper()
	leases, errs := lock.TryTogether(ctx, locks...)
	require.Equal(t, make([]error, len(locks)), errs)
	for i, l := range leases {
		require.Equal(t, locks[i].Name(), l.Name())
		require.NoError(t, l.Err())
	}
	return leases
}

// unlockTogether unlocks leases that must be held.
func unlockTogether(t *testing.T, leases ...*lock.Lease) {
	t.Helper()
	require.Equal(t, make([]error, len(leases)), lock.UnlockTogether(bg, leases...))
}

// requireFree requires that no node has a lock.
func (w *world) requireFree(locks ...lock.Locker) {
	w.t.Helper()
	synctest.Wait()
	for _, l := range locks {
		k, err := lua.NewKeys("lock", l.Name())
		require.NoError(w.t, err)
		for _, n := range w.nodes {
			id, _ := n.Holder(k.Lock)
			require.Empty(w.t, id, "%s has %s", n.Addr(), l.Name())
		}
	}
}

func TestTriesTogetherCostOneRoundTrip(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		p := w.process()
		each(w.nodes, near)
		for _, names := range []int{0, 1, 2, 4, 9} {
			locks := several(p, names)
			trip := min(nearTrip, time.Duration(names)*nearTrip)
			var leases []*lock.Lease
			require.Equal(t, trip, took(func() { leases = tryTogether(bg, t, locks...) }), "%d names", names)
			synctest.Wait()
			require.Equal(t, trip, took(func() { unlockTogether(t, leases...) }), "%d names", names)
			w.requireFree(locks...)
		}
	})
}

// Neither needs a goroutine for each lock, which would cost more than the lock itself.
func TestTriesTogetherNeedNoGoroutines(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		locks := several(w.process(), 4)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(50*time.Millisecond, 50*time.Millisecond) })
		var leases []*lock.Lease
		for _, call := range []func(){
			func() { leases = tryTogether(bg, t, locks...) },
			func() { unlockTogether(t, leases...) },
		} {
			done := make(chan struct{})
			go func() {
				defer close(done)
				call()
			}()
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
			require.Zero(t, alongside(), "goroutines beside the caller's")
			<-done
			time.Sleep(time.Second)
		}
	})
}

// alongside is how many goroutines make a call each for Together.
func alongside() int {
	buf := make([]byte, 1<<20)
	return strings.Count(string(buf[:runtime.Stack(buf, true)]), "redlock.Together.func")
}

// A refusal is that lock's alone.
func TestATryTogetherIsRefusedAlone(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		locks := several(w.process(), 4)
		theirs := tryTogether(bg, t, several(w.process(), 4)[1:3]...)
		leases, errs := lock.TryTogether(bg, locks...)
		for i, err := range errs {
			if i == 1 || i == 2 {
				require.Nil(t, leases[i])
				require.ErrorIs(t, err, lock.ErrLocked)
				var refused *lock.AcquireError
				require.ErrorAs(t, err, &refused)
				require.Equal(t, locks[i].Name(), refused.Name)
				require.Equal(t, theirs[i-1].ID(), refused.Holder)
				continue
			}
			require.NoError(t, err)
		}
		unlockTogether(t, leases...) // which are nil in part
		unlockTogether(t, theirs...)
		w.requireFree(locks...)
	})
}

// Where the nodes' counters differ, the second rounds leave together, too.
func TestSecondRoundsOfTriesTogetherLeaveTogether(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		locks := several(w.process(), 3)
		for _, l := range locks {
			k, err := lua.NewKeys("lock", l.Name())
			require.NoError(t, err)
			for i, n := range w.nodes {
				require.NoError(t, n.Memory().Set(k.Token, fmt.Sprint(100*(i+1))))
			}
		}
		each(w.nodes, near)
		var leases []*lock.Lease
		require.Equal(t, 2*nearTrip, took(func() { leases = tryTogether(bg, t, locks...) }))
		for _, l := range leases {
			require.GreaterOrEqual(t, l.Token(), int64(201)) // of two nodes, the greater one
		}
		unlockTogether(t, leases...)
	})
}

// One owner's calls about one name come one after the other, and enter again: also those of one
// TryTogether, and one behind a TryLock that is under way.
func TestATryTogetherBehindItsOwnOwnerEntersAgain(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		locks := several(w.process(), 2)
		ctx := lock.WithOwner(bg)
		each(w.nodes, near)
		first := make(chan *lock.Lease, 1)
		go func() {
			l, err := locks[0].TryLock(ctx)
			if err != nil {
				t.Error(err)
			}
			first <- l
		}()
		time.Sleep(nearTrip / 3)
		leases := tryTogether(ctx, t, locks[0], locks[1], locks[1])
		counts := []int{leases[0].Count(), leases[1].Count() + leases[2].Count()}
		require.Equal(t, []int{2, 3}, counts)
		unlockTogether(t, leases...)
		w.requireFree(locks[1])
		require.NoError(t, (<-first).Unlock(bg))
		w.requireFree(locks...)
	})
}

// What is granted when the context has ended is given back, whatever the moment.
func TestTriesTogetherEndWithTheirContext(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		locks := several(w.process(), 3)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(10*time.Millisecond, 10*time.Millisecond) })
		for _, end := range []time.Duration{0, 5 * time.Millisecond, 15 * time.Millisecond} {
			ctx, cancel := context.WithCancel(bg)
			time.AfterFunc(end, cancel)
			leases, errs := lock.TryTogether(ctx, locks...)
			<-ctx.Done()
			for i, l := range leases {
				if l == nil {
					require.ErrorIs(t, errs[i], context.Canceled)
				}
			}
			lock.UnlockTogether(bg, leases...)
			time.Sleep(time.Second)
			w.requireFree(locks...)
			unlockTogether(t, tryTogether(bg, t, locks...)...)
			time.Sleep(time.Second)
		}
	})
}

// A client that is closed refuses its own locks, and waits for no call that has returned.
func TestTriesTogetherOfAClosedClient(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p, q := w.process(), w.process()
		locks := several(p, 2)
		unlockTogether(t, tryTogether(bg, t, locks...)...)
		require.Zero(t, took(func() { require.NoError(t, p.locks.Close()) }))
		theirs := reentrantAt(q, "theirs")
		leases, errs := lock.TryTogether(bg, locks[0], theirs, locks[1])
		require.ErrorIs(t, errs[0], lock.ErrClosed)
		require.NoError(t, errs[1])
		require.ErrorIs(t, errs[2], lock.ErrClosed)
		unlockTogether(t, leases...)
	})
}

// An end is that lease's alone: one that was lost, and one that was unlocked already.
func TestAnUnlockTogetherFailsAlone(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		locks := several(w.process(), 4)
		leases := tryTogether(bg, t, locks...)
		synctest.Wait()
		k, err := lua.NewKeys("lock", locks[2].Name())
		require.NoError(t, err)
		each(w.nodes, func(n *virtual.Node) { n.Delete(k.Lock) })
		require.NoError(t, leases[3].Unlock(bg))
		errs := lock.UnlockTogether(bg, leases...)
		require.NoError(t, errs[0])
		require.NoError(t, errs[1])
		require.ErrorIs(t, errs[2], lock.ErrLost)
		require.ErrorIs(t, errs[3], lock.ErrReleased)
		w.requireFree(locks...)
		require.ErrorIs(t, lock.UnlockTogether(bg, new(lock.Lease))[0], lock.ErrNotHeld)
	})
}

// A renewal in flight is over before the release leaves, and none follows it (trap 21).
func TestUnlockTogetherWaitsForRenewals(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const ttl, way = 3 * time.Second, 20 * time.Millisecond
		p := w.process(lock.WithTTL(ttl))
		locks := []lock.Locker{reentrantAt(p, "a"), reentrantAt(p, "b")}
		leases := tryTogether(bg, t, locks...)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(way, way) })
		for len(renewals(w.nodes[0])) == 0 {
			time.Sleep(time.Millisecond)
		}
		unlockTogether(t, leases...)
		w.requireFree(locks...)
		for _, n := range w.nodes {
			last := renewals(n)
			for _, c := range n.Commands(releaseRuns) {
				require.False(t, c.At.Before(last[0].Add(2*way)), "a release that left before the renewal was decided")
			}
			time.Sleep(long)
			require.Len(t, renewals(n), len(last), "none follows a release")
		}
	})
}

// What is to stay taken does, and whoever waits here is next, without a poll.
func TestUnlockTogetherEndsEachAsAnUnlockDoes(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		locks := []lock.Locker{
			reentrant.New(p.locks, "stays", lock.WithMinHold(time.Minute)),
			fair.New(p.locks, "waited for"),
			reentrant.New(p.locks, "passed on"),
		}
		start := time.Now()
		leases := tryTogether(bg, t, locks...)
		second, third := wait(bg, locks[1]), wait(bg, locks[2])
		time.Sleep(time.Second)
		unlockTogether(t, leases...)
		for _, g := range []grant{await(t, second), await(t, third)} {
			require.NoError(t, g.err)
			require.Equal(t, time.Second, g.at.Sub(start))
			require.NoError(t, g.lease.Unlock(bg))
		}
		_, err := locks[0].TryLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked)
		time.Sleep(time.Minute)
		w.requireFree(locks...)
	})
}

func TestObserversAreToldOfTriesTogether(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p, seen := w.witnessed()
		locks := several(p, 3)
		theirs := tryTogether(bg, t, several(w.process(), 3)[0])
		leases, errs := lock.TryTogether(bg, locks...)
		require.ErrorIs(t, errs[0], lock.ErrLocked)
		saw := seen.saw()
		require.Len(t, saw.began, 3)
		require.Len(t, saw.ended, 3)
		for i, a := range saw.ended {
			require.True(t, a.Try)
			require.Equal(t, locks[i].Name(), a.Name)
			require.Equal(t, leases[i], a.Lease)
			require.Equal(t, errs[i], a.Err)
		}
		unlockTogether(t, leases...)
		saw = seen.saw()
		require.Len(t, saw.holds, 2)
		for i, h := range saw.holds {
			require.Equal(t, leases[i+1].ID(), h.Hold)
			require.Equal(t, lock.ReasonUnlocked, h.Reason)
		}
		unlockTogether(t, theirs...)
	})
}

// The context that TryTogether was called with is one of the work's, as that of a TryLock is.
func TestAbandonedCallersOfTriesTogetherLetTheirLocksLapse(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(bg)
		leases := tryTogether(ctx, t, several(w.process(), 2)...)
		for _, l := range leases {
			work, done := context.WithCancel(bg)
			l.Context(work)
			done()
		}
		time.Sleep(long)
		for _, l := range leases {
			require.NoError(t, l.Err(), "the caller is there still")
		}
		cancel()
		time.Sleep(defaultTTL)
		for _, l := range leases {
			require.ErrorIs(t, l.Err(), lock.ErrLost)
		}
	})
}

// However long a node timeout is.
func TestTriesTogetherReturnWithinASecond(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process(lock.WithNodeTimeout(10 * time.Second))
		each(w.nodes, (*virtual.Node).Pause)
		defer each(w.nodes, (*virtual.Node).Resume)
		require.LessOrEqual(t, took(func() {
			leases, errs := lock.TryTogether(bg, several(p, 3)...)
			for i, err := range errs {
				require.Nil(t, leases[i])
				require.ErrorIs(t, err, lock.ErrNoQuorum)
			}
		}), time.Second)
	})
}

// Rivals that split the votes try again, and one of them has the lock.
func TestTriesTogetherThatSplitTheVotesTryAgain(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		hosts := make([]*virtual.Host, 2)
		var rivals []*process
		for i := range hosts {
			hosts[i] = virtual.NewHost(w.nodes)
			rivals = append(rivals, w.processOn(hosts[i]))
		}
		// Each has one node to itself at first, and the third does not answer.
		hosts[0].Cut(1, true)
		hosts[1].Cut(0, true)
		w.nodes[2].Pause()
		type result struct {
			leases []*lock.Lease
			errs   []error
		}
		results := make(chan result, 2)
		for _, p := range rivals {
			go func() {
				leases, errs := lock.TryTogether(bg, several(p, 2)...)
				results <- result{leases, errs}
			}()
		}
		time.Sleep(100 * time.Millisecond)
		w.nodes[2].Resume()
		hosts[0].Cut(1, false)
		hosts[1].Cut(0, false)
		granted := make([]int, 2)
		for range 2 {
			r := <-results
			for i, l := range r.leases {
				if l != nil {
					granted[i]++
					continue
				}
				require.ErrorIs(t, r.errs[i], lock.ErrLocked)
			}
		}
		require.Equal(t, []int{1, 1}, granted)
	})
}

// Names that were released together are free for this process, too, and it keeps nothing of them.
func TestAnUnlockTogetherFreesTheNamesHere(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		locks := several(p, 2)
		unlockTogether(t, tryTogether(bg, t, locks...)...)
		for _, l := range locks {
			require.Zero(t, took(func() {
				lease, err := l.Lock(bg)
				require.NoError(t, err)
				require.NoError(t, lease.Unlock(bg))
			}))
		}
		unlockTogether(t, tryTogether(bg, t, locks...)...)
		require.Zero(t, took(func() { require.NoError(t, p.locks.Shutdown(bg)) }), "nothing is held")
	})
}
