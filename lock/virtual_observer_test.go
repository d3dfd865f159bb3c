package lock_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
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
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

// A witness remembers what it is told.
type witness struct {
	mu sync.Mutex
	testimony
}

type testimony struct {
	calls    map[string]int // which call of Began a hold has begun with
	began    []lock.Acquisition
	waits    []lock.Acquisition
	ended    []lock.Acquisition
	holds    []lock.HoldEnd
	renewals []lock.Renewal
	answers  []lock.NodeAnswer
}

type witnessKey struct{}

func (w *witness) note(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// observer is what tells the witness. Each call must come with the context that Began has made for
// the acquisition that it is about.
func (w *witness) observer(t *testing.T) lock.Observer {
	w.calls = make(map[string]int)
	call := func(ctx context.Context) int {
		if ctx == nil {
			return -1
		}
		n, ok := ctx.Value(witnessKey{}).(int)
		if !ok {
			return -1
		}
		return n
	}
	return lock.Observer{
		Began: func(ctx context.Context, a lock.Acquisition) (mine context.Context) {
			w.note(func() {
				mine = context.WithValue(ctx, witnessKey{}, len(w.began))
				w.began = append(w.began, a)
			})
			return mine
		},
		Waits: func(ctx context.Context, a lock.Acquisition) {
			w.note(func() {
				if n := call(ctx); n < 0 || w.began[n] != a {
					t.Errorf("%s waits: the context is another's", a.Name)
				}
				w.waits = append(w.waits, a)
			})
		},
		Ended: func(ctx context.Context, a lock.Acquisition) {
			w.note(func() {
				if n := call(ctx); n < 0 || w.began[n].Name != a.Name {
					t.Errorf("%s has ended: the context is another's", a.Name)
				} else if a.Lease != nil && a.Handover != lock.HandoverReentry {
					w.calls[a.Lease.ID()] = n
				}
				w.ended = append(w.ended, a)
			})
		},
		HoldEnded: func(ctx context.Context, h lock.HoldEnd) {
			w.note(func() {
				if n, known := w.calls[h.Hold]; !known || call(ctx) != n {
					t.Errorf("hold %s of %s has ended: the context is another's, or nobody was told that it began", h.Hold, h.Name)
				}
				w.holds = append(w.holds, h)
			})
		},
		Renewed:  func(r lock.Renewal) { w.note(func() { w.renewals = append(w.renewals, r) }) },
		Answered: func(a lock.NodeAnswer) { w.note(func() { w.answers = append(w.answers, a) }) },
	}
}

// saw is what it has been told by now.
func (w *witness) saw() testimony {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.testimony
}

// last is the acquisition that ended last, which must be one of so many.
func (w *witness) last(t *testing.T, n int) lock.Acquisition {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	require.Len(t, w.began, n)
	require.Len(t, w.ended, n)
	return w.ended[n-1]
}

func (w *world) witnessed(opts ...lock.ClientOption) (*process, *witness) {
	seen := new(witness)
	return w.process(append(opts, lock.WithObserver(seen.observer(w.t)))...), seen
}

// force ends the lock by force, from another process.
func (w *world) force() {
	w.t.Helper()
	had, err := w.process().mutex().ForceUnlock(bg)
	require.NoError(w.t, err)
	require.True(w.t, had)
}

func TestAnObserverIsToldHowALockCame(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		p, seen := w.witnessed()
		l := w.lock(p.mutex())
		a := seen.last(t, 1)
		require.Equal(t, "reentrant", a.Kind)
		require.Equal(t, "orders", a.Name)
		require.True(t, a.Try)
		require.Same(t, l, a.Lease)
		require.Equal(t, "acquired", a.Outcome())
		require.Equal(t, lock.HandoverFree, a.Handover)
		require.False(t, a.Contended)

		again, err := p.mutex().Lock(l.Context(bg))
		require.NoError(t, err)
		a = seen.last(t, 2)
		require.Equal(t, lock.HandoverReentry, a.Handover)
		require.False(t, a.Try)
		require.NoError(t, again.Unlock(bg))

		next := wait(bg, p.mutex())
		time.Sleep(time.Second)
		require.Len(t, seen.saw().waits, 1)
		require.Len(t, seen.saw().ended, 2, "the third one waits")
		l = passOn(t, l, next)
		a = seen.last(t, 3)
		require.Equal(t, lock.HandoverPassed, a.Handover)
		require.True(t, a.Contended)
		require.Equal(t, time.Second, a.Waited)
		require.Equal(t, time.Now(), a.Start.Add(a.Waited))
		require.Equal(t, a.Start, seen.saw().waits[0].Start, "so one knows which wait is over")

		stranger, saw := w.witnessed()
		woken := wait(bg, stranger.mutex())
		time.Sleep(time.Second)
		require.NoError(t, l.Unlock(bg))
		l = await(t, woken).lease
		a = saw.last(t, 1)
		require.Equal(t, lock.HandoverMessage, a.Handover)
		require.True(t, a.Contended)
		synctest.Wait()

		each(w.nodes, func(n *virtual.Node) { n.Mute(true) })
		polls := wait(bg, p.mutex())
		time.Sleep(10 * time.Second)
		require.NoError(t, l.Unlock(bg))
		l = await(t, polls).lease
		require.Equal(t, lock.HandoverPoll, seen.last(t, 4).Handover)
		require.NoError(t, l.Unlock(bg))
		require.Len(t, seen.saw().waits, 2)
	})
}

