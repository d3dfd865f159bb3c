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
	"github.com/holdfast-go/holdfast/lua"
)

// line has so many Locks wait, one after the other, and tells their grants in turn.
func line(m lock.Locker, waiters int) <-chan grant {
	grants := make(chan grant, waiters)
	for range waiters {
		go func() {
			l, err := m.Lock(bg)
			grants <- grant{lease: l, err: err, at: time.Now()}
		}()
		synctest.Wait()
	}
	return grants
}

// ofEitherKind runs f over so many nodes with each kind of lock.
func ofEitherKind(t *testing.T, sizes []int, f func(t *testing.T, w *world, of func(*process) lock.Locker)) {
	t.Helper()
	for kind, of := range map[string]func(*process) lock.Locker{
		"reentrant": func(p *process) lock.Locker { return p.mutex() },
		"fair":      func(p *process) lock.Locker { return p.queue() },
	} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, sizes, func(t *testing.T, w *world) { f(t, w, of) })
		})
	}
}

func TestHandOverInsideAProcessTakesOneRoundTrip(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		const trip, waiters = 20 * time.Millisecond, 21
		p := w.process()
		l := w.lock(p.mutex())
		grants := line(p.mutex(), waiters)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip, 0) })
		for i := range waiters {
			start := time.Now()
			require.NoError(t, l.Unlock(bg))
			// The attempt leaves with the release. The first time, a connection is made.
			latest := trip
			if i == 0 {
				latest = 3 * trip
			}
			l = (<-grants).after(t, start, trip, latest)
			time.Sleep(time.Millisecond)
		}
	})
}

func TestHandOversInsideAProcessWakeNobodyElse(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		const waiters = 10
		p := w.process()
		l := w.lock(p.mutex())
		grants := line(p.mutex(), waiters)
		other := wait(bg, w.process().mutex())
		synctest.Wait()
		start := time.Now()
		time.Sleep(time.Millisecond)
		for range waiters {
			require.NoError(t, l.Unlock(bg))
			l = (<-grants).after(t, start, 0, time.Second)
		}
		synctest.Wait()
		for _, n := range w.nodes {
			attempts := slices.DeleteFunc(n.Commands(acquireRuns), func(c virtual.Command) bool { return !c.At.After(start) })
			require.LessOrEqual(t, len(attempts), waiters, n.Addr())
		}
		// The last one has nobody behind it here.
		last := time.Now()
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, (<-other).after(t, last, 0, 0).Unlock(bg))
	})
}

func TestWhoWasToHaveTheLockAndGivesUpTellsOtherProcesses(t *testing.T) {
	ofEitherKind(t, []int{1, 3, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		const trip = 50 * time.Millisecond
		p := w.process()
		l := w.lock(of(p))
		ctx, cancel := context.WithCancel(bg)
		here := wait(ctx, of(p))
		synctest.Wait()
		other := wait(bg, of(w.process()))
		// No sign of life is on its way: what is sent beside one may need a new connection.
		time.Sleep(time.Minute + 100*time.Millisecond)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip, 0) })
		start := time.Now()
		time.AfterFunc(trip/2, cancel) // what it sends is on its way
		require.NoError(t, l.Unlock(bg))
		require.ErrorIs(t, (<-here).err, context.Canceled)
		// Its attempt, its release, the message, and the other's attempt.
		require.NoError(t, (<-other).after(t, start, trip, 6*trip).Unlock(bg))
	})
}

func TestAProcessThatHoldsALockForLongTellsTheOthersOfEachRelease(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		const waiters = 40
		p := w.process()
		l := w.lock(p.mutex())
		grants := line(p.mutex(), waiters)
		other := wait(bg, w.process().mutex())
		start := time.Now()
		for range waiters {
			time.Sleep(2 * time.Second)
			require.NoError(t, l.Unlock(bg))
			synctest.Wait()
			select {
			case g := <-other:
				require.NoError(t, g.after(t, start, 0, time.Minute).Unlock(bg))
				return
			case g := <-grants:
				l = g.after(t, start, 0, time.Hour)
			}
		}
		t.Fatal("the other process had no chance")
	})
}

