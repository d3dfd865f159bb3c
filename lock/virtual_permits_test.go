package lock_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
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
	"github.com/holdfast-go/holdfast/semaphore"
)

var (
	permitAcquireRuns = runs(lua.PermitAcquire{})
	permitReserveRuns = runs(lua.PermitReserve{})
	permitReleaseRuns = runs(lua.PermitRelease{})
)

// permits is the semaphore that these tests are about.
func (p *process) permits(n int, opts ...lock.Option) *semaphore.Semaphore {
	return semaphore.New(p.locks, "orders", n, opts...)
}

// A permitted is what became of an Acquire.
type permitted struct {
	*semaphore.Permit
	err error
	at  time.Time
}

// acquire has another goroutine acquire n permits. It returns once that waits, if it does.
func acquire(ctx context.Context, s *semaphore.Semaphore, n int) <-chan permitted {
	c := make(chan permitted, 1)
	go func() {
		p, err := s.Acquire(ctx, n)
		c <- permitted{p, err, time.Now()}
	}()
	synctest.Wait()
	return c
}

// granted is what c came to, which has been granted by now.
func granted(t *testing.T, c <-chan permitted) permitted {
	t.Helper()
	synctest.Wait()
	select {
	case g := <-c:
		require.NoError(t, g.err)
		return g
	default:
		require.Fail(t, "it waits")
		return permitted{}
	}
}

func requireBlocked(t *testing.T, c <-chan permitted) {
	t.Helper()
	synctest.Wait()
	select {
	case g := <-c:
		require.Fail(t, "it does not wait", "%v %v", g.Permit, g.err)
	default:
	}
}

// commands counts the runs of a script on all nodes.
func (w *world) commands(match func([]string) bool) (n int) {
	for _, node := range w.nodes {
		n += len(node.Commands(match))
	}
	return n
}

// requireQueued requires that so many wait on the nodes.
func requireQueued(t *testing.T, s *semaphore.Semaphore, n int) {
	t.Helper()
	synctest.Wait()
	state, err := s.Inspect(bg)
	require.NoError(t, err)
	require.Len(t, state.Queue, n)
}

// A permit that is given back goes to the first who waits in the process, with its slots, a token of its own, and without
// a command but for tokens; and his place on the nodes is taken away.
func TestPermitsArePassedOnWithoutACommand(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		s := p.permits(2)
		first, second := granted(t, acquire(bg, s, 1)), granted(t, acquire(bg, s, 1))
		var waiters []<-chan permitted
		for range 5 {
			waiters = append(waiters, acquire(bg, s, 1))
			time.Sleep(time.Millisecond)
		}
		requireQueued(t, s, 5)
		asked := w.commands(permitAcquireRuns)
		last := map[int]permitted{first.Slots()[0]: first, second.Slots()[0]: second}
		for i, c := range waiters {
			slot := i % 2
			before := last[slot]
			require.NoError(t, before.Release(bg))
			next := granted(t, c)
			require.Equal(t, before.Slots(), next.Slots())
			require.Greater(t, next.Token(), before.Token())
			last[slot] = next
		}
		require.NotEqual(t, last[0].Token(), last[1].Token())
		require.Equal(t, asked, w.commands(permitAcquireRuns), "nobody asks for a permit")
		require.Equal(t, 2*len(w.nodes), w.commands(permitReserveRuns), "one reserve for each of two permits")
		requireQueued(t, s, 0)
		require.NoError(t, last[0].Release(bg))
		require.NoError(t, last[1].Release(bg))
		time.Sleep(time.Second)
		each(w.nodes, func(n *virtual.Node) {
			require.False(t, n.Memory().Exists(keys.Lock))
			require.False(t, n.Memory().Exists(keys.Queue()))
		})
	})
}