func TestAnObserverIsToldHowAPlaceInTheQueueCame(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		p, seen := w.witnessed()
		l := w.lock(w.process().queue())
		woken := wait(bg, p.queue())
		time.Sleep(time.Second + 100*time.Millisecond) // not at the moment of a sign of life
		require.NoError(t, l.Unlock(bg))
		l = await(t, woken).lease
		a := seen.last(t, 1)
		require.Equal(t, "fair", a.Kind)
		require.Equal(t, lock.HandoverMessage, a.Handover)
		require.NoError(t, l.Unlock(bg))
		synctest.Wait()

		l = w.lock(w.process().queue())
		each(w.nodes, func(n *virtual.Node) { n.Mute(true) })
		polls := wait(bg, p.queue())
		time.Sleep(10 * time.Second)
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, await(t, polls).lease.Unlock(bg))
		require.Equal(t, lock.HandoverPoll, seen.last(t, 2).Handover, "a sign of life found it free")
	})
}

func TestAnObserverIsToldWhyAnAcquisitionFailed(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p, seen := w.witnessed()
		outcome := func(ctx context.Context, try bool) string {
			t.Helper()
			call := p.mutex().Lock
			if try {
				call = p.mutex().TryLock
			}
			l, err := call(ctx)
			require.Nil(t, l)
			a := seen.last(t, len(seen.saw().began))
			require.Nil(t, a.Lease)
			require.Equal(t, err, a.Err)
			require.Equal(t, lock.HandoverFree, a.Handover)
			return a.Outcome()
		}
		held := w.lock(w.process().mutex())
		require.Equal(t, "locked", outcome(bg, true))
		late, cancel := context.WithTimeout(bg, time.Second)
		defer cancel()
		require.Equal(t, "timeout", outcome(late, false))
		gone, cancel := context.WithCancel(bg)
		cancel()
		require.Equal(t, "canceled", outcome(gone, false))
		require.NoError(t, held.Unlock(bg))
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		require.Equal(t, "no_quorum", outcome(bg, true))
		waits := len(seen.saw().waits)
		down, cancel := context.WithTimeout(bg, 5*time.Second)
		defer cancel()
		require.Equal(t, "no_quorum", outcome(down, false))
		require.Len(t, seen.saw().waits, waits+1, "for nodes, too")
		each(w.quorum(), func(n *virtual.Node) { n.Silence(false) })
		require.NoError(t, p.locks.Close())
		require.Equal(t, "closed", outcome(bg, true))
		require.Empty(t, seen.saw().holds, "there was none")
	})
}

func TestAnObserverIsToldOnceWhyAHoldEnded(t *testing.T) {
	for name, e := range endings {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				p, seen := w.witnessed()
				start := time.Now()
				l := w.lock(p.mutex(e.opts...))
				parent, cancel := context.WithCancel(bg)
				defer cancel()
				l.Context(parent)
				time.Sleep(time.Second)
				e.end(w, p, l, cancel)
				awaitEnd(t, l)
				took := time.Since(start)
				synctest.Wait()
				require.NotErrorIs(t, l.Unlock(bg), lock.ErrLocked)
				_ = p.locks.Close()
				require.Len(t, seen.saw().holds, 1)
				h := seen.saw().holds[0]
				require.Equal(t, lock.HoldEnd{
					LockKind: lock.LockKind{Kind: "reentrant"},
					Name:     "orders", Hold: l.ID(), Token: l.Token(), Held: took, Reason: e.reason,
				}, h)
			})
		})
	}
}

