package lock_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

// Whoever lets others have the name waits until they can have heard of it, and their requests have come.
func TestProcessesThatAreFarAwayTakeTurns(t *testing.T) {
	for _, trip := range []time.Duration{30 * time.Millisecond, 120 * time.Millisecond} {
		t.Run(trip.String(), func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
				ctx, cancel := context.WithTimeout(bg, 2*time.Minute)
				defer cancel()
				var goroutines sync.WaitGroup
				var mu sync.Mutex
				var holds [3]int
				for i := range holds {
					p := w.process()
					for range 4 {
						goroutines.Go(func() {
							for {
								l, err := p.mutex().Lock(ctx)
								if err != nil {
									return
								}
								mu.Lock()
								holds[i]++
								mu.Unlock()
								time.Sleep(5 * time.Millisecond)
								assert.NoError(t, l.Unlock(bg))
							}
						})
					}
				}
				goroutines.Wait()
				for _, n := range holds {
					require.Greater(t, n, (holds[0]+holds[1]+holds[2])/30, "%v: a tenth of its share", holds)
				}
			})
		})
	}
}

// The others' chance is counted from when their requests can have come, though nobody has said that it is far.
func TestTheOthersChanceIsLongerIfTheNodesAreFar(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const trip = 60 * time.Millisecond
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
		m, other := w.process().mutex(), w.process().mutex()
		l := w.lock(m)
		ctx, cancel := context.WithCancel(bg)
		elsewhere, next := wait(ctx, other), wait(bg, m)
		time.Sleep(time.Second) // both listen by now
		each(w.nodes, func(n *virtual.Node) { n.Mute(true) })
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		l = (<-next).after(t, start, 20*time.Millisecond+3*trip, 20*time.Millisecond+4*trip) // of which its own request takes one, or two
		cancel()
		<-elsewhere
		require.NoError(t, l.Unlock(bg))
	})
}

// A turn is what a process has of a name until another one has it.
type turn struct {
	process     int
	start, last time.Time // its first hold, and its last one
	holds       int
}

// takeTurns has so many goroutines on each host lock one name again and again, until its time is over. Each ends its lease
// by end.
func (w *world) takeTurns(goroutines int, lasts time.Duration, lockOf func(*process) lock.Locker, end func(*lock.Lease), hosts ...*virtual.Host) (turns []turn) {
	var busy sync.WaitGroup
	var mu sync.Mutex
	ctx, cancel := context.WithTimeout(bg, lasts)
	defer cancel()
	for i, h := range hosts {
		p := w.processOn(h)
		for range goroutines {
			busy.Go(func() {
				for {
					l, err := lockOf(p).Lock(ctx)
					if err != nil {
						return
					}
					mu.Lock()
					if n := len(turns); n == 0 || turns[n-1].process != i {
						turns = append(turns, turn{process: i, start: time.Now()})
					}
					now := &turns[len(turns)-1]
					now.holds++
					now.last = time.Now()
					mu.Unlock()
					end(l)
				}
			})
		}
	}
	busy.Wait()
	return turns
}

// unlockSoon is how most leases end.
func unlockSoon(t *testing.T) func(*lock.Lease) {
	return func(l *lock.Lease) {
		time.Sleep(11 * time.Millisecond)
		assert.NoError(t, l.Unlock(bg))
	}
}

// share is takeTurns on hosts that are so far from the nodes. It returns how many turns each of them has had, and the
// longest time without one.
func (w *world) share(goroutines int, lasts time.Duration, lockOf func(*process) lock.Locker, end func(*lock.Lease), trips ...time.Duration) (counts []int, longest time.Duration) {
	start := time.Now()
	var hosts []*virtual.Host
	for _, trip := range trips {
		h := virtual.NewHost(w.nodes)
		h.SetDelay(trip/2, trip-trip/2)
		hosts = append(hosts, h)
	}
	counts, had := make([]int, len(trips)), slices.Repeat([]time.Time{start}, len(trips))
	for _, turn := range w.takeTurns(goroutines, lasts, lockOf, end, hosts...) {
		longest = max(longest, turn.start.Sub(had[turn.process]))
		had[turn.process] = turn.last
		counts[turn.process]++
	}
	for _, last := range had {
		longest = max(longest, start.Add(lasts).Sub(last))
	}
	return counts, longest
}

