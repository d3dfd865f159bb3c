package lock_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/readwrite"
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

// Locks of several clients leave at once, on the way to whatever nodes they are.
func TestTriesTogetherOfSeveralClientsLeaveAtOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		other := &world{t: t, nodes: virtual.StartN(t, 1)}
		other.loadScripts()
		locks := append(several(w.process(), 2), several(other.process(), 2)...)
		each(w.nodes, near)
		each(other.nodes, near)
		var leases []*lock.Lease
		require.Equal(t, nearTrip, took(func() { leases = tryTogether(bg, t, locks...) }))
		time.Sleep(time.Second)
		require.Equal(t, nearTrip, took(func() { unlockTogether(t, leases...) }))
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

// Where the nodes' counters differ, the second rounds leave together, too; but for those of which the first leaves while
// the answers to the first rounds are still being dealt with, which is up to the scheduler.
func TestSecondRoundsOfTriesTogetherLeaveTogether(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		locks := several(w.process(), 3)
		each(w.nodes, near)
		together := 0
		for range 20 {
			for _, l := range locks {
				k, err := lua.NewKeys("lock", l.Name())
				require.NoError(t, err)
				for i, n := range w.nodes {
					require.NoError(t, n.Memory().Set(k.Token(), fmt.Sprint(100*(i+1))))
				}
			}
			var leases []*lock.Lease
			if took(func() { leases = tryTogether(bg, t, locks...) }) == 2*nearTrip {
				together++
			}
			for _, l := range leases {
				require.GreaterOrEqual(t, l.Token(), int64(201)) // of two nodes, the greater one
			}
			unlockTogether(t, leases...)
			time.Sleep(time.Second)
		}
		require.NotZero(t, together)
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

// One that waits for silent nodes keeps the caller until the end of the wait. What another had been granted
// by then is given back, and nobody had the lock.
func TestAGrantThatAnotherTrialKeepsUntilTheEndIsNoRefusal(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		silent := &world{t: t, nodes: virtual.StartN(t, 1)}
		silent.loadScripts()
		patient := lock.WithNodeTimeout(10 * time.Second)
		m := w.process(patient).mutex()
		other := silent.process(patient).mutex()
		each(silent.nodes, func(n *virtual.Node) { n.Silence(true) })
		leases, errs := lock.TryTogether(bg, other, m)
		require.Equal(t, []*lock.Lease{nil, nil}, leases)
		require.ErrorContains(t, refused(t, errs[1], lock.ErrNoQuorum, lock.ErrLocked), "granted after the wait had ended")
		w.requireFree(m)
	})
}

// Rivals of whom each is the first at another node split the votes of every name. They try again, and
// one of them has it.
func TestTriesTogetherThatSplitTheVotesTryAgain(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		var rivals []*process
		for range w.nodes {
			p := w.process()
			unlockTogether(t, tryTogether(bg, t, several(p, 3)...)...) // it has its connections
			rivals = append(rivals, p)
		}
		var granted [2]atomic.Int64
		var all sync.WaitGroup
		for first, p := range rivals {
			// It comes to one node before the others, and to the rest before anybody gives back.
			w.holdUp(2 * time.Millisecond)
			w.nodes[first].SetDelay(time.Millisecond, 0)
			all.Go(func() {
				leases, errs := lock.TryTogether(bg, several(p, 2)...)
				for i, l := range leases {
					if l != nil {
						granted[i].Add(1)
					} else if !errors.Is(errs[i], lock.ErrLocked) {
						t.Error(errs[i])
					}
				}
			})
			synctest.Wait() // it has asked
		}
		w.holdUp(2 * time.Millisecond)
		all.Wait()
		require.EqualValues(t, 1, granted[0].Load())
		require.EqualValues(t, 1, granted[1].Load())
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

// An observer may close the client when it is told of what was made together.
func TestAnObserverOfTriesTogetherMayCloseTheClient(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		var p *process
		p = w.process(lock.WithObserver(lock.Observer{
			Ended: func(context.Context, lock.Acquisition) { _ = p.locks.Close() },
		}))
		leases, errs := lock.TryTogether(bg, several(p, 2)...)
		require.NoError(t, errors.Join(errs...))
		for _, l := range leases {
			require.ErrorIs(t, l.Err(), lock.ErrReleased)
		}
	})
}

// An owner writes and reads, and gives back both together: the downgrade waits for nothing that waits for it.
func TestALockIsGivenBackToWriteAndToReadTogether(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		each(w.nodes, near)
		m := readwrite.New(w.process().locks, "config")
		for _, order := range [][]int{{0, 1}, {1, 0}} {
			ctx := lock.WithOwner(bg)
			leases := []*lock.Lease{w.lockIn(ctx, m), w.lockIn(ctx, m.RLocker())}
			unlockTogether(t, leases[order[0]], leases[order[1]])
			time.Sleep(time.Second) // a node that was not waited for
			w.requireFree(m)
		}
	})
}

// Two goroutines of an owner give back two locks, each the one to write and the other to read.
func TestLocksAreGivenBackCrosswise(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		each(w.nodes, near)
		p := w.process()
		a, b := readwrite.New(p.locks, "a"), readwrite.New(p.locks, "b")
		for range 200 {
			ctx := lock.WithOwner(bg)
			aw, bw := w.lockIn(ctx, a), w.lockIn(ctx, b)
			ar, br := w.lockIn(ctx, a.RLocker()), w.lockIn(ctx, b.RLocker())
			var both sync.WaitGroup
			both.Go(func() { unlockTogether(t, aw, br) })
			both.Go(func() { unlockTogether(t, bw, ar) })
			both.Wait()
			time.Sleep(time.Second) // a node that was not waited for
			w.requireFree(a, b)
		}
	})
}

func TestATryTogetherOfNoLockIsRefused(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		for _, locks := range [][]lock.Locker{{nil}, {m, nil}, {nil, m}} {
			leases, errs := lock.TryTogether(bg, locks...)
			for i := range locks {
				require.Nil(t, leases[i])
				require.ErrorContains(t, errs[i], "is nil")
			}
		}
		w.requireFree(m)
	})
}

// Nor do they wait longer for nodes that are to take back what they have granted.
func TestTriesTogetherThatGiveBackReturnWithinASecond(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		p := w.process(lock.WithNodeTimeout(10 * time.Second))
		each(w.quorum(), (*virtual.Node).Pause)
		defer each(w.nodes, (*virtual.Node).Resume)
		time.AfterFunc(tryBound/2, w.nodes[0].Pause) // it has granted all by then
		require.LessOrEqual(t, took(func() {
			_, errs := lock.TryTogether(bg, several(p, 3)...)
			for _, err := range errs {
				require.ErrorIs(t, err, lock.ErrNoQuorum)
			}
		}), tryBound)
	})
}