// Whoever counts holds up and down must come to zero.
func TestEachHoldThatAnObserverIsToldOfEnds(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p, seen := w.witnessed(lock.WithTTL(5 * time.Second))
		var all sync.WaitGroup
		for i := range 60 {
			m := []lock.Locker{
				reentrant.New(p.locks, "a"), fair.New(p.locks, "b"), readwrite.New(p.locks, "c").RLocker(), readwrite.New(p.locks, "c"), nil,
			}[i%5]
			all.Go(func() {
				ctx, cancel := context.WithTimeout(bg, time.Duration(i)*20*time.Millisecond)
				defer cancel()
				if m == nil {
					_ = semaphore.New(p.locks, "d", 2).Do(ctx, 1, func(context.Context) error {
						time.Sleep(50 * time.Millisecond)
						return nil
					})
					return
				}
				l, err := m.Lock(ctx)
				if err != nil {
					return
				}
				if i%7 == 0 {
					if again, err := m.Lock(l.Context(bg)); err == nil {
						defer func() { _ = again.Unlock(bg) }()
					}
				}
				time.Sleep(50 * time.Millisecond)
				if i%6 > 0 {
					_ = l.Unlock(bg)
				}
			})
		}
		all.Wait()
		time.Sleep(time.Second)
		require.NoError(t, p.locks.Close())
		holds := make(map[string]int)
		for _, a := range seen.saw().ended {
			if a.Lease != nil && a.Handover != lock.HandoverReentry {
				holds[a.Lease.ID()]++
			}
		}
		require.Greater(t, len(holds), 10)
		for _, h := range seen.saw().holds {
			require.Equal(t, 1, holds[h.Hold], h.Hold)
			delete(holds, h.Hold)
		}
		require.Empty(t, holds)
		require.Len(t, seen.saw().ended, len(seen.saw().began))
	})
}

// A grant that races the end of its caller's wait is given back. To the caller there was none, and so to an observer.
func TestAHoldThatNobodyWasGivenDoesNotEnd(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p, seen := w.witnessed()
		late := 0
		for range 30 {
			first := w.lock(p.mutex())
			next := wait(bg, p.mutex())
			synctest.Wait()
			require.NoError(t, first.Unlock(bg))
			l := await(t, next).lease // there are tokens, so the next one is passed the lock at once
			ctx, cancel := context.WithCancel(bg)
			next = wait(ctx, p.mutex())
			synctest.Wait()
			require.NoError(t, l.Unlock(bg))
			cancel()
			if g := <-next; g.err == nil {
				require.NoError(t, g.lease.Unlock(bg))
			} else {
				late++
			}
			synctest.Wait()
		}
		require.Positive(t, late, "no grant raced")
		holds := 0
		for _, a := range seen.saw().ended {
			if a.Lease != nil {
				holds++
			}
		}
		require.Len(t, seen.saw().holds, holds)
	})
}

// A message may be the reason for a lock that is had with the second try behind it.
func TestAnObserverIsToldOfTheMessageAndNotOfThePausesBehindIt(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		const trip = 20 * time.Millisecond
		p, seen := w.witnessed()
		l := w.lock(w.process().mutex())
		next := wait(bg, p.mutex())
		time.Sleep(time.Second)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip, 0) })
		require.NoError(t, l.Unlock(bg))
		time.Sleep(trip / 2) // two rivals are there before it, and split the votes
		for i, n := range w.quorum() {
			n.Memory().HSet(keys.Lock, fmt.Sprintf("rival%d:1", i), "1")
		}
		time.Sleep(trip)
		for _, n := range w.quorum() {
			n.Memory().Del(keys.Lock)
		}
		l = await(t, next).lease
		time.Sleep(2 * trip) // every node was asked
		require.NoError(t, l.Unlock(bg))
		a := seen.last(t, 1)
		require.Equal(t, lock.HandoverMessage, a.Handover)
		require.GreaterOrEqual(t, a.Waited, time.Second+3*trip, "it had to try again")
	})
}