// A request for many at the head is passed by nobody, and what is given back is not passed on over it.
func TestABigRequestIsNotPassedWithinAProcess(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		s := w.process().permits(2)
		first, second := granted(t, acquire(bg, s, 1)), granted(t, acquire(bg, s, 1))
		small := acquire(bg, s, 1)
		big := acquire(bg, s, 2)
		late := acquire(bg, s, 1)
		require.NoError(t, first.Release(bg))
		third := granted(t, small)
		require.NoError(t, second.Release(bg))
		requireBlocked(t, big)
		requireBlocked(t, late)
		require.NoError(t, third.Release(bg))
		all := granted(t, big)
		requireBlocked(t, late)
		require.NoError(t, all.Release(bg))
		require.NoError(t, granted(t, late).Release(bg))
	})
}

// Permits that go from hand to hand in one process go to another that wants one within maxReign, and to its first
// before any that has come after.
func TestPermitsGoToAnotherProcessInTime(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const workers, work = 12, 2 * time.Millisecond
		here, there := w.process(), w.process()
		s := here.permits(2)
		ctx, stop := context.WithCancel(bg)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer stop()
		var holds atomic.Int64
		for range workers {
			wg.Go(func() {
				for ctx.Err() == nil {
					if p, err := s.Acquire(ctx, 1); err == nil {
						holds.Add(1)
						time.Sleep(work)
						_ = p.Release(bg)
					}
				}
			})
		}
		for _, n := range []int{1, 2, 1} {
			time.Sleep(time.Second)
			reserved, before := w.commands(permitReserveRuns), holds.Load()
			time.Sleep(100 * time.Millisecond)
			require.Greater(t, w.commands(permitReserveRuns), reserved, "they are passed on")
			require.GreaterOrEqual(t, holds.Load()-before, int64(90), "no permit rests")
			start := time.Now()
			soon, cancel := context.WithTimeout(bg, 2*time.Second)
			p, err := there.permits(2).Acquire(soon, n)
			cancel()
			require.NoError(t, err)
			require.LessOrEqual(t, time.Since(start), maxReign+3*work)
			require.NoError(t, p.Release(bg))
		}
		// One after the other, as they came.
		var order []<-chan permitted
		for range 3 {
			order = append(order, acquire(bg, there.permits(2), 1))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		var at time.Time
		for _, c := range order {
			g := granted(t, c)
			require.False(t, g.at.Before(at))
			at = g.at
			require.NoError(t, g.Release(bg))
			time.Sleep(workers * work) // some of those here may be before the next one
		}
	})
}

// Who comes while all permits are passed on here waits here, for a moment only, and tells the nodes nothing.
func TestWhoComesWhilePermitsArePassedOnWaitsHere(t *testing.T) {
	const here = 50 * time.Millisecond
	// passing has all permits of s be passed on just now, and held from then on.
	passing := func(t *testing.T, s *semaphore.Semaphore) permitted {
		t.Helper()
		first := granted(t, acquire(bg, s, 1))
		second := acquire(bg, s, 1)
		require.NoError(t, first.Release(bg))
		return granted(t, second)
	}
	t.Run("it takes a place after that", func(t *testing.T) {
		inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
			s := w.process().permits(1)
			held := passing(t, s)
			c := acquire(bg, s, 1)
			time.Sleep(here - time.Millisecond)
			requireQueued(t, s, 0)
			time.Sleep(time.Millisecond)
			requireQueued(t, s, 1)
			require.NoError(t, held.Release(bg))
			require.NoError(t, granted(t, c).Release(bg))
		})
	})
	t.Run("it is passed what is given back before", func(t *testing.T) {
		inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
			s := w.process().permits(1)
			held := passing(t, s)
			asked, ended := w.commands(permitAcquireRuns), w.commands(permitReleaseRuns)
			c := acquire(bg, s, 1)
			time.Sleep(here / 2)
			require.NoError(t, held.Release(bg))
			granted(t, c)
			require.Equal(t, asked, w.commands(permitAcquireRuns))
			require.Equal(t, ended, w.commands(permitReleaseRuns))
		})
	})
	t.Run("it goes for a permit that is not passed on", func(t *testing.T) {
		inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
			p := w.process()
			s := p.permits(1)
			held := passing(t, s)
			c := acquire(bg, p.permits(1, lock.WithTTL(10*time.Second)), 1)
			require.NoError(t, held.Release(bg))
			granted(t, c)
		})
	})
	t.Run("it goes for a permit that is lost", func(t *testing.T) {
		inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
			s := w.process().permits(1)
			held := passing(t, s)
			c := acquire(bg, s, 1)
			_, err := s.ForceUnlock(bg)
			require.NoError(t, err)
			granted(t, c)
			require.ErrorIs(t, held.Err(), lock.ErrLost)
		})
	})
	t.Run("not if one may be free", func(t *testing.T) {
		inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
			p := w.process()
			passing(t, p.permits(1))
			granted(t, acquire(bg, p.permits(2), 1))
		})
	})
	t.Run("not if others wait", func(t *testing.T) {
		inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
			s := w.process().permits(1)
			held := passing(t, s)
			other := acquire(bg, w.process().permits(1), 1)
			time.Sleep(maxReign) // what the nodes said is too old by now
			c := acquire(bg, s, 1)
			requireQueued(t, s, 2)
			require.NoError(t, held.Release(bg))
			g := granted(t, other)
			requireBlocked(t, c)
			require.NoError(t, g.Release(bg))
			granted(t, c)
		})
	})
}

