package lock_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/redlock"
)

// lookJitter is how much later than a key's end a waiter may look after it, to the
// whole millisecond in which nodes tell what it has left.
const lookJitter = 11 * time.Millisecond

// attempts is when anybody tried to take the lock. A node may be left out of one that
// the others have decided.
func (w *world) attempts(since time.Time) []time.Time {
	var at []time.Time
	for _, n := range w.nodes {
		for _, c := range n.Commands(acquireRuns) {
			if c.At.After(since) {
				at = append(at, c.At)
			}
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	return slices.Compact(at)
}

func TestWaitEndsWithItsContext(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		ctx, cancel := context.WithTimeout(bg, time.Minute+time.Millisecond)
		defer cancel()
		start := time.Now()
		g := <-wait(ctx, w.process().mutex())
		require.Equal(t, time.Minute+time.Millisecond, g.at.Sub(start))
		require.ErrorIs(t, g.err, context.DeadlineExceeded)
		var refused *lock.AcquireError
		require.ErrorAs(t, g.err, &refused)
		require.Equal(t, l.ID(), refused.Holder)
		require.Equal(t, g.at.Sub(start), refused.Waited)

		ctx, cancel = context.WithCancel(bg)
		waiting := wait(ctx, w.process().mutex())
		time.Sleep(time.Minute)
		cancel()
		synctest.Wait()
		require.ErrorIs(t, (<-waiting).err, context.Canceled)
	})
}

func TestWaitOnNodesThatDoNotAnswerEndsANodeTimeoutAfterItsContext(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				m := w.process().mutex()
				each(w.quorum(), fault)
				for _, patience := range []time.Duration{0, 50 * time.Millisecond, 10 * time.Second} {
					ctx, cancel := context.WithTimeout(bg, patience)
					start := time.Now()
					l, err := m.Lock(ctx)
					cancel()
					require.Nil(t, l)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.LessOrEqual(t, time.Since(start), patience+defaultNodeTimeout)
					if patience > time.Second {
						require.ErrorIs(t, err, redlock.ErrNoQuorum, "it tells why")
					}
				}
			})
		})
	}
}

func TestReleaseWakesAtOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		waiting := wait(bg, w.process().mutex())
		time.Sleep(2 * time.Minute)
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		(<-waiting).after(t, start, 0, 0)
	})
}

func TestLostWakeUpCostsNoMoreThanAPoll(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		waiting := wait(bg, w.process().mutex())
		time.Sleep(2 * time.Minute)
		each(w.nodes, func(n *virtual.Node) { n.Mute(true) })
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		(<-waiting).after(t, start, time.Nanosecond, pollBound)
	})
}

func TestMessageOfAMinorityWakesAfterAMoment(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		waiting := wait(bg, w.process().mutex())
		time.Sleep(2 * time.Minute)
		each(w.quorum(), func(n *virtual.Node) { n.Mute(true) })
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		(<-waiting).after(t, start, time.Nanosecond, 10*time.Millisecond)
	})
}

func TestWaiterLooksNoMoreThanItMust(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		w.lock(w.process().mutex())
		wait(bg, w.process().mutex())
		time.Sleep(time.Second)
		last := time.Now()
		time.Sleep(long)
		looks := w.attempts(last)
		for _, at := range looks {
			require.LessOrEqual(t, at.Sub(last), pollBound)
			last = at
		}
		require.LessOrEqual(t, len(looks), int(long/(2*time.Second)))
	})
}

func TestCrashedHolderBlocksNoLongerThanItsTTL(t *testing.T) {
	for name, crash := range map[string]func(*process){
		"cut off": func(p *process) { p.Silence(true) },
		"killed":  func(p *process) { p.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				alice := w.process()
				start := time.Now()
				l := w.lock(alice.mutex(lock.WithTTL(10*time.Second), lock.WithoutWatchdog()))
				waiting := wait(bg, w.process().mutex())
				synctest.Wait()
				crash(alice)
				next := (<-waiting).after(t, start, 10*time.Second, 10*time.Second+lookJitter)
				require.Greater(t, next.Token(), l.Token())
			})
		})
	}
}