func TestAnObserverIsToldOnceOfANodeThatIsLate(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p, seen := w.witnessed()
		require.NoError(t, w.lock(p.mutex()).Unlock(bg))
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(defaultNodeTimeout/2, defaultNodeTimeout) })
		seen.note(func() { seen.answers = nil })
		_, err := p.mutex().TryLock(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		time.Sleep(time.Minute)
		told := make(map[string]int)
		for _, a := range seen.saw().answers {
			if a.Command == "acquire" {
				require.Equal(t, "timeout", a.Outcome)
				told[a.Node]++
			}
		}
		for _, n := range w.nodes {
			require.Equal(t, 1, told[n.Addr()])
		}
	})
}

func TestAnObserverIsToldOfRenewals(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		p, seen := w.witnessed()
		l := w.lock(p.mutex())
		before := l.Deadline()
		time.Sleep(defaultTTL / 3)
		synctest.Wait()
		require.Len(t, seen.saw().renewals, 1)
		r := seen.saw().renewals[0]
		require.True(t, r.Confirmed)
		require.Equal(t, l.ID(), r.Hold)
		require.Equal(t, before, l.Deadline().Add(-validity(defaultTTL)).Add(r.Left), "by that much it was early")
		require.Equal(t, defaultTTL, r.TTL)
		require.Len(t, r.Nodes, 3)
		for i, n := range r.Nodes {
			require.Equal(t, w.nodes[i].Addr(), n.Node)
			require.Contains(t, []string{"yes", "late"}, n.Outcome)
		}
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		awaitEnd(t, l)
		synctest.Wait()
		last := seen.saw().renewals[len(seen.saw().renewals)-1]
		require.False(t, last.Confirmed)
		require.Equal(t, "yes", last.Nodes[0].Outcome)
		require.Equal(t, "timeout", last.Nodes[1].Outcome)
		require.Error(t, last.Nodes[1].Err)
		require.Equal(t, defaultNodeTimeout, last.Took)
	})
}

func TestAnObserverIsToldWhatEachNodeAnswers(t *testing.T) {
	inVirtualTime(t, []int{5}, func(t *testing.T, w *world) {
		const trip = 10 * time.Millisecond
		p, seen := w.witnessed()
		held := w.lock(w.process().mutex())
		synctest.Wait()
		w.nodes[0].Silence(true)
		w.nodes[1].Refuse(acquireRuns)
		w.nodes[2].Memory().Del(keys.Lock)
		w.nodes[3].SetDelay(trip, 0)
		seen.note(func() { seen.answers = nil })
		_, err := p.mutex().TryLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked)
		time.Sleep(time.Second)
		told := make(map[string][]lock.NodeAnswer)
		for _, a := range seen.saw().answers {
			if a.Command == "acquire" {
				told[a.Node] = append(told[a.Node], a)
			}
		}
		for i, outcome := range []string{"timeout", "error", "yes", "no", "no"} {
			answers := told[w.nodes[i].Addr()]
			require.NotEmpty(t, answers, "%d", i)
			require.Equal(t, outcome, answers[0].Outcome, "%d", i)
			require.Equal(t, outcome == "timeout" || outcome == "error", answers[0].Err != nil)
			if i == 3 {
				require.Equal(t, trip, answers[0].Took)
			}
		}
		require.Len(t, told[w.nodes[0].Addr()], len(told[w.nodes[4].Addr()]), "each command is told of once")
		_ = held
	})
}

func TestAnObserverThatPanicsHarmsNobodyAndIsLoggedOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		var log logbook
		seen := new(witness)
		p := w.process(log.option(), lock.WithTTL(3*time.Second), lock.WithObserver(lock.Observer{
			Began:     func(context.Context, lock.Acquisition) context.Context { panic("began") },
			Waits:     func(context.Context, lock.Acquisition) { panic("waits") },
			Ended:     func(context.Context, lock.Acquisition) { panic("ended") },
			HoldEnded: func(context.Context, lock.HoldEnd) { panic("hold ended") },
			Renewed:   func(lock.Renewal) { panic("renewed") },
			Answered:  func(lock.NodeAnswer) { runtime.Goexit() }, // as a test does that fails
		}), lock.WithObserver(seen.observer(t)))
		l := w.lock(p.mutex())
		next := wait(bg, p.mutex())
		time.Sleep(10 * time.Second)
		require.NoError(t, l.Err())
		l = passOn(t, l, next)
		w.force()
		awaitEnd(t, l)
		synctest.Wait()
		require.Len(t, log.lines("an observer has panicked", "level=ERROR", "began"), 1)
		require.Len(t, log.lines("panicked"), 1)
		require.Len(t, seen.saw().ended, 2, "the other one is told everything")
		require.Len(t, seen.saw().holds, 2)
		require.NotEmpty(t, seen.saw().renewals)
	})
}

