package lock_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/redlock"
)

// brief is a request's timeout, below the node timeout.
const brief = 50 * time.Millisecond

// kinds are the locks of one name that a process may ask for.
func (p *process) kinds(opts ...lock.Option) map[string]lock.Locker {
	return map[string]lock.Locker{"reentrant": p.mutex(opts...), "fair": p.queue(opts...)}
}

// refused requires that err is of acquiring orders, busy or down but not both, and never bare.
func refused(t *testing.T, err error, is, isNot error) *lock.AcquireError {
	t.Helper()
	var e *lock.AcquireError
	require.ErrorAs(t, err, &e)
	require.Equal(t, "orders", e.Name)
	require.ErrorIs(t, err, is)
	require.NotErrorIs(t, err, isNot)
	over := errors.Is(e.Err, context.DeadlineExceeded) || errors.Is(e.Err, context.Canceled)
	require.False(t, over && e.Holder == "" && e.Last == nil, "it is bare: %v", err)
	return e
}

// lockFor has a Lock give up after d.
func lockFor(m lock.Locker, d time.Duration) error {
	ctx, cancel := context.WithTimeout(bg, d)
	defer cancel()
	_, err := m.Lock(ctx)
	return err
}

func TestBusyIsToldFromDownWithTimeoutsBelowTheNodeTimeout(t *testing.T) {
	for _, kind := range []string{"reentrant", "fair"} {
		t.Run("busy "+kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
				held := w.lock(w.process().kinds()[kind])
				err := lockFor(w.process().kinds()[kind], brief)
				e := refused(t, err, lock.ErrLocked, lock.ErrNoQuorum)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, held.ID(), e.Holder)
				require.False(t, e.Own)
			})
		})
		t.Run("down "+kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
				p := w.process()
				each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
				err := lockFor(p.kinds()[kind], brief)
				e := refused(t, err, lock.ErrNoQuorum, lock.ErrLocked)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Len(t, e.Silent, len(w.quorum()))
				for _, n := range w.quorum() {
					require.Contains(t, e.Silent, n.Addr())
					require.ErrorContains(t, err, n.Addr()+": no answer")
				}
			})
		})
	}
}

// Held by a stranger on the nodes that answer, which are too few: that is down, not busy.
func TestHeldLockWithAQuorumDownIsNotLocked(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				held := w.lock(w.process().mutex())
				p := w.process()
				each(w.quorum(), fault)
				began := time.Now()
				_, err := p.mutex().TryLock(bg)
				e := refused(t, err, lock.ErrNoQuorum, lock.ErrLocked)
				require.Equal(t, held.ID(), e.Holder, "by those who answer")
				require.LessOrEqual(t, time.Since(began), tryBound)
				_ = refused(t, lockFor(p.mutex(), brief), lock.ErrNoQuorum, lock.ErrLocked)
				_ = refused(t, lockFor(p.mutex(), 5*defaultNodeTimeout), lock.ErrNoQuorum, lock.ErrLocked)
			})
		})
	}
}

// What the attempt before saw is the reason; which nodes did not answer the one that was cut
// off stands beside it.
func TestWaitThatIsCutOffWhileAskingAgainTellsBoth(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		held := w.lock(w.process().mutex())
		waiting := w.process()
		ctx, cancel := context.WithCancel(bg)
		next := wait(ctx, waiting.mutex())
		time.Sleep(time.Second) // by now it is asleep
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, defaultNodeTimeout/2) })
		asked := len(w.nodes[0].Commands(acquireRuns))
		for len(w.nodes[0].Commands(acquireRuns)) == asked {
			time.Sleep(time.Millisecond)
		}
		cancel()
		err := (<-next).err
		e := refused(t, err, lock.ErrLocked, lock.ErrNoQuorum)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, held.ID(), e.Holder)
		require.Len(t, e.Silent, len(w.nodes))
		for _, n := range w.nodes {
			require.ErrorContains(t, err, n.Addr())
		}
	})
}