// As soon as others are known to wait, all who wait here do so on the nodes.
func TestWhoWaitsHereTakesAPlaceWhenOthersDo(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		s := w.process().permits(2)
		first, second := granted(t, acquire(bg, s, 1)), granted(t, acquire(bg, s, 1))
		third, fourth := acquire(bg, s, 1), acquire(bg, s, 1)
		require.NoError(t, first.Release(bg))
		held := granted(t, third)
		time.Sleep(time.Millisecond) // or the nodes may be asked for tokens of both in different orders, and refuse one
		require.NoError(t, second.Release(bg))
		granted(t, fourth)
		next, last := acquire(bg, s, 1), acquire(bg, s, 1)
		requireQueued(t, s, 0)
		acquire(bg, w.process().permits(2), 1)
		requireQueued(t, s, 1)
		time.Sleep(maxReign / 2) // time to ask again
		require.NoError(t, held.Release(bg))
		granted(t, next)
		requireBlocked(t, last)
		requireQueued(t, s, 2)
	})
}

// Nothing is passed on if the nodes were not heard for maxReign: somebody may wait.
func TestPermitsAreNotPassedOnUnheard(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		s := w.process().permits(2)
		ctx, stop := context.WithCancel(bg)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer stop()
		var holds atomic.Int64
		for range 6 {
			wg.Go(func() {
				for ctx.Err() == nil {
					if p, err := s.Acquire(ctx, 1); err == nil {
						holds.Add(1)
						time.Sleep(time.Millisecond)
						_ = p.Release(bg)
					}
				}
			})
		}
		time.Sleep(time.Second)
		each(w.nodes, func(n *virtual.Node) { n.Silence(true) })
		defer each(w.nodes, func(n *virtual.Node) { n.Silence(false) })
		before := holds.Load()
		time.Sleep(maxReign / 2)
		require.Greater(t, holds.Load(), before)
		time.Sleep(maxReign/2 + 2*time.Millisecond)
		before = holds.Load()
		time.Sleep(50 * time.Millisecond)
		require.Equal(t, before, holds.Load())
		each(w.nodes, func(n *virtual.Node) { n.Silence(false) })
		for end := time.Now().Add(10 * time.Second); holds.Load() == before && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond) // what is owed to the nodes is sent again
		}
		require.Greater(t, holds.Load(), before)
	})
}

// Nodes that hear rivals in different orders give a hold different tokens, and while it asks for one that all of them
// know, others are granted more. It asks for one that is far enough ahead.
func TestATokenIsAheadOfThoseThatAreGrantedMeanwhile(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		const trip = time.Millisecond
		over, others := make(chan struct{}), make(chan struct{})
		for i, n := range w.nodes {
			require.NoError(t, n.Memory().Set(keys.Token(), strconv.Itoa(1000+7*i)))
			n.SetDelay(trip, 0)
		}
		go func() { // others are granted twenty tokens while a question is on its way
			defer close(others)
			for time.Sleep(trip / 2); ; time.Sleep(trip) {
				select {
				case <-over:
					return
				default:
				}
				each(w.nodes, func(n *virtual.Node) { _, _ = n.Memory().Incr(keys.Token(), 20) })
			}
		}()
		s := w.process().permits(16)
		start := time.Now()
		ctx, cancel := context.WithTimeout(bg, time.Second)
		defer cancel()
		p, err := s.Acquire(ctx, 1)
		took := time.Since(start)
		close(over)
		<-others
		require.NoError(t, err)
		require.LessOrEqual(t, took, 6*trip, "scripts have to be sent, too")
		require.NoError(t, p.Release(bg))
	})
}