// Others are to have an even chance now and then: only where there are any does it cost time.
func TestAProcessThatIsAloneWaitsForNobody(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		const trip, waiters = 800 * time.Microsecond, 150 // near: no connections are made on the way
		p := w.process()
		l := w.lock(p.mutex())
		grants := line(p.mutex(), waiters)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip, 0) })
		slow := 0
		for range waiters {
			start := time.Now()
			require.NoError(t, l.Unlock(bg))
			if l = (<-grants).after(t, start, trip, time.Second); time.Since(start) > trip {
				slow++
			}
			time.Sleep(time.Millisecond) // the next one is asleep then
		}
		require.LessOrEqual(t, slow, 2, "for a connection, and to learn that nobody else listens")
	})
}

func TestLossOfALeaseLetsTheNextOneOfItsProcessTryAtOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex(lock.WithoutWatchdog()))
		time.Sleep(time.Until(l.Deadline()) - 500*time.Millisecond)
		next := wait(bg, p.mutex())
		awaitEnd(t, l)
		(<-next).after(t, l.Deadline(), 0, 0)
	})
}

// What the others' chance costs where no message arrives: a moment, and not a poll.
func TestAChanceThatNobodyIsToldOfIsAMoment(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		l := w.lock(m)
		next := wait(bg, m)
		time.Sleep(time.Second) // it listens by now
		each(w.nodes, func(n *virtual.Node) { n.Mute(true) })
		for range 100 {
			behind := wait(bg, m)
			time.Sleep(100 * time.Millisecond)
			start := time.Now()
			require.NoError(t, l.Unlock(bg))
			l = (<-next).after(t, start, 0, 21*time.Millisecond)
			next = behind
		}
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, (<-next).lease.Unlock(bg))
	})
}

// Who only polls, or whose messages do not arrive, listens to nothing.
func TestAProcessThatSeemsAloneLeavesAChanceNowAndThen(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		const trip, waiters = 800 * time.Microsecond, 200
		p := w.process()
		l := w.lock(p.mutex())
		grants := line(p.mutex(), waiters)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip, 0) })
		last, chances := time.Now(), 0
		for range waiters {
			time.Sleep(100 * time.Millisecond)
			start := time.Now()
			require.NoError(t, l.Unlock(bg))
			if l = (<-grants).after(t, start, trip, time.Second); time.Since(start) > trip {
				last = time.Now()
				chances++
			}
			require.Less(t, time.Since(last), 4200*time.Millisecond, "a poll, and a second until others are told")
		}
		require.LessOrEqual(t, chances, 8)
	})
}

func TestWhoComesToAProcessThatWasAloneHasAChance(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		const trip, alone, chances = 800 * time.Microsecond, 40, 30
		const waiters = alone + 33*chances
		p := w.process()
		l := w.lock(p.mutex())
		grants := line(p.mutex(), waiters)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip, 0) })
		var other <-chan grant
		for i, last := 0, 0; i < waiters; i++ {
			if i == alone {
				other, last = wait(bg, w.process().mutex()), i
				time.Sleep(10 * time.Millisecond) // it listens then
			}
			start := time.Now()
			require.NoError(t, l.Unlock(bg))
			select {
			case g := <-other:
				require.NoError(t, g.after(t, start, 0, time.Second).Unlock(bg))
				return
			case g := <-grants:
				l = g.after(t, start, 0, time.Second)
			}
			if i > alone {
				if time.Since(start) > trip {
					last = i
				}
				require.LessOrEqual(t, i-last, 33, "they learn of it, and then all have an even chance")
			}
			time.Sleep(time.Millisecond)
		}
		t.Fatal("the other process had no chance")
	})
}

// A node that does not know the release by its hash runs it after the attempt that was
// sent with it. Nobody is told of that release.
func TestHandOverThroughNodesThatHaveForgottenTheReleaseIsAsQuick(t *testing.T) {
	ofEitherKind(t, []int{1, 3, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		p := w.process()
		l := w.lock(of(p))
		grants := line(of(p), 1)
		time.Sleep(time.Minute)
		for _, c := range p.Clients(t) {
			require.NoError(t, c.ScriptFlush(bg).Err())
			require.NoError(t, c.ScriptLoad(bg, lua.Acquire{}.Call().Script().Source).Err())
			require.NoError(t, c.ScriptLoad(bg, lua.FairAcquire{}.Call().Script().Source).Err())
			require.NoError(t, c.Close())
		}
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		l = (<-grants).after(t, start, 0, 100*time.Millisecond)
		require.NoError(t, l.Unlock(bg))
	})
}