// I2: a loss waits for nobody.
func TestNoLossWaitsForAnObserver(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		stuck := make(chan struct{})
		defer close(stuck)
		p := w.process(lock.WithObserver(lock.Observer{
			Renewed:   func(lock.Renewal) { <-stuck },
			Answered:  func(lock.NodeAnswer) { <-stuck },
			HoldEnded: func(context.Context, lock.HoldEnd) { <-stuck },
		}))
		leases := w.lockMany(p, 10)
		time.Sleep(5 * defaultTTL)
		require.NoError(t, leases[0].Err(), "renewals neither")
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		var all sync.WaitGroup
		for _, l := range leases {
			all.Go(func() {
				awaitEnd(t, l)
				if time.Now().After(l.Deadline()) {
					t.Errorf("%s: it was told %v late", l.Name(), time.Since(l.Deadline()))
				}
			})
		}
		all.Wait()
		start := time.Now()
		_ = p.locks.Close()
		require.Less(t, time.Since(start), 13*defaultNodeTimeout)
	})
}

func TestAnObserverMayUseLocks(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		var p *process
		var alarms atomic.Int32
		p = w.process(lock.WithObserver(lock.Observer{
			HoldEnded: func(_ context.Context, h lock.HoldEnd) {
				if h.Name == "orders" {
					require.NoError(t, reentrantAt(p, "alarm").Do(bg, func(context.Context) error { alarms.Add(1); return nil }))
				}
			},
		}))
		require.NoError(t, w.lock(p.mutex()).Unlock(bg))
		require.EqualValues(t, 1, alarms.Load(), "Unlock waits for it")
		l := w.lock(p.mutex())
		w.force()
		awaitEnd(t, l)
		time.Sleep(time.Second)
		require.EqualValues(t, 2, alarms.Load())
	})
}

func TestAnObserverMayCloseTheClient(t *testing.T) {
	for name, observe := range map[string]func(closes func()) lock.Observer{
		"when a call begins": func(closes func()) lock.Observer {
			return lock.Observer{Began: func(ctx context.Context, a lock.Acquisition) context.Context {
				if !a.Try {
					closes()
				}
				return ctx
			}}
		},
		"when a call has ended": func(closes func()) lock.Observer {
			return lock.Observer{Ended: func(_ context.Context, a lock.Acquisition) {
				if !a.Try {
					closes()
				}
			}}
		},
		"when a hold has ended": func(closes func()) lock.Observer {
			return lock.Observer{HoldEnded: func(context.Context, lock.HoldEnd) { closes() }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				var p *process
				closed := 0
				p = w.process(lock.WithObserver(observe(func() { closed++; _ = p.locks.Close() })))
				held := w.lock(reentrantAt(p, "stock"))
				if l, err := p.mutex().Lock(bg); err == nil {
					_ = l.Unlock(bg)
				} else {
					require.ErrorIs(t, err, lock.ErrClosed)
				}
				require.Positive(t, closed)
				require.ErrorIs(t, held.Err(), lock.ErrClosed)
				_, err := p.mutex().Lock(bg)
				require.ErrorIs(t, err, lock.ErrClosed)
			})
		})
	}
}

// The client is closed between a grant and what the observer is told of it.
func TestAClientIsClosedWhileAnObserverIsTold(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		seen := new(witness)
		o := seen.observer(t)
		ended := o.Ended
		o.Ended = func(ctx context.Context, a lock.Acquisition) {
			time.Sleep(time.Second)
			ended(ctx, a)
		}
		p := w.process(lock.WithObserver(o))
		granted := wait(bg, p.mutex())
		time.Sleep(time.Second / 2)
		require.NoError(t, p.locks.Close())
		require.NoError(t, (<-granted).err)
		require.Len(t, seen.saw().holds, 1)
		require.Equal(t, lock.ReasonClosed, seen.saw().holds[0].Reason)
	})
}