// In one process one waiter asks, and the others rely on it: they know what it knows.
func TestWaiterBehindOthersOfItsProcessKnowsWhy(t *testing.T) {
	for _, kind := range []string{"reentrant", "fair"} {
		t.Run("down "+kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
				p := w.process()
				each(w.nodes, func(n *virtual.Node) { n.Silence(true) })
				ctx, cancel := context.WithCancel(bg)
				head := wait(ctx, p.kinds()[kind])
				time.Sleep(brief)
				e := refused(t, lockFor(p.kinds()[kind], brief), lock.ErrNoQuorum, lock.ErrLocked)
				require.Len(t, e.Silent, len(w.nodes))
				cancel()
				<-head
			})
		})
		t.Run("busy "+kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
				held := w.lock(w.process().kinds()[kind])
				p := w.process()
				ctx, cancel := context.WithCancel(bg)
				head := wait(ctx, p.kinds()[kind])
				synctest.Wait()
				e := refused(t, lockFor(p.kinds()[kind], brief), lock.ErrLocked, lock.ErrNoQuorum)
				require.Equal(t, held.ID(), e.Holder)
				cancel()
				<-head
			})
		})
	}
}

func TestCallThatWaitsForAnotherOfItsOwnerKnowsWhy(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		p := w.process()
		each(w.nodes, func(n *virtual.Node) { n.Silence(true) })
		scope := lock.WithOwner(bg)
		ctx, cancel := context.WithCancel(scope)
		first := wait(ctx, p.mutex())
		time.Sleep(brief)
		ctx, cancelSecond := context.WithTimeout(scope, brief)
		defer cancelSecond()
		_, err := p.mutex().Lock(ctx)
		_ = refused(t, err, lock.ErrNoQuorum, lock.ErrLocked)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		cancel()
		<-first
	})
}

// The lock is its own owner's, so that is not in its way: the nodes that do not answer are.
func TestReentryThatIsCutOffIsNoRefusalByItsOwnHold(t *testing.T) {
	for _, kind := range []string{"reentrant", "fair"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
				p := w.process()
				asks := p.kinds(lock.WithoutWatchdog())[kind] // for its time
				scope := lock.WithOwner(bg)
				l := w.lockIn(scope, p.kinds()[kind])
				time.Sleep(time.Second)
				each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
				cutOff := func() error {
					ctx, cancel := context.WithTimeout(scope, brief)
					defer cancel()
					_, err := asks.Lock(ctx)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					return err
				}
				e := refused(t, cutOff(), lock.ErrNoQuorum, lock.ErrLocked)
				require.Empty(t, e.Holder)
				require.Len(t, e.Silent, len(w.quorum()))
				for _, n := range w.quorum() {
					require.Contains(t, e.Silent, n.Addr())
				}

				// Nor is that the reason of one that waits for its turn behind another.
				first := wait(scope, asks)
				synctest.Wait()
				err := cutOff()
				require.NotErrorIs(t, err, lock.ErrLocked)
				require.ErrorContains(t, err, "another call of the same owner was in progress")
				require.NoError(t, (<-first).err)
				require.NoError(t, l.Err())
			})
		})
	}
}

func TestLockUnderADoneContextSaysThatNobodyWasAsked(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(bg)
		cancel()
		_, err := w.process().mutex().Lock(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "no node had been asked")
		require.NotErrorIs(t, err, lock.ErrLocked)
		require.NotErrorIs(t, err, lock.ErrNoQuorum)
	})
}

func TestRefusalBehindAHoldOfThisClientSaysSo(t *testing.T) {
	for _, kind := range []string{"reentrant", "fair"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				p := w.process()
				held := w.lock(p.kinds()[kind])
				_, err := p.kinds()[kind].TryLock(bg)
				for _, err := range []error{err, lockFor(p.kinds()[kind], brief), lockFor(p.kinds()[kind], 2*defaultTTL)} {
					e := refused(t, err, lock.ErrLocked, lock.ErrNoQuorum)
					require.Equal(t, held.ID(), e.Holder)
					require.True(t, e.Own)
					require.ErrorContains(t, err, "held by "+held.ID()+" (this client)")
				}
			})
		})
	}
}

// tryBound is how long a TryLock takes at the most.
const tryBound = time.Second

