package lock_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// Whichever node it is that knows who is in between: the waiters behind the grant are not served before that one.
func TestAnyNodeThatGrantsSaysWhoIsInBetween(t *testing.T) {
	for _, odd := range []int{0, 1, 2} {
		t.Run(fmt.Sprint("node ", odd), func(t *testing.T) {
			inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
				a, b := w.process(), w.process()
				q := lineUp(w, 0, a)
				b.Cut(odd, true)
				q.join(bg, b)
				time.Sleep(time.Second)
				q.join(bg, a)
				for i, n := range w.nodes { // the one that has not heard of b is the first to answer
					if i != odd {
						n.SetDelay(time.Millisecond, time.Millisecond)
					}
				}
				for _, p := range []*process{a, b, a} {
					require.Contains(t, q.next().ID(), p.locks.ID())
					time.Sleep(10 * time.Millisecond)
				}
				require.NoError(t, q.held.Unlock(bg))
				b.Cut(odd, false)
				q.drained()
			})
		})
	}
}

// Those that were served leave with the release, in one command, unless the hold in progress lasts for long.
func TestThoseThatWereServedLeaveTogetherThoughTheFirstOfThemWasServedLongAgo(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		p := w.process()
		q := lineUp(w, 2*time.Millisecond, p, p, p)
		q.next()
		time.Sleep(2 * q.trip) // for its tokens
		start := time.Now()
		first := q.held
		q.next()
		time.Sleep(maxServed * 3 / 5)
		q.next()
		require.Contains(t, q.held.ID(), first.ID()+".", "within the tenure")
		time.Sleep(maxServed * 3 / 5)
		require.NoError(t, q.held.Unlock(bg))
		q.drained()
		for _, n := range w.nodes {
			require.Len(t, since(n, start, fairReleaseRuns), 1)
		}
	})
}

// Whoever has the lock, or waits no more, is not known as one who waits.
func TestAClientForgetsWhoWaitsNoMore(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		p := w.process()
		ctx, cancel := context.WithCancel(bg)
		leaves, stays := wait(ctx, p.queue()), wait(bg, p.queue())
		synctest.Wait()
		require.Equal(t, 2, lock.Queuers(p.locks))
		cancel()
		require.ErrorIs(t, (<-leaves).err, context.Canceled)
		synctest.Wait()
		require.Equal(t, 1, lock.Queuers(p.locks))
		require.NoError(t, l.Unlock(bg))
		l = (<-stays).lease
		require.Zero(t, lock.Queuers(p.locks))
		require.NoError(t, l.Unlock(bg))
	})
}

// A lease that is renewed follows one that was not renewed any more, and is renewed like any other.
func TestALeaseThatFollowsOneWhoseRenewalsHaveEndedIsRenewed(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		const ttl = 3 * time.Second
		l := w.lock(p.mutex(lock.WithTTL(ttl), lock.WithMaxHold(time.Millisecond)))
		next := wait(bg, p.mutex(lock.WithTTL(ttl)))
		time.Sleep(ttl * 2 / 5) // the time for a renewal has passed
		first := l.ID()
		l = passOn(t, l, next)
		require.True(t, strings.HasPrefix(l.ID(), first+"."), "within the tenure")
		time.Sleep(long)
		require.NoError(t, l.Err())
		require.NoError(t, l.Unlock(bg))
	})
}

// A node that refuses the one whose turn it is, since somebody else has its vote, is told that the wait is over, and
// given the hold as soon as it is free, however late it refused.
func TestANodeThatRefusesAWaiterThatIsGrantedTheLockHasTheHoldSoonAfter(t *testing.T) {
	for name, late := range map[string]time.Duration{"in time": 0, "late": 20 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				l := w.lock(w.process().queue())
				p := w.process()
				next := wait(bg, p.queue(lock.WithTTL(time.Hour), lock.WithWaiterHeartbeat(time.Hour)))
				time.Sleep(time.Second)
				odd := w.nodes[0]
				odd.Memory().Del(keys.Lock) // so it has forgotten the holder, and grants the lock to a rival
				odd.Memory().HSet(keys.Lock, "rival:1", "1")
				odd.Memory().SetTTL(keys.Lock, time.Hour)
				each(w.nodes[1:], func(n *virtual.Node) { n.SetDelay(0, time.Millisecond) })
				if late > 0 {
					each(w.nodes[1:], func(n *virtual.Node) { n.SetDelay(0, 0) })
				}
				odd.SetDelay(0, late)
				_ = l.Unlock(bg)
				l = await(t, next).lease
				require.NotNil(t, l)
				time.Sleep(100 * time.Millisecond)
				require.NotContains(t, odd.Keys(), keys.Queue(), "it waits no more")
				each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
				odd.Delete(keys.Lock)
				time.Sleep(time.Second)
				requireHolder(t, l.ID(), w.nodes)
				require.NoError(t, l.Unlock(bg))
			})
		})
	}
}

// Whoever cannot hear looks for the end of a hold now and then, and its mark lasts until it has looked a few times, or
// one lost command would cost it its chance.
func TestTheMarkOfOneThatCannotHearOutlivesALostLook(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const deafLook = 250 * time.Millisecond
		l := w.lock(w.process().mutex())
		each(w.nodes, func(n *virtual.Node) { n.Refuse(virtual.Name("SUBSCRIBE")) })
		p := w.process()
		wait(bg, p.mutex())
		time.Sleep(5 * time.Second)
		p.Silence(true)
		time.Sleep(2 * deafLook)
		for _, n := range w.nodes {
			require.Contains(t, n.Keys(), keys.Void(), n.Addr())
		}
		time.Sleep(3 * deafLook)
		for _, n := range w.nodes {
			require.NotContains(t, n.Keys(), keys.Void(), n.Addr())
		}
		require.NoError(t, l.Unlock(bg))
	})
}