// Whoever is farther from the nodes than others says so, and gets the time that its messages take.
func TestProcessesAtDifferentDistancesTakeTurns(t *testing.T) {
	const lasts = 20 * time.Second
	for name, trips := range map[string][]time.Duration{
		"3 ms":                     {0, 3 * time.Millisecond, 3 * time.Millisecond},
		"30 ms":                    {2 * time.Millisecond, 30 * time.Millisecond, 30 * time.Millisecond},
		"120 ms":                   {2 * time.Millisecond, 120 * time.Millisecond, 120 * time.Millisecond},
		"several are near":         {time.Millisecond, time.Millisecond, 30 * time.Millisecond},
		"one is farther than most": {time.Millisecond, 10 * time.Millisecond, 60 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				mutex := func(p *process) lock.Locker { return p.mutex() }
				counts, longest := w.share(4, lasts, mutex, unlockSoon(t), trips...)
				t.Log(counts, longest)
				require.LessOrEqual(t, longest, pollBound)
				require.LessOrEqual(t, slices.Max(counts), 3*slices.Min(counts), "%v", counts)
			})
		})
	}
}

// A lease that cannot follow the one before within a tenure follows it in the next one. The others have their chance after as
// long as within one.
func TestLeasesThatCannotFollowEachOtherLeaveOthersTheirChance(t *testing.T) {
	const lasts = 4 * time.Second
	const short = 100 * time.Millisecond
	for how, options := range map[string]func(n int) []lock.Option{
		"expired": func(int) []lock.Option { return []lock.Option{lock.WithoutWatchdog(), lock.WithTTL(short)} },
		"fixed":   func(int) []lock.Option { return []lock.Option{lock.WithoutWatchdog()} },
		"notes":   func(n int) []lock.Option { return []lock.Option{lock.WithNote(fmt.Sprint("call ", n))} },
		"TTLs": func(n int) []lock.Option {
			return []lock.Option{lock.WithTTL(20*time.Second + time.Duration(n)*time.Millisecond)}
		},
		"min hold": func(int) []lock.Option { return []lock.Option{lock.WithMinHold(time.Millisecond)} },
	} {
		for _, trips := range [][]time.Duration{{0, 400 * time.Microsecond}, {0, 30 * time.Millisecond}} {
			t.Run(fmt.Sprint(how, " ", trips), func(t *testing.T) {
				inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
					var calls atomic.Int32
					end := unlockSoon(t)
					if how == "expired" {
						end = func(l *lock.Lease) { <-l.Done() }
					}
					counts, longest := w.share(4, lasts, func(p *process) lock.Locker { return p.mutex(options(int(calls.Add(1)))...) }, end, trips...)
					t.Log(counts, longest)
					require.LessOrEqual(t, longest, pollBound)
					require.LessOrEqual(t, slices.Max(counts), 3*slices.Min(counts), "%v", counts)
				})
			})
		}
	}
}

// Who else waits is asked about at the pace at which it is while a name is passed on.
func TestTheNodesAreSeldomAskedForLeasesThatCannotFollow(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const lasts = time.Second
		p := w.process()
		ctx, cancel := context.WithTimeout(bg, lasts)
		defer cancel()
		var busy sync.WaitGroup
		var holds atomic.Int32
		for range 3 {
			busy.Go(func() {
				for {
					l, err := p.mutex(lock.WithoutWatchdog()).Lock(ctx)
					if err != nil {
						return
					}
					holds.Add(1)
					time.Sleep(time.Millisecond)
					assert.NoError(t, l.Unlock(bg))
				}
			})
		}
		busy.Wait()
		synctest.Wait()
		require.Greater(t, holds.Load(), int32(500))
		for _, n := range w.nodes {
			asked := len(n.Commands(runs(lua.Reserve{})))
			require.Greater(t, asked, int(lasts/(50*time.Millisecond)))
			require.LessOrEqual(t, asked, int(lasts/(25*time.Millisecond))+1)
		}
	})
}