// The last answer comes as the time of the TryLock ends: whichever of the two is first, it is a lease, or the nodes were too slow.
func TestAGrantThatComesAsATryLockEndsIsNoRefusal(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const silent = 3 * time.Second
		m := w.process(lock.WithNodeTimeout(silent)).mutex()
		each(w.nodes, func(n *virtual.Node) { n.Silence(true) })
		began := time.Now()
		_, err := m.TryLock(bg)
		require.Error(t, err)
		bound := time.Since(began)
		each(w.nodes, func(n *virtual.Node) { n.Silence(false) })
		time.Sleep(long)
		late := 0
		for range 200 {
			each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, bound) })
			l, err := m.TryLock(bg)
			each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
			if err == nil {
				require.NoError(t, l.Unlock(bg))
			} else {
				late++
				_ = refused(t, err, lock.ErrNoQuorum, lock.ErrLocked)
			}
			time.Sleep(long)
		}
		require.NotZero(t, late)
	})
}

func TestTryLockTakesASecondAtTheMost(t *testing.T) {
	for _, timeout := range []time.Duration{defaultNodeTimeout, 3 * time.Second} {
		t.Run(fmt.Sprint("silent nodes, node timeout ", timeout), func(t *testing.T) {
			inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
				p := w.process(lock.WithNodeTimeout(timeout))
				each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
				for kind, m := range p.kinds() {
					began := time.Now()
					_, err := m.TryLock(bg)
					_ = refused(t, err, lock.ErrNoQuorum, lock.ErrLocked)
					require.NotErrorIs(t, err, context.DeadlineExceeded, "it is not the caller's")
					require.LessOrEqual(t, time.Since(began), tryBound, kind)
					var votes *redlock.NoQuorumError
					require.ErrorAs(t, err, &votes)
					require.Len(t, votes.Silent(), len(w.quorum()))
				}
			})
		})
		t.Run(fmt.Sprint("split votes, node timeout ", timeout), func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				p := w.process(lock.WithNodeTimeout(timeout))
				for i, n := range w.nodes[:len(w.nodes)-1] { // each to a rival of its own
					n.Memory().HSet(keys.Lock, fmt.Sprint("rival ", i), "1")
				}
				for _, delay := range []time.Duration{0, defaultNodeTimeout * 9 / 10} {
					each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, delay) })
					began := time.Now()
					_, err := p.mutex().TryLock(bg)
					e := refused(t, err, lock.ErrLocked, lock.ErrNoQuorum)
					require.NotErrorIs(t, err, context.DeadlineExceeded)
					require.NotEmpty(t, e.Holder)
					require.LessOrEqual(t, time.Since(began), tryBound)
					require.Greater(t, time.Since(began), tryBound/2, "it does not give up at once")
				}
			})
		})
	}
}

// A holder is named that does not have the lock, so the error says that nobody has it.
func TestSplitVotesAreToldAsSuch(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		p := w.process()
		for i, n := range w.quorum() { // each to a rival of its own, and later than those that grant it
			n.Memory().HSet(keys.Lock, fmt.Sprint("rival ", i), "1")
			n.SetDelay(0, 5*time.Millisecond)
		}
		_, err := p.mutex().TryLock(bg)
		e := refused(t, err, lock.ErrLocked, lock.ErrNoQuorum)
		require.NotEmpty(t, e.Holder)
		require.ErrorContains(t, err, "rivals split the votes")
	})
}