// Other settings are asked for at the nodes: nothing of one lease governs another.
func TestPermitsWithOtherSettingsAreNotPassedOn(t *testing.T) {
	for name, option := range map[string]lock.Option{
		"a fixed lease": lock.WithoutWatchdog(), "another TTL": lock.WithTTL(10 * time.Second), "a minimum hold": lock.WithMinHold(time.Millisecond), "a note": lock.WithNote("export"), "a rest": lock.WithRest(time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
				p := w.process()
				held := granted(t, acquire(bg, p.permits(1), 1))
				c := acquire(bg, p.permits(1, option), 1)
				asked := w.commands(permitAcquireRuns)
				require.NoError(t, held.Release(bg))
				next := granted(t, c)
				require.Greater(t, w.commands(permitAcquireRuns), asked)
				c = acquire(bg, p.permits(1), 1)
				require.NoError(t, next.Release(bg))
				time.Sleep(20 * time.Millisecond) // who waits asks up to 10 ms after the end that it was told, of the minimum hold
				require.NotContains(t, granted(t, c).ID(), ".")
			})
		})
	}
}

// Whoever extends a hold of permits where the counter is gone does not know the greatest token of all.
func TestTokensOfPermitsGrowThoughTheirCounterIsLost(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		w.requireGreaterToken(t, func() *process { return w.process() }, func(held *semaphore.Permit) {
			each(w.nodes, func(n *virtual.Node) { n.Delete(keys.Token()) })
			require.NoError(t, held.Extend(bg, time.Hour))
		})
	})
}

// Nor does whoever gives a node such a hold back.
func TestTokensOfPermitsGrowThoughNodesComeBackEmptyOneAfterTheOther(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		probing := func() *process { return w.probing(virtual.NewHost(w.nodes), lock.WithTTL(time.Hour)) }
		w.requireGreaterToken(t, probing, func(held *semaphore.Permit) {
			each(w.quorum(), func(n *virtual.Node) {
				n.Flush()
				w.loadScripts()
				time.Sleep(5 * time.Second)
				require.NotEmpty(t, n.Memory().HGet(keys.Lock, held.ID()), "it was given back")
			})
			w.nodes[0].Silence(true)
		})
	})
}

// requireGreaterToken has processes take permits, of which one is held and one given back, and requires that the next
// holder of that one's slot has a greater token, whatever was lost meanwhile.
func (w *world) requireGreaterToken(t *testing.T, process func() *process, lose func(held *semaphore.Permit)) {
	take := func() *semaphore.Permit {
		p, err := process().permits(3).Acquire(bg, 1)
		require.NoError(t, err)
		return p
	}
	held, given := take(), take()
	token, slots := given.Token(), given.Slots()
	require.NoError(t, given.Release(bg))
	time.Sleep(time.Second) // no clock is behind the tokens
	lose(held)
	next := take()
	require.Equal(t, slots, next.Slots())
	require.Greater(t, next.Token(), token)
	require.NoError(t, next.Release(bg))
	require.NoError(t, held.Release(bg))
}