func TestAnObserverThatEndsTheGoroutineOfAWaiterLeavesNoPlace(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process(lock.WithObserver(lock.Observer{
			Waits: func(context.Context, lock.Acquisition) { runtime.Goexit() },
		}))
		for _, m := range []lock.Locker{p.mutex(), fair.New(p.locks, "stock")} {
			held := w.lock(m)
			go func() { _, _ = m.Lock(bg) }() // as a test does that fails
			synctest.Wait()
			require.NoError(t, held.Unlock(bg))
			l, err := m.Lock(bg)
			require.NoError(t, err)
			require.NoError(t, l.Unlock(bg))
		}
	})
}

// A renewal that is under way when the lock is given back has not failed.
// Nor a lock: nobody is left who could unlock it.
func TestAnObserverThatEndsTheGoroutineOfAHolderLeavesNoLock(t *testing.T) {
	for name, take := range map[string]func(p *process){
		"Lock":    func(p *process) { _, _ = p.mutex().Lock(bg) },
		"TryLock": func(p *process) { _, _ = p.queue().TryLock(bg) },
		"Do":      func(p *process) { _ = p.mutex().Do(bg, func(context.Context) error { return nil }) },
		"together": func(p *process) {
			_, _ = lock.TryTogether(bg, reentrantAt(p, "stock"), p.mutex(), reentrantAt(p, "cash"))
		},
		"re-entry": func(p *process) {
			ctx := lock.WithOwner(bg)
			l, err := p.mutex(lock.WithNote("first")).Lock(ctx)
			if err == nil {
				defer func() { _ = l.Unlock(bg) }()
				_, _ = p.mutex().Lock(ctx)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				most := int32(1)
				if name == "together" || name == "re-entry" {
					most = 2 // who comes next is told of what was granted before
				}
				var told atomic.Int32
				p := w.process(lock.WithObserver(lock.Observer{Ended: func(context.Context, lock.Acquisition) {
					if told.Add(1) == most {
						runtime.Goexit()
					}
				}}))
				done := make(chan struct{})
				go func() { defer close(done); take(p) }()
				<-done
				synctest.Wait()
				require.Equal(t, most, told.Load())
				for _, name := range []string{"orders", "stock", "cash"} {
					_, err := reentrantAt(w.process(), name).TryLock(bg)
					require.NoError(t, err)
				}
				require.NoError(t, p.locks.Shutdown(bg))
			})
		})
	}
}

func TestARenewalThatAnUnlockOvertakesHasNotFailed(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const trip = 10 * time.Millisecond
		p, seen := w.witnessed()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
		l := w.lock(p.mutex())
		begun := len(renewals(w.nodes[0]))
		for len(renewals(w.nodes[0])) == begun {
			time.Sleep(trip / 10)
		}
		require.NoError(t, l.Unlock(bg)) // its answers are on their way
		time.Sleep(time.Second)
		for _, r := range seen.saw().renewals {
			require.True(t, r.Confirmed)
		}
	})
}

// More happens while an observer is told of what was before.
func TestASlowObserverIsToldOnceAndInOrder(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		const holds = 300
		var told []string // by one goroutine at a time
		p := w.process(lock.WithObserver(lock.Observer{Answered: func(a lock.NodeAnswer) {
			time.Sleep(time.Millisecond)
			told = append(told, a.Command)
		}}))
		for i := range holds {
			require.NoError(t, w.lock(p.mutex()).Unlock(bg))
			time.Sleep(time.Duration(i%5) * time.Millisecond) // rounds of all lengths
		}
		require.NoError(t, p.locks.Close())
		require.Len(t, told, 1+2*holds)
		require.Equal(t, "connect", told[0])
		for i, command := range told[1:] {
			require.Equal(t, []string{"acquire", "release"}[i%2], command, "%d", i)
		}
	})
}