// A node to which a release has yet to come, and the holder's acquisition too, names the hold before. How much longer that
// one would last says nothing about the holder.
func TestTheTTLInAnErrorIsThatOfTheHolder(t *testing.T) {
	const uuid = "9f1c6a0e-21c1-4b4e-8a2f-1f8f5f3a7a10:"
	type named struct {
		id  string
		ttl time.Duration
	}
	const holder, before = uuid + "8", uuid + "7"
	const lasts = 5 * time.Second
	for name, answers := range map[string][]named{ // in the order in which they come; a quorum decides
		"another hold is named first":  {{before, 30 * time.Second}, {holder, lasts}, {holder, lasts}},
		"another hold is named second": {{holder, lasts}, {before, 30 * time.Second}, {holder, 2 * time.Second}},
		"another hold is named last":   {{holder, lasts}, {holder, 2 * time.Second}, {before, 30 * time.Second}},
		"the other hold ends first":    {{holder, lasts}, {before, 2 * time.Second}, {holder, 2 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{5}, func(t *testing.T, w *world) {
				p := w.process()
				for i, n := range w.nodes {
					n.SetDelay(0, time.Duration(i)*time.Millisecond)
					if i < len(answers) {
						n.Memory().HSet(keys.Lock, answers[i].id, "1")
						n.Memory().SetTTL(keys.Lock, answers[i].ttl)
					} else {
						n.Silence(true)
					}
				}
				_, err := p.mutex().TryLock(bg)
				e := refused(t, err, lock.ErrLocked, lock.ErrNoQuorum)
				require.Equal(t, holder, e.Holder)
				require.LessOrEqual(t, e.TTL, lasts)
				require.GreaterOrEqual(t, e.TTL, lasts-tryBound, "as long as any node has it")
			})
		})
	}
	t.Run("permits, of which each node names those that end first there", func(t *testing.T) {
		inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
			p := w.process()
			p.Cut(0, true)
			short, err := p.permits(3, lock.WithTTL(lasts), lock.WithoutWatchdog()).TryAcquire(bg, 1)
			require.NoError(t, err)
			_, err = w.process().permits(3).TryAcquire(bg, 2)
			require.NoError(t, err)
			synctest.Wait()
			for i, n := range w.nodes {
				n.SetDelay(0, time.Duration(i)*time.Millisecond)
			}
			_, err = w.process().permits(3).TryAcquire(bg, 2)
			e := refused(t, err, lock.ErrLocked, lock.ErrNoQuorum)
			require.Equal(t, short.ID(), e.Holder)
			require.LessOrEqual(t, e.TTL, lasts)
		})
	})
	t.Run("those who read, after a writer", func(t *testing.T) {
		inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
			reader, err := readwrite.New(w.process().locks, "orders").RLock(bg)
			require.NoError(t, err)
			synctest.Wait()
			w.nodes[0].Flush()
			w.nodes[0].Memory().HSet(keys.Lock, before+"w", "1")
			w.nodes[0].Memory().SetTTL(keys.Lock, 10*defaultTTL)
			for i, n := range w.nodes {
				n.SetDelay(0, time.Duration(i)*time.Millisecond)
			}
			_, err = readwrite.New(w.process().locks, "orders").TryLock(bg)
			e := refused(t, err, lock.ErrLocked, lock.ErrNoQuorum)
			require.Equal(t, reader.ID(), e.Holder)
			require.LessOrEqual(t, e.TTL, defaultTTL)
		})
	})
}

func TestTryLockOfASlowSecondRoundKeepsItsBound(t *testing.T) {
	inVirtualTime(t, []int{5}, func(t *testing.T, w *world) {
		p := w.process(lock.WithNodeTimeout(3 * time.Second))
		for i, n := range w.nodes {
			require.NoError(t, n.Memory().Set(keys.Token(), fmt.Sprint(i+1))) // no three agree
			n.SetDelay(0, 700*time.Millisecond)
		}
		began := time.Now()
		_, err := p.mutex().TryLock(bg)
		_ = refused(t, err, lock.ErrNoQuorum, lock.ErrLocked)
		require.LessOrEqual(t, time.Since(began), tryBound)
		time.Sleep(time.Minute)
		requireHolder(t, "", w.nodes)
	})
}

// excludes is the kind of a holder for whom one of this kind waits.
func excludes(kind string) string {
	if kind == "reader" {
		return "writer"
	}
	return kind
}