// A permit that was deleted on the nodes is not passed on for longer than maxReign.
func TestALossIsSeenWhilePermitsArePassedOn(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		s := w.process().permits(1)
		ctx, stop := context.WithCancel(bg)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer stop()
		var lost atomic.Int64
		for range 3 {
			wg.Go(func() {
				for ctx.Err() == nil {
					if p, err := s.Acquire(ctx, 1); err == nil {
						time.Sleep(time.Millisecond)
						if p.Err() != nil {
							lost.CompareAndSwap(0, time.Now().UnixNano())
						}
						_ = p.Release(bg)
					}
				}
			})
		}
		time.Sleep(time.Second)
		start := time.Now()
		each(w.nodes, (*virtual.Node).Flush)
		time.Sleep(time.Second)
		require.NotZero(t, lost.Load())
		require.LessOrEqual(t, time.Unix(0, lost.Load()).Sub(start), maxReign+2*time.Millisecond)
	})
}

// Who waits for room to ask the nodes hears that a permit has been passed to it.
func TestAPermitIsPassedToWhoHasNoRoomToAsk(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		s := p.permits(1)
		first := granted(t, acquire(bg, s, 1))
		waiter := acquire(bg, s, 1)
		time.Sleep(100 * time.Millisecond)
		requireQueued(t, s, 1)
		lock.CrowdAdmissions(p.locks)
		asked := w.commands(permitAcquireRuns)
		time.Sleep(time.Minute) // it looks by itself every 30 seconds
		require.Equal(t, asked, w.commands(permitAcquireRuns), "there is no room")
		requireBlocked(t, waiter)
		require.NoError(t, first.Release(bg))
		require.NoError(t, granted(t, waiter).Release(bg))
	})
}

// A handing is permits that are passed on while something else happens to them.
type handing struct {
	*testing.T
	*world
	p       *process
	s       *semaphore.Semaphore
	holders []*semaphore.Permit
	cancels []context.CancelFunc // of those who wait
	taken   bool                 // from its holders, who are told soon, and may be inside until then

	owners [3]atomic.Pointer[semaphore.Permit]
	tokens [3]atomic.Int64
}

// Whatever happens at the moment when permits are passed on: no slot has two holders, tokens grow on each slot, nobody
// waits for ever, and nothing is left behind.
func TestPermitsArePassedOnAtTheSameMomentAs(t *testing.T) {
	taking := map[string]bool{"a ForceUnlock": true, "a force elsewhere": true, "a loss": true}
	for name, rival := range map[string]func(*handing){
		"cancellations": func(h *handing) {
			for _, cancel := range h.cancels[:3] {
				cancel()
			}
		},
		"a ForceUnlock":     func(h *handing) { _, _ = h.s.ForceUnlock(bg) },
		"a force elsewhere": func(h *handing) { _, _ = h.process().permits(3).ForceUnlock(bg) },
		"a loss":            func(h *handing) { each(h.nodes, (*virtual.Node).Flush) },
		"a Close":           func(h *handing) { _ = h.p.locks.Close() },
		"a Shutdown":        func(h *handing) { h.p.shutDown(h) },
		"an Extend":         func(h *handing) { _ = h.holders[0].Extend(bg, 40*time.Second) },
		"a Release":         func(h *handing) { _ = h.holders[0].Release(bg) },
		"newcomers": func(h *handing) {
			for n := range 3 {
				h.come(bg, h.s, n+1)
			}
		},
		"another process": func(h *handing) {
			h.come(bg, h.process().permits(3), 2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				for range 25 {
					if t.Failed() {
						return
					}
					h := &handing{T: t, world: w, p: w.process(), taken: taking[name]}
					h.run(rival)
				}
			})
		})
	}
}

func (h *handing) run(rival func(*handing)) {
	h.s = h.p.permits(3)
	each(h.nodes, func(n *virtual.Node) {
		n.SetDelay(time.Duration(rand.IntN(3))*time.Millisecond, time.Duration(rand.IntN(2))*time.Millisecond)
	})
	for range 3 {
		p, err := h.s.Acquire(bg, 1)
		require.NoError(h, err)
		h.holders = append(h.holders, p)
	}
	var wg sync.WaitGroup
	for i := range 9 {
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		h.cancels = append(h.cancels, cancel)
		wg.Go(func() { h.come(ctx, h.s, 1+i/8) })
		if i%3 == 0 {
			synctest.Wait()
		}
	}
	time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
	wg.Go(func() {
		for range rand.IntN(3) {
			runtime.Gosched()
		}
		rival(h)
	})
	for _, p := range h.holders {
		wg.Go(func() { _ = p.Release(bg) })
	}
	wg.Wait()
	_ = h.p.locks.Close()
	time.Sleep(time.Minute) // whatever is owed has been given back
	each(h.nodes, func(n *virtual.Node) {
		require.False(h, n.Memory().Exists(keys.Lock))
		require.False(h, n.Memory().Exists(keys.Queue()))
	})
}