func TestProcessesThatSplitTheVotesPauseAtRandom(t *testing.T) {
	inVirtualTime(t, []int{5}, func(t *testing.T, w *world) {
		// Nobody has a quorum, nor can have one.
		for i, holder := range []string{"x:1", "x:1", "y:1"} {
			w.nodes[i].Memory().HSet(keys.Lock, holder, "1")
		}
		free := w.nodes[3:]
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		start := time.Now()
		waiting := wait(ctx, w.process().mutex())
		time.Sleep(2 * time.Minute)
		var pauses []time.Duration
		last := start
		for _, at := range w.attempts(start) {
			pauses = append(pauses, at.Sub(last))
			last = at
		}
		requireHolder(t, "", free) // a minority is given back at once
		// From 5 ms to 500 ms, each by chance up to 90 % shorter or longer.
		require.LessOrEqual(t, pauses[0], 9500*time.Microsecond)
		longest, sum := time.Duration(0), time.Duration(0)
		for _, p := range pauses[20:] {
			longest, sum = max(longest, p), sum+p
			require.LessOrEqual(t, p, 950*time.Millisecond)
			require.GreaterOrEqual(t, p, 50*time.Millisecond-slack)
		}
		require.Greater(t, longest, 800*time.Millisecond)
		require.InDelta(t, 500*time.Millisecond, sum/time.Duration(len(pauses)-20), float64(120*time.Millisecond))

		w.nodes[2].Flush()
		freed := time.Now()
		(<-waiting).after(t, freed, 0, 950*time.Millisecond)
	})
}

func TestClosedClientEndsItsWaiters(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		w.lock(w.process().mutex())
		p := w.process()
		var waiting []<-chan grant
		for range 10 {
			waiting = append(waiting, wait(bg, p.mutex()), wait(bg, p.queue()))
		}
		time.Sleep(time.Minute)
		start := time.Now()
		require.NoError(t, p.locks.Close())
		require.Equal(t, start, time.Now())
		for _, c := range waiting {
			g := <-c
			require.ErrorIs(t, g.err, lock.ErrClosed)
			require.Equal(t, start, g.at)
		}
	})
}

// Only the first one has to ask again when the subscription is confirmed: a release before that has told nobody.
func TestWhoIsNextAsksOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		holder, p := w.process(), w.process()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(time.Millisecond, time.Millisecond) }) // all are sent what is decided by some
		w.lock(holder.mutex())
		ctx, cancel := context.WithCancel(bg)
		first := wait(ctx, p.mutex())
		synctest.Wait()
		next := wait(bg, p.mutex())
		time.Sleep(time.Second)
		require.Len(t, since(w.nodes[0], time.Now().Add(-900*time.Millisecond), acquireRuns), 0)
		require.Len(t, w.nodes[0].Commands(acquireRuns), 3, "the holder's, and two of the first one")
		start := time.Now()
		cancel()
		require.Error(t, (<-first).err)
		time.Sleep(time.Second)
		require.Len(t, since(w.nodes[0], start.Add(-time.Nanosecond), acquireRuns), 1)
		require.NoError(t, p.locks.Close())
		require.Error(t, (<-next).err)
	})
}

// Close ends the hold and its waiters together, and the waiters still say what they waited for.
func TestWhoWaitsBehindAHoldOfAClientThatClosesSaysSo(t *testing.T) {
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				p := w.process()
				locker := p.kinds()[kind]
				held := w.lock(locker)
				var waiting []<-chan grant
				for range 3 {
					waiting = append(waiting, wait(bg, locker))
				}
				synctest.Wait()
				require.NoError(t, p.locks.Close())
				for _, c := range waiting {
					err := (<-c).err
					require.ErrorIs(t, err, lock.ErrClosed)
					e := refused(t, err, lock.ErrLocked, lock.ErrNoQuorum)
					require.Equal(t, held.ID(), e.Holder)
					require.True(t, e.Own)
				}
			})
		})
	}
}

// Others may have taken for the holder who gave up while a quorum granted it the lock. They
// are told when it is free.
func TestEndOfAnAttemptThatWasGivenUpIsTold(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		ctx, cancel := context.WithTimeout(bg, 700*time.Millisecond)
		defer cancel()
		p := w.process(lock.WithNodeTimeout(5 * time.Second))
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, time.Second) })
		start := time.Now()
		gone := wait(ctx, p.mutex())
		synctest.Wait()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
		next := wait(bg, w.process().mutex())
		require.ErrorIs(t, (<-gone).err, context.DeadlineExceeded)
		(<-next).after(t, start, time.Second, time.Second)
	})
}

// Whoever gives up is told why it has not got the lock, however early that is.
func TestWhoGivesUpInAnOutageIsToldOfIt(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		each(w.quorum(), func(n *virtual.Node) { n.Pause() })
		for name, m := range map[string]lock.Locker{"reentrant": p.mutex(), "fair": p.queue()} {
			for _, patience := range []time.Duration{300 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second} {
				ctx, cancel := context.WithTimeout(bg, patience)
				_, err := m.Lock(ctx)
				cancel()
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, err, redlock.ErrNoQuorum, "%s after %v", name, patience)
			}
		}
		each(w.quorum(), func(n *virtual.Node) { n.Resume() })
	})
}