// Rights that are taken away may come back, as when a password changes. Who asks for the first time is told at once; who
// knows that somebody has the lock waits on.
func TestALockWaitsOnThoughNodesRefuseItForAWhile(t *testing.T) {
	for _, kind := range []string{"reentrant", "fair", "writer", "reader", "permit"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				l, waiting := w.lock(w.process().lockOf(excludes(kind))), wait(bg, w.process().lockOf(kind))
				p := w.process()
				for _, begins := range []time.Duration{time.Second, 8 * time.Second} { // a waiter in a queue looks after half a minute
					time.Sleep(begins)
					each(w.nodes, func(n *virtual.Node) { n.Refuse(virtual.Name("EVALSHA")) })
					err := lockFor(p.lockOf(kind), time.Second)
					require.ErrorIs(t, err, lock.ErrNoQuorum)
					require.NotErrorIs(t, err, context.DeadlineExceeded)
					require.ErrorContains(t, err, "NOPERM")
					time.Sleep(15 * time.Second)
					require.Empty(t, waiting)
					each(w.nodes, func(n *virtual.Node) { n.Refuse(nil) })
				}
				time.Sleep(time.Second)
				require.NoError(t, l.Unlock(bg))
				require.NoError(t, await(t, waiting).lease.Unlock(bg))
			})
		})
	}
}

// Who may ask for a lock but not queue for it is told so, and does not wait for rights that it has never had.
func TestALockEndsThatMayNotQueue(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		queues := func(args []string) bool {
			if !runs(lua.FairAcquire{})(args) {
				return false
			}
			keys, err := strconv.Atoi(args[2])
			return err == nil && args[3+keys+3] != "" // its ticket
		}
		each(w.nodes, func(n *virtual.Node) { n.Refuse(queues) })
		err := lockFor(w.process().queue(), time.Minute)
		require.ErrorContains(t, err, "NOPERM")
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, l.Unlock(bg))
	})
}

// Whose connections are closed, and for good, waits no longer: nothing can come of it.
func TestALockEndsWhoseRedisClientsAreClosed(t *testing.T) {
	for _, kind := range []string{"reentrant", "fair", "writer", "reader", "permit"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				_ = w.lock(w.process().lockOf(excludes(kind)))
				h := virtual.NewHost(w.nodes)
				clients := h.Clients(t)
				locks, err := lock.NewClient(clients)
				require.NoError(t, err)
				defer locks.Close()
				waiting := wait(bg, (&process{Host: h, locks: locks}).lockOf(kind))
				time.Sleep(time.Second)
				for _, c := range clients {
					require.NoError(t, c.Close())
				}
				g := await(t, waiting)
				require.ErrorIs(t, g.err, lock.ErrNoQuorum)
				require.ErrorIs(t, g.err, redis.ErrClosed)
			})
		})
	}
}

// The wait may end at the very moment of an answer, after it or before, or while this process leaves the name to others
// and does not know who has it. It was behind a holder, unless it ended while no node had told of one.
func TestAWaitThatEndsAtTheMomentOfAnAnswerWasBehindAHolder(t *testing.T) {
	for _, kind := range []string{"reentrant", "fair"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				for range 50 {
					p := w.process()
					held := w.lock(p.kinds()[kind])
					elsewhere := wait(bg, w.process().kinds()[kind])
					time.Sleep(time.Second)
					ctx, cancel := context.WithCancel(bg)
					waiting := wait(ctx, p.kinds()[kind])
					time.Sleep(time.Second) // it is the turn of others by now
					require.NoError(t, held.Unlock(bg))
					var g grant
					select {
					case g = <-elsewhere:
						cancel()
						other := <-waiting
						switch {
						case other.err == nil:
							require.NoError(t, other.lease.Unlock(bg))
						case errors.Is(other.err, lock.ErrNoQuorum):
							e := refused(t, other.err, lock.ErrNoQuorum, lock.ErrLocked)
							require.NotEmpty(t, e.Silent)
						default:
							_ = refused(t, other.err, lock.ErrLocked, lock.ErrNoQuorum)
						}
					case g = <-waiting:
						require.NoError(t, g.lease.Unlock(bg))
						g = <-elsewhere
					}
					cancel()
					require.NoError(t, g.lease.Unlock(bg))
				}
			})
		})
	}
}

// One node that has the name as another kind does not make the lock one that waiting cannot get.
func TestAMinorityOfAnotherKindIsNoReason(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		w.nodes[0].Memory().HSet(keys.Lock, "9f1c6a0e-21c1-4b4e-8a2f-1f8f5f3a7a10:7w", "1")
		held := w.lock(w.process().mutex())
		_, err := w.process().mutex().TryLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked)
		require.NotErrorIs(t, err, lock.ErrKind)
		require.NoError(t, held.Unlock(bg))
	})
}