// come acquires n permits, and visits what they allow.
func (h *handing) come(ctx context.Context, s *semaphore.Semaphore, n int) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // nobody waits for so long
	defer cancel()
	p, err := s.Acquire(ctx, n)
	if err == nil {
		h.visit(p)
	} else if errors.Is(err, context.DeadlineExceeded) {
		h.Errorf("waited for ever: %v", err)
	}
}

// visit is the work of one holder.
func (h *handing) visit(p *semaphore.Permit) {
	for _, slot := range p.Slots() {
		if other := h.owners[slot].Swap(p); other != nil && p.Err() == nil && other.Err() == nil && !h.taken {
			h.Errorf("slot %d is %s's and %s's", slot, other.ID(), p.ID())
		}
		if before := h.tokens[slot].Swap(p.Token()); before >= p.Token() && p.Err() == nil && !h.taken {
			h.Errorf("%s: slot %d: token %d after %d", p.ID(), slot, p.Token(), before)
		}
	}
	runtime.Gosched()
	for _, slot := range p.Slots() {
		h.owners[slot].CompareAndSwap(p, nil)
	}
	if err := p.Release(bg); err != nil && !errors.Is(err, lock.ErrLost) && !errors.Is(err, lock.ErrReleased) && !errors.Is(err, lock.ErrClosed) {
		h.Errorf("release: %v", err)
	}
}

// A node that gave other slots than the quorum gives the right ones as soon as it can; neither a renewal nor a probe has
// to find it.
func TestNodesThatGaveOtherSlotsSoonGiveTheSame(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		// On one node a stranger, whom nobody else knows, has the lowest slot.
		stranger := granted(t, acquire(bg, w.processOn(virtual.NewHost(w.nodes[:1])).permits(3), 1))
		require.Equal(t, []int{0}, stranger.Slots())
		s := w.process().permits(3)
		p := granted(t, acquire(bg, s, 2))
		require.Equal(t, []int{0, 1}, p.Slots())
		require.NoError(t, stranger.Release(bg))
		time.Sleep(time.Second)
		state, err := s.Inspect(bg)
		require.NoError(t, err)
		require.Len(t, state.Nodes, len(w.nodes))
		for _, n := range state.Nodes {
			var has []int
			for _, slot := range n.Slots {
				if slot.Holder == p.ID() {
					has = append(has, slot.Number)
				}
			}
			require.Equal(t, p.Slots(), has, n.Address)
		}
		require.NoError(t, p.Release(bg))
	})
}

// Nodes on which several permits are given back at once hear of that in different orders, so each says to the same waiter
// that another one has made it so. It asks at once all the same, and once.
func TestATurnIsHeardWhateverHasMadeItSo(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		granted(t, acquire(bg, w.process().permits(1), 1))
		p := w.process()
		s := p.permits(1)
		requireBlocked(t, acquire(bg, s, 1))
		state, err := s.Inspect(bg)
		require.NoError(t, err)
		require.Len(t, state.Queue, 1)
		asked := w.commands(permitAcquireRuns)
		say := func(node int, about string) {
			w.nodes[node].Publish("lock:channel:"+p.locks.ID(), state.Queue[0].Hold+" "+about)
			synctest.Wait()
		}
		say(0, "one")
		require.Equal(t, asked, w.commands(permitAcquireRuns), "one node may be early")
		say(1, "two")
		require.Equal(t, asked+3, w.commands(permitAcquireRuns))
		say(2, "two")
		time.Sleep(100 * time.Millisecond)
		require.Equal(t, asked+3, w.commands(permitAcquireRuns), "it has said nothing new")
		say(0, "three")
		say(1, "three")
		require.Equal(t, asked+6, w.commands(permitAcquireRuns))
	})
}