func TestWhatASlowObserverMissesIsLogged(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		const most, holds = 50, 60
		var log logbook
		slow := make(chan struct{})
		seen := new(witness)
		o := seen.observer(t)
		answered := o.Answered
		o.Answered = func(a lock.NodeAnswer) { <-slow; answered(a) }
		p := w.process(log.option(), lock.WithObserver(o))
		lock.SetMaxNews(p.locks, most)
		for range holds {
			require.NoError(t, w.lock(p.mutex()).Unlock(bg))
		}
		l := w.lock(p.mutex())
		w.force()
		awaitEnd(t, l)
		close(slow)
		time.Sleep(time.Second)
		require.Len(t, seen.saw().holds, holds+1, "an end is never left out")
		require.Len(t, log.lines("an observer is too slow"), 1)
		require.Less(t, len(seen.saw().answers), 2*most)
	})
}

func TestTheLogTellsOfRenewalsThatCameLate(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		var log logbook
		p := w.process(log.option(), lock.WithLabel("billing"))
		l := w.lock(p.mutex(lock.WithNote("nightly export")))
		time.Sleep(long)
		require.Empty(t, log.lines("renewed late"))
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		time.Sleep(time.Until(l.Deadline()) - defaultTTL/4)
		each(w.quorum(), func(n *virtual.Node) { n.Silence(false) })
		time.Sleep(defaultTTL)
		require.NoError(t, l.Err())
		require.Len(t, log.lines("lease was renewed late", "level=WARN", "name=orders", l.ID(), "token="+tokenText(l), "label=billing", `note="nightly export"`, "left="), 1)
		w.force()
		awaitEnd(t, l)
		synctest.Wait()
		require.Len(t, log.lines("lease lost", "name=orders", l.ID(), "token="+tokenText(l), "label=billing", `note="nightly export"`, lock.ReasonForced.String()), 1)
	})
}

func TestWaitingAndHoldingAreRegionsOfATrace(t *testing.T) {
	// Taken from outside, as its own goroutines are in no bubble.
	var taken bytes.Buffer
	require.NoError(t, trace.Start(&taken), "is this test run traced already?")
	stop := sync.OnceFunc(trace.Stop)
	defer stop()
	var id string
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex())
		id = l.ID()
		next := wait(bg, p.mutex())
		synctest.Wait()
		require.True(t, labelled("wait"))
		passed := passOn(t, l, next)
		synctest.Wait()
		require.False(t, labelled("wait"))
		time.AfterFunc(time.Second, func() { _ = passed.Unlock(bg) })
		l, err := p.mutex().Lock(bg)
		require.NoError(t, err)
		require.False(t, labelled("wait"), "it does not wait any more")
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, p.mutex().Do(bg, func(context.Context) error {
			require.True(t, labelled("hold"))
			return nil
		}))
		require.False(t, labelled("hold"))
	})
	stop()
	for _, text := range []string{"holdfast.wait", "holdfast.hold", id} {
		require.Contains(t, taken.String(), text)
	}
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		require.NoError(t, w.process().mutex().Do(bg, func(context.Context) error {
			require.False(t, labelled("hold"), "nobody traces any more")
			return nil
		}))
	})
}

func labelled(what string) bool {
	var s bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&s, 1)
	return strings.Contains(s.String(), `"holdfast":"`+what+`"`) && strings.Contains(s.String(), `"lock":"orders"`)
}

// That a node does not have a hold is no error of that node.
func TestAnObserverIsToldThatANodeLacksAHold(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		p, seen := w.witnessed()
		l := w.lock(p.mutex())
		synctest.Wait()
		w.nodes[0].Memory().Del(keys.Lock)
		time.Sleep(defaultTTL / 2)
		none := 0
		for _, a := range seen.saw().answers {
			require.NotEqual(t, "error", a.Outcome, a.Command)
			require.NoError(t, a.Err)
			if a.Command == "extend" && a.Outcome == "no" {
				none++
			}
		}
		require.Positive(t, none)
		require.NoError(t, l.Unlock(bg))
	})
}

// Of two that read together one is lost, and the other one goes on: observers are told of the end of the one.
func TestAnObserverIsToldOfOneThatIsLostAlone(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p, seen := w.witnessed()
		m := readwrite.New(p.locks, "orders")
		first, err := m.RLock(bg)
		require.NoError(t, err)
		second, err := m.RLock(bg)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(bg)
		second.Context(ctx)
		cancel()
		time.Sleep(3 * defaultTTL)
		require.NoError(t, first.Err())
		require.ErrorIs(t, second.Err(), lock.ErrLost)
		require.Len(t, seen.saw().holds, 1)
		require.NoError(t, first.Unlock(bg))
	})
}