// The name is left alone once for whoever does not come, and not until its mark is gone.
func TestAFarProcessThatHasGoneIsWaitedForOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const trip = 60 * time.Millisecond
		near, far := virtual.NewHost(w.nodes), virtual.NewHost(w.nodes)
		far.SetDelay(trip/2, trip/2)
		p := w.processOn(near)
		ctx, cancel := context.WithCancel(bg)
		var busy sync.WaitGroup
		var mu sync.Mutex
		var idle []time.Duration
		last := time.Now()
		for range 3 {
			busy.Go(func() {
				for {
					l, err := p.mutex().Lock(ctx)
					if err != nil {
						return
					}
					mu.Lock()
					idle = append(idle, time.Since(last))
					mu.Unlock()
					time.Sleep(11 * time.Millisecond)
					mu.Lock()
					last = time.Now()
					mu.Unlock()
					assert.NoError(t, l.Unlock(bg))
				}
			})
		}
		time.Sleep(time.Second)
		other := w.processOn(far)
		hasItsTurn := func() {
			start := time.Now()
			within, over := context.WithTimeout(bg, time.Second)
			defer over()
			l, err := other.mutex().Lock(within)
			require.NoError(t, err, "after %v", time.Since(start))
			require.NoError(t, l.Unlock(bg))
		}
		hasItsTurn()
		time.Sleep(100 * time.Millisecond) // that gap was its own
		mu.Lock()
		idle = nil
		mu.Unlock()
		time.Sleep(5 * time.Second)
		mu.Lock()
		since := slices.Sorted(slices.Values(idle))
		mu.Unlock()
		require.Greater(t, since[len(since)-1], trip, "it was waited for")
		require.Less(t, since[len(since)-2], trip)
		hasItsTurn() // if it comes back
		cancel()
		busy.Wait()
	})
}

// A process is not far because others have come before it, nor because it was overtaken now and then.
func TestWhoIsNotOvertakenIsNotFar(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const trip = 30 * time.Millisecond
		var near [3]*process
		for i := range near {
			near[i] = w.process()
		}
		far := virtual.NewHost(w.nodes)
		far.SetDelay(trip/2, trip/2)
		l := w.lock(near[0].mutex())
		waiting := wait(bg, w.processOn(far).mutex())
		for i := range 5 { // after two of them, each one overtakes it
			for _, n := range w.nodes {
				require.Empty(t, n.Commands(runs(lua.Far{})), i)
			}
			time.Sleep(time.Second)
			require.NoError(t, l.Unlock(bg))
			l = w.lock(near[(i+1)%len(near)].mutex())
		}
		time.Sleep(time.Second)
		for _, n := range w.nodes {
			marks := n.Commands(runs(lua.Far{}))
			require.Len(t, marks, 1)
			require.Equal(t, "50", marks[0].Args[len(marks[0].Args)-1], "half as much again as an attempt, and 5 ms")
		}
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, (<-waiting).lease.Unlock(bg))
	})
}

// A process that leaves the name to those that have waited longer may win it meanwhile. Then nobody of it asks within that
// tenure: when it ends, the request would be ahead of everybody's.
func TestWhoLeavesANameToOthersDoesNotAskIfItsProcessHasWonIt(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		here := virtual.NewHost(w.nodes)
		here.SetDelay(500*time.Microsecond, 500*time.Microsecond)
		p, others := w.processOn(here), []*process{w.process(), w.process()}
		l := w.lock(others[0].mutex())
		first := wait(bg, p.mutex())
		for i := range 3 { // which both others have had before it
			time.Sleep(time.Second)
			require.NoError(t, l.Unlock(bg))
			if i < 2 {
				l = w.lock(others[1-i].mutex())
			}
		}
		l = (<-first).lease
		here.SetDelay(40*time.Microsecond, 40*time.Microsecond)
		next, elsewhere := wait(bg, p.mutex()), wait(bg, others[0].mutex())
		time.Sleep(pollBound) // the process lets them have it
		require.NoError(t, l.Unlock(bg))
		l = (<-elsewhere).lease
		time.Sleep(time.Second)
		require.NoError(t, l.Unlock(bg))
		time.Sleep(60 * time.Microsecond)
		require.Empty(t, next, "it leaves the name to the other one")
		l = w.lock(p.mutex())
		start := time.Now()
		time.Sleep(100 * time.Millisecond) // far more than it leaves to others
		require.Empty(t, w.attempts(start))
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, (<-next).lease.Unlock(bg))
	})
}