// What the nodes said about other waiters counts from when it was heard: from when they were asked, it would be too old by then.
func TestPermitsArePassedOnHoweverFarTheNodesAre(t *testing.T) {
	const work, lasts = 15 * time.Millisecond, 15 * time.Second
	for _, trip := range []time.Duration{40 * time.Millisecond, 60 * time.Millisecond, 120 * time.Millisecond} {
		t.Run(trip.String(), func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				p := w.process()
				each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
				ctx, cancel := context.WithTimeout(bg, lasts)
				defer cancel()
				var goroutines sync.WaitGroup
				var holds atomic.Int64
				for range 2 {
					goroutines.Go(func() {
						for {
							permit, err := p.permits(1).Acquire(ctx, 1)
							if err != nil {
								return
							}
							holds.Add(1)
							time.Sleep(work)
							_ = permit.Release(bg)
						}
					})
				}
				goroutines.Wait()
				require.Greater(t, time.Duration(holds.Load()), lasts/(work+3*trip))
			})
		})
	}
}

// As many as want one of many permits at once have one each soon. A token takes a round or two, however many are settled at
// the same time: holds that all ask for more than what the nodes know would refuse each other what they ask for.
func TestACrowdThatFitsIsLetInAtOnce(t *testing.T) {
	inVirtualTime(t, []int{5}, func(t *testing.T, w *world) {
		const crowd, waves = 60, 2
		for i, n := range w.nodes {
			n.SetDelay(time.Duration(i+1)*100*time.Microsecond, 0)
		}
		processes := []*process{w.process(), w.process()}
		for range waves {
			var done sync.WaitGroup
			for _, p := range processes {
				s := p.permits(1000)
				for range crowd {
					done.Go(func() {
						began := time.Now()
						permit, err := s.Acquire(bg, 1)
						if assert.NoError(t, err) {
							assert.Less(t, time.Since(began), 500*time.Millisecond)
							time.Sleep(time.Second)
							assert.NoError(t, permit.Release(bg))
						}
					})
				}
			}
			done.Wait()
		}
		grants := waves * len(processes) * crowd * len(w.nodes)
		require.LessOrEqual(t, w.commands(runs(lua.PermitFence{})), 3*grants)
	})
}

// Nodes that gave other slots do not know the token of a hold on its own: others may get those slots without them.
func TestATokenIsKnownWhereTheHoldHasItsSlots(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		last := w.nodes[2]
		client := virtual.NewHost(w.nodes).Clients(t)[2]
		_, err := lua.PermitAcquire{
			Permit: lua.Permit{Fair: lua.Fair{Keys: keys}}, Hold: "other:1" + lua.PermitMark(1, 2), TTL: time.Hour, Retention: time.Hour,
		}.Call().Run(bg, client)
		require.NoError(t, err)
		for i, counted := range []string{"100", "200", "200"} {
			require.NoError(t, w.nodes[i].Memory().Set(keys.Token(), counted))
		}
		permit, err := w.process().permits(2).TryAcquire(bg, 1)
		require.NoError(t, err)
		require.Equal(t, []int{0}, permit.Slots())
		require.Equal(t, "0", slots(t, last, "other:1"+lua.PermitMark(1, 2)))
		for _, n := range w.nodes[:2] {
			counter, err := n.Memory().Get(keys.Token())
			require.NoError(t, err)
			known, err := strconv.ParseInt(counter, 10, 64)
			require.NoError(t, err)
			require.GreaterOrEqual(t, known, permit.Token(), n.Addr())
		}
		require.NoError(t, permit.Release(bg))
	})
}

// slots are those that a hold has on a node.
func slots(t *testing.T, n *virtual.Node, hold string) string {
	t.Helper()
	_, slots, _ := strings.Cut(n.Memory().HGet(keys.Slots(), hold), " ")
	return slots
}