// Others are granted permits while this process asks for tokens: it asks for those behind theirs, and permits are passed on.
func TestPermitsArePassedOnThoughOthersWereGrantedMany(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		s := w.process().permits(1)
		held := granted(t, acquire(bg, s, 1))
		next := acquire(bg, s, 1)
		time.Sleep(100 * time.Millisecond) // so its tokens are asked for now
		each(w.nodes, func(n *virtual.Node) { _, _ = n.Memory().Incr(keys.Token(), 1000) })
		asked := w.commands(permitAcquireRuns)
		require.NoError(t, held.Release(bg))
		g := granted(t, next)
		require.Greater(t, g.Token(), held.Token()+1000)
		require.Equal(t, asked, w.commands(permitAcquireRuns), "nobody asks for a permit")
		require.NoError(t, g.Release(bg))
	})
}

// If others are granted as many each time, the nodes decide: nobody waits for tokens for long.
func TestAWaiterDoesNotWaitForTokensThatOthersAreGrantedEachTime(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const trip = 2 * time.Millisecond
		s := w.process().permits(1)
		held := granted(t, acquire(bg, s, 1))
		next := acquire(bg, s, 1)
		time.Sleep(100 * time.Millisecond)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
		reserved := w.commands(permitReserveRuns)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = held.Release(bg)
		}()
		for range 20 {
			each(w.nodes, func(n *virtual.Node) { _, _ = n.Memory().Incr(keys.Token(), 1000) })
			time.Sleep(trip)
		}
		require.LessOrEqual(t, w.commands(permitReserveRuns)-reserved, 3*len(w.nodes))
		g := granted(t, next)
		require.NotContains(t, g.ID(), ".")
		<-done
		require.NoError(t, g.Release(bg))
	})
}

// A node that fails as the one whose turn it is asks has the hold soon after, however late it failed.
func TestANodeThatFailsAsAWaiterIsGrantedTheLockHasTheHoldSoonAfter(t *testing.T) {
	for name, late := range map[string]time.Duration{"in time": 0, "late": 20 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				l := w.lock(w.process().queue())
				next := wait(bg, w.process().queue(lock.WithTTL(time.Hour), lock.WithWaiterHeartbeat(time.Hour)))
				time.Sleep(time.Second)
				odd := w.nodes[0]
				odd.Refuse(fairAcquireRuns)
				odd.SetDelay(0, late)
				if late == 0 {
					each(w.nodes[1:], func(n *virtual.Node) { n.SetDelay(0, time.Millisecond) })
				}
				require.NoError(t, l.Unlock(bg))
				l = await(t, next).lease
				require.NotNil(t, l)
				time.Sleep(100 * time.Millisecond)
				each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
				odd.Refuse(nil)
				time.Sleep(time.Second)
				requireHolder(t, l.ID(), w.nodes)
				require.NoError(t, l.Unlock(bg))
			})
		})
	}
}

// Nodes that do not confirm tokens for another reason than that others were granted them are not asked for more.
func TestTokensThatNodesRefuseAreAskedForOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		s := w.process().permits(1)
		held := granted(t, acquire(bg, s, 1))
		next := acquire(bg, s, 1)
		time.Sleep(100 * time.Millisecond)
		each(w.nodes, func(n *virtual.Node) { n.Refuse(permitReserveRuns) })
		reserved := w.commands(permitReserveRuns)
		require.NoError(t, held.Release(bg))
		g := granted(t, next)
		require.NotContains(t, g.ID(), ".")
		require.LessOrEqual(t, w.commands(permitReserveRuns)-reserved, len(w.nodes))
		require.NoError(t, g.Release(bg))
	})
}

// What a minority has granted to several tries is given back together.
func TestTriesTogetherGiveBackWhatAMinorityHasGrantedTogether(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		const trip, n = 20 * time.Millisecond, 6
		locks := several(w.process(), n)
		leases := tryTogether(bg, t, locks...) // over connections that are there from now on
		unlockTogether(t, leases...)
		var held []*lock.Lease
		for _, m := range several(w.process(), n) {
			held = append(held, w.lock(m))
		}
		each(w.minority(), (*virtual.Node).Flush)
		w.loadScripts()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
		start := time.Now()
		_, errs := lock.TryTogether(bg, locks...)
		require.LessOrEqual(t, time.Since(start), 4*trip)
		for _, err := range errs {
			require.ErrorIs(t, err, lock.ErrLocked)
		}
		unlockTogether(t, held...)
	})
}

// A try together that fails without asking any node says as much as a single one.
func TestATryTogetherOfALostHoldSaysWhichLockItIsAbout(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		locks := several(w.process(), 2)
		ctx := lock.WithOwner(bg)
		l := w.lockIn(ctx, locks[0])
		_, err := several(w.process(), 2)[0].(lock.Inspector).ForceUnlock(bg)
		require.NoError(t, err)
		awaitEnd(t, l)
		leases, errs := lock.TryTogether(ctx, locks...)
		_, alone := locks[0].TryLock(ctx)
		var failed, single *lock.AcquireError
		require.ErrorAs(t, alone, &single)
		require.ErrorAs(t, errs[0], &failed)
		require.ErrorIs(t, failed, lock.ErrLost)
		require.Equal(t, single.Name, failed.Name)
		require.NoError(t, errs[1])
		require.NoError(t, leases[1].Unlock(bg))
		require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
	})
}