// Nodes that do not answer are not asked again and again to confirm a token.
func TestATokenThatNodesDoNotConfirmIsAskedForOnce(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		fences := runs(lua.PermitFence{})
		for i, n := range w.nodes {
			require.NoError(t, n.Memory().Set(keys.Token(), strconv.Itoa(100*(i+1))))
			n.Refuse(fences)
		}
		_, err := w.process().permits(1).TryAcquire(bg, 1)
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		require.Equal(t, len(w.nodes), w.commands(fences))
	})
}

// Whoever is refused permits that one hold has on a quorum of nodes need not ask twice.
func TestPermitsThatAQuorumSaysAreInUseAreAskedForOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		held, err := w.process().permits(1).TryAcquire(bg, 1)
		require.NoError(t, err)
		synctest.Wait()
		start := w.commands(permitAcquireRuns)
		_, err = w.process().permits(1).TryAcquire(bg, 1)
		require.ErrorIs(t, err, lock.ErrLocked)
		synctest.Wait()
		require.LessOrEqual(t, w.commands(permitAcquireRuns)-start, len(w.nodes))
		require.NoError(t, held.Release(bg))
	})
}

// A wait for permits that are all with its own process ended behind them, though it has asked no node, nor anybody else
// of its process since the last grant.
func TestAWaitForPermitsOfItsOwnProcessWasBehindThem(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		s := w.process().permits(2)
		first, second := granted(t, acquire(bg, s, 1)), granted(t, acquire(bg, s, 1))
		waiter := acquire(bg, s, 1)
		time.Sleep(time.Second)
		require.NoError(t, first.Release(bg))
		passed := granted(t, waiter)
		require.NoError(t, second.Release(bg))
		third, err := s.Acquire(bg, 1)
		require.NoError(t, err)

		ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
		defer cancel()
		_, err = s.Acquire(ctx, 1)
		require.ErrorIs(t, err, lock.ErrLocked)
		require.NotErrorIs(t, err, lock.ErrNoQuorum)
		var e *lock.AcquireError
		require.ErrorAs(t, err, &e)
		require.True(t, e.Own)
		require.NotEmpty(t, e.Holder)
		require.NoError(t, passed.Release(bg))
		require.NoError(t, third.Release(bg))
	})
}

// However many wait in a process, it passes the permits on to them: none of them asks the nodes again.
func TestPermitsArePassedOnToACrowd(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		const crowd = 450
		p := w.process()
		s := p.permits(1)
		first := granted(t, acquire(bg, s, 1))
		var wg sync.WaitGroup
		for range crowd {
			wg.Go(func() {
				mine, err := s.Acquire(bg, 1)
				require.NoError(t, err)
				time.Sleep(100 * time.Microsecond)
				require.NoError(t, mine.Release(bg))
			})
		}
		// They look after half a minute, and after another one. Signs of life, each half second, have others look, too.
		time.Sleep(45*time.Second + 250*time.Millisecond)
		asked := w.commands(permitAcquireRuns)
		require.NoError(t, first.Release(bg))
		wg.Wait()
		require.Equal(t, asked, w.commands(permitAcquireRuns))
	})
}

// Who waits behind a crowd of another process, farther than the nodes look for strangers, has its turn when the crowd
// has had theirs, though they come again and again.
func TestACrowdOvertakesNobodyForLong(t *testing.T) {
	for _, kind := range []string{"permit", "writer"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
				const crowd, visit = 350, time.Millisecond
				m := w.process().lockOf(kind)
				first := w.lock(m)
				ctx, stop := context.WithCancel(bg)
				var wg sync.WaitGroup
				defer wg.Wait()
				defer stop()
				for range crowd {
					wg.Go(func() {
						for ctx.Err() == nil {
							if mine, err := m.Lock(ctx); err == nil {
								time.Sleep(visit)
								require.NoError(t, mine.Unlock(bg))
							}
						}
					})
				}
				time.Sleep(time.Second)
				other := wait(bg, w.process().lockOf(kind))
				time.Sleep(time.Second)
				require.NoError(t, first.Unlock(bg))
				time.Sleep((crowd+10)*visit + maxReign)
				require.NotEmpty(t, other, "it waits")
				require.NoError(t, (<-other).lease.Unlock(bg))
			})
		})
	}
}
