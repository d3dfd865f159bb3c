package lock_test

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/fifo"
	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

var fairAcquireRuns, fairReleaseRuns = runs(lua.FairAcquire{}), runs(lua.FairRelease{})

// A fairLine is a line of fair waiters in virtual time, or of those of another kind, and who has the lock before them.
type fairLine struct {
	*world
	kind   string
	held   *lock.Lease
	served chan *lock.Lease
	trip   time.Duration
	opts   []lock.Option
}

// lineUp has waiters of these processes wait, in this order, behind a hold of a process of its own.
func lineUp(w *world, trip time.Duration, waiters ...*process) *fairLine {
	return lineUpFor("fair", w, trip, waiters...)
}

func lineUpFor(kind string, w *world, trip time.Duration, waiters ...*process) *fairLine {
	q := &fairLine{world: w, kind: kind, held: w.lock(w.process().lockOf(kind)), served: make(chan *lock.Lease, len(waiters)), trip: trip}
	for _, p := range waiters {
		q.join(bg, p)
	}
	each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
	return q
}

// join has one more wait.
func (q *fairLine) join(ctx context.Context, p *process) {
	go func() {
		if l, err := p.lockOf(q.kind, q.opts...).Lock(ctx); err == nil {
			q.served <- l
		}
	}()
	synctest.Wait()
}

// next unlocks, and returns the lease of who is served then.
func (q *fairLine) next() *lock.Lease {
	q.t.Helper()
	require.NoError(q.t, q.held.Unlock(bg))
	select {
	case l := <-q.served:
		require.Greater(q.t, l.Token(), q.held.Token())
		q.held = l
	case <-time.After(long):
		require.Fail(q.t, "nobody is served")
	}
	return q.held
}

// drained requires that nobody has the lock or waits for it, on any node.
func (q *fairLine) drained() {
	q.t.Helper()
	time.Sleep(time.Second)
	for _, n := range q.nodes {
		require.NotContains(q.t, n.Keys(), keys.Lock, n.Addr())
		require.NotContains(q.t, n.Keys(), keys.Queue(), n.Addr())
	}
}

// asked counts how often a node was asked for the lock since start.
func (q *fairLine) asked(start time.Time) (most int) {
	for _, n := range q.nodes {
		most = max(most, len(since(n, start, fairAcquireRuns)))
	}
	return most
}

func TestFairWaitersThatStandTogetherAreServedWithoutACommand(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		p := w.process()
		q := lineUp(w, 4*time.Millisecond, p, p, p, p, p)
		waits, err := p.queue().Inspect(bg)
		require.NoError(t, err)
		first := q.next()
		require.Equal(t, waits.Queue[0], first.ID())
		time.Sleep(2 * q.trip) // for its tokens
		start := time.Now()
		for _, id := range waits.Queue[1:] {
			l := q.next()
			require.Equal(t, time.Now(), start, "at once")
			require.Equal(t, id, fifo.Waited(l.ID()), "in order")
			require.Contains(t, l.ID(), first.ID()+".", "within the tenure")
		}
		require.NoError(t, q.held.Unlock(bg))
		require.Equal(t, q.trip, time.Since(start), "nothing else is on its way to the nodes")
		require.Zero(t, q.asked(start))
		q.drained()
		for _, n := range q.nodes {
			require.Len(t, since(n, start, fairReleaseRuns), 1, "that takes all of them along")
		}
		q.held = w.lock(w.process().queue())
		require.NoError(t, q.held.Unlock(bg))
	})
}

func TestFairWaitersAreServedTogetherOnlyBeforeThoseOfOthers(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		a, b := w.process(), w.process()
		q := lineUp(w, 4*time.Millisecond, a, a, b, a, b, b, a, a)
		waits, err := a.queue().Inspect(bg)
		require.NoError(t, err)
		require.Len(t, waits.Queue, 8)
		tenures := make(map[string]bool)
		for i, id := range waits.Queue {
			l := q.next()
			require.Equal(t, id, fifo.Waited(l.ID()), "%d", i)
			tenure, _, _ := strings.Cut(l.ID(), ".")
			tenures[tenure] = true
			time.Sleep(2 * q.trip)
		}
		require.NoError(t, q.held.Unlock(bg))
		require.Len(t, tenures, 5, "as many as there are runs")
		q.drained()
	})
}

// The first of a process is granted the lock while its waiters with the greatest tickets give up. Then somebody of
// another process comes, and gets a lower ticket than they had; and then one more of the first process. All that
// happens before the last node's answer about the grant.
func TestAFairWaiterThatCameAfterTheGrantIsNotServedBeforeThoseOfOthers(t *testing.T) {
	inVirtualTime(t, []int{5}, func(t *testing.T, w *world) {
		const slow = 30 * time.Millisecond // less than a reign
		a, b := w.process(), w.process()
		ctx, cancel := context.WithCancel(bg)
		q := lineUp(w, 0, a)
		for range 4 {
			q.join(ctx, a)
		}
		time.Sleep(time.Second)
		b.Cut(2, true)
		each(w.nodes[3:], func(n *virtual.Node) { n.Refuse(fairAcquireRuns) }) // two grant nothing
		w.nodes[2].SetDelay(0, slow)
		go func() { _ = q.held.Unlock(bg) }()
		time.Sleep(slow / 2)
		w.nodes[2].SetDelay(0, 0)
		each(w.nodes[3:], func(n *virtual.Node) { n.Refuse(nil) })
		cancel()
		time.Sleep(time.Millisecond)
		q.join(bg, b)
		time.Sleep(time.Millisecond)
		q.join(bg, a) // its place is fixed at once
		require.Empty(t, q.served)
		b.Cut(2, false)
		for _, p := range []*process{a, b, a} {
			l := <-q.served
			require.Contains(t, l.ID(), p.locks.ID())
			require.NoError(t, l.Unlock(bg))
		}
		time.Sleep(time.Minute) // for what those that were cut off know
		q.drained()
	})
}

// One who asks while a request of its process is under way comes to the node after somebody of another process, who has come
// after that request.
func TestAWaiterThatAskedDuringTheGrantIsNotServedBeforeThoseOfOthers(t *testing.T) {
	for _, kind := range []string{"fair", "writer"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
				const way = 30 * time.Millisecond
				host := virtual.NewHost(w.nodes)
				a, b := w.processOn(host), w.process()
				q := lineUpFor(kind, w, 0, a)
				host.SetDelay(way, way)
				require.NoError(t, q.held.Unlock(bg))
				time.Sleep(way + way/6) // the first one has heard, and its request is on its way
				q.join(bg, a)
				time.Sleep(way - way/12) // the node has granted it the lock, and has yet to hear of the other one
				q.join(bg, b)
				require.Empty(t, q.served)
				for _, p := range []*process{a, b, a} {
					q.held = <-q.served
					require.Contains(t, q.held.ID(), p.locks.ID())
					time.Sleep(5 * way) // all is told that there is to tell
					require.NoError(t, q.held.Unlock(bg))
				}
				q.drained()
			})
		})
	}
}

// A node that has not heard of the one in between says that there is nobody.
func TestEveryNodeThatGrantsSaysWhoIsInBetween(t *testing.T) {
	for _, kind := range []string{"fair", "writer"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				for _, ignorant := range []int{0, len(w.nodes) - 1} {
					a, b, c := w.process(), w.process(), w.process()
					q := lineUpFor(kind, w, 0, a)
					b.Cut(ignorant, true)
					q.join(bg, b)
					time.Sleep(time.Second)
					q.join(bg, a)
					q.join(bg, c)
					each(w.nodes, func(n *virtual.Node) { n.SetDelay(time.Millisecond, time.Millisecond) })
					w.nodes[ignorant].SetDelay(0, 0) // it is the first to answer
					for _, p := range []*process{a, b, a, c} {
						require.Contains(t, q.next().ID(), p.locks.ID())
						time.Sleep(10 * time.Millisecond)
					}
					require.NoError(t, q.held.Unlock(bg))
					b.Cut(ignorant, false)
					each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
					q.drained()
				}
			})
		})
	}
}

func TestAFairWaiterOfARunThatGivesUpIsPassedNothing(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		p := w.process()
		q := lineUp(w, 0, p)
		ctx, cancel := context.WithCancel(bg)
		q.join(ctx, p)
		q.join(bg, p)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(2*time.Millisecond, 2*time.Millisecond) })
		waits, err := p.queue().Inspect(bg)
		require.NoError(t, err)
		first := q.next()
		time.Sleep(10 * time.Millisecond)
		cancel()
		synctest.Wait()
		require.Equal(t, waits.Queue[2], fifo.Waited(q.next().ID()))
		require.Contains(t, q.held.ID(), first.ID()+".")
		require.NoError(t, q.held.Unlock(bg))
		q.drained()
	})
}

// Contenders of the same name, which do not queue, have a chance after so many holds, or after so long. If there are
// none, nobody waits for that: whoever queues elsewhere behind the run is behind all of it.
func TestARunOfFairWaitersHasABound(t *testing.T) {
	for name, c := range map[string]struct {
		contends bool
		deaf     bool // it cannot listen
		waiters  int
		hold     time.Duration
		tenures  int
	}{
		"of holds":           {true, false, 70, 0, 3},                      // 32, 32 and 6
		"of time":            {true, false, 6, 20 * time.Millisecond, 2},   // 3 each
		"of time, if deaf":   {true, true, 6, 20 * time.Millisecond, 2},    // 3 each
		"of holds, if alone": {false, false, 150, 0, 2},                    // 128, and 22
		"of time, if alone":  {false, false, 6, 800 * time.Millisecond, 2}, // 4, and 2
		"and not before":     {false, false, 100, 20 * time.Millisecond, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				p, other := w.process(), w.process()
				q := lineUp(w, 2*time.Millisecond, slices.Repeat([]*process{p}, c.waiters)...)
				ctx, cancel := context.WithCancel(bg)
				defer cancel()
				var contender <-chan grant
				if c.contends {
					if c.deaf {
						each(w.nodes, func(n *virtual.Node) { n.Refuse(virtual.Name("SUBSCRIBE")) })
					}
					contender = wait(ctx, other.mutex())
					time.Sleep(300 * time.Millisecond) // it has looked, and told that it is deaf
				}
				tenures := make(map[string]bool)
				for range c.waiters {
					id, _, _ := strings.Cut(q.next().ID(), ".")
					tenures[id] = true
					time.Sleep(c.hold)
				}
				require.NoError(t, q.held.Unlock(bg))
				require.Len(t, tenures, c.tenures)
				if c.contends {
					cancel()
					if g := <-contender; g.err == nil { // it may have looked just now
						require.NoError(t, g.lease.Unlock(bg))
					}
				}
				q.drained()
			})
		})
	}
}

func TestARunEndsWithItsTenure(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *fairLine){
		"by force": func(t *testing.T, q *fairLine) {
			_, err := q.process().queue().ForceUnlock(bg)
			require.NoError(t, err)
		},
		"as the nodes have forgotten it": func(_ *testing.T, q *fairLine) {
			each(q.nodes, func(n *virtual.Node) { n.Delete(keys.Lock) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				p := w.process()
				q := lineUp(w, 4*time.Millisecond, p, p, p)
				first := q.next()
				time.Sleep(4 * q.trip)
				end(t, q)
				awaitEnd(t, first)
				require.ErrorIs(t, first.Unlock(bg), lock.ErrLost)
				for range 2 {
					l := <-q.served
					require.NoError(t, l.Err())
					require.NotContains(t, l.ID(), first.ID()+".", "what is lost is not passed on")
					require.NoError(t, l.Unlock(bg))
				}
				q.drained()
			})
		})
	}
}

// The tenure is lost in the middle of a run, and the name rests: who was served is not in the way of others.
func TestARunThatIsLostAndRestsLeavesNobodyInTheQueues(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		const rest = 2 * time.Second
		p, other := w.process(lock.WithWaiterHeartbeat(4*time.Minute)), w.process(lock.WithWaiterHeartbeat(4*time.Minute))
		q := &fairLine{world: w, kind: "fair", held: w.lock(w.process().queue()), served: make(chan *lock.Lease, 5)}
		q.opts = []lock.Option{lock.WithRest(rest)}
		for range 4 {
			q.join(bg, p)
		}
		q.join(bg, other)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(time.Millisecond, time.Millisecond) })
		for range 3 {
			q.next()
			time.Sleep(5 * time.Millisecond)
		}
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0); n.Delete(keys.Lock) })
		awaitEnd(t, q.held)
		start := time.Now()
		require.ErrorIs(t, q.held.Unlock(bg), lock.ErrLost)
		l := <-q.served
		require.LessOrEqual(t, time.Since(start), 2*rest)
		require.NoError(t, l.Unlock(bg))
	})
}

// A process that has lost such a lock may close its client at once.
func TestARunThatIsLostAndRestsLeavesNobodyInTheQueuesOfAClientThatCloses(t *testing.T) {
	for _, pause := range []time.Duration{0, maxServed / 2} {
		inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
			rare := lock.WithWaiterHeartbeat(time.Minute)
			p, other := w.process(rare), w.process(rare)
			q := &fairLine{world: w, kind: "fair", held: w.lock(w.process().queue()), served: make(chan *lock.Lease, 3), trip: 2 * time.Millisecond}
			q.opts = []lock.Option{lock.WithRest(time.Second)}
			for range 3 {
				q.join(bg, p)
			}
			stranger := wait(bg, other.queue())
			synctest.Wait()
			each(w.nodes, func(n *virtual.Node) { n.SetDelay(q.trip/2, q.trip/2) })
			q.next()
			time.Sleep(2 * q.trip)
			q.next()
			time.Sleep(maxServed / 2)
			each(w.nodes, func(n *virtual.Node) { n.Delete(keys.Lock) })
			awaitEnd(t, q.next())
			start := time.Now()
			time.Sleep(pause)
			_ = p.locks.Close() // which tells of the loss
			state, err := other.queue().Inspect(bg)
			require.NoError(t, err)
			require.LessOrEqual(t, len(state.Queue), 1, "the stranger alone waits")
			require.NoError(t, await(t, stranger).after(t, start, 0, 3*time.Second).Unlock(bg))
		})
	}
}

// A tenure keeps those that may follow only until it has ended.
func TestAKeptLeaseKeepsNoneThatCameLater(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		m := w.process().queue()
		var later atomic.Int64 // leases that are not collected
		var served atomic.Int64
		var kept *lock.Lease
		var running sync.WaitGroup
		for range 40 {
			running.Go(func() {
				for served.Load() < 2000 {
					l, err := m.Lock(bg)
					require.NoError(t, err)
					if n := served.Add(1); n == 50 {
						kept = l
					} else if n > 50 {
						later.Add(1)
						runtime.AddCleanup(l, func(later *atomic.Int64) { later.Add(-1) }, &later)
					}
					time.Sleep(3 * time.Millisecond) // a tenure ends before all have followed
					require.NoError(t, l.Unlock(bg))
				}
			})
		}
		running.Wait()
		const few = 200
		for tries := 0; later.Load() >= few && tries < 1000; tries++ { // cleanups run when the collector has the time
			runtime.GC()
		}
		require.Less(t, later.Load(), int64(few))
		require.ErrorIs(t, kept.Err(), lock.ErrReleased)
	})
}

func TestAFairWaiterThatIsPassedTheLockAndGivesUpPassesItOnAtOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		for moment := range 100 { // of the scheduler
			p := w.process()
			q := lineUp(w, 0, p)
			ctx, cancel := context.WithCancel(bg)
			given := make(chan error, 1)
			go func() {
				l, err := p.queue().Lock(ctx)
				if err == nil {
					err = l.Unlock(bg)
				}
				given <- err
			}()
			synctest.Wait()
			q.join(bg, p)
			time.Sleep(time.Second)
			each(w.nodes, func(n *virtual.Node) { n.SetDelay(5*time.Millisecond, 5*time.Millisecond) })
			q.next()
			time.Sleep(30 * time.Millisecond)
			start := time.Now()
			go func() { _ = q.held.Unlock(bg) }()
			go func() {
				for range moment % 5 {
					runtime.Gosched()
				}
				cancel()
			}()
			l := <-q.served
			if strings.Contains(l.ID(), q.held.ID()+".") {
				require.Equal(t, start, time.Now())
			} else { // the one before it had left before the lock was passed on, and has it ask, or had asked along with the release
				require.LessOrEqual(t, time.Since(start), 30*time.Millisecond)
			}
			q.held = l
			if err := <-given; err != nil {
				require.ErrorIs(t, err, context.Canceled)
			}
			require.NoError(t, q.held.Unlock(bg))
			each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
			q.drained()
		}
	})
}

// maxServed is how long those that were served are in the queues on the nodes while another has the lock.
const maxServed = 50 * time.Millisecond

// The lock is ended by force soon after one of a run was served, and maybe the next one has given up. On the nodes, who
// was served is the first; but who waits is served soon.
func TestWhoWasServedWithinATenureIsInNobodysWay(t *testing.T) {
	for name, givesUp := range map[string]bool{"the next one waits": false, "the next one gives up": true} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				rare := lock.WithWaiterHeartbeat(2 * time.Minute)
				p, other, operator := w.process(rare), w.process(rare), w.process()
				q := lineUp(w, 0, p, p)
				ctx, cancel := context.WithCancel(bg)
				defer cancel()
				q.join(ctx, p)
				stranger := wait(bg, other.queue())
				synctest.Wait()
				each(w.nodes, func(n *virtual.Node) { n.SetDelay(time.Millisecond, time.Millisecond) })
				for range 2 {
					q.next()
					time.Sleep(5 * time.Millisecond)
				}
				if givesUp {
					cancel()
					time.Sleep(5 * time.Millisecond)
				}
				start := time.Now()
				_, err := operator.queue().ForceUnlock(bg)
				require.NoError(t, err)
				if !givesUp {
					l := <-q.served
					require.LessOrEqual(t, time.Since(start), maxServed+10*time.Millisecond)
					require.NoError(t, l.Unlock(bg))
				}
				require.NoError(t, await(t, stranger).after(t, start, 0, maxServed+20*time.Millisecond).Unlock(bg))
				q.drained()
			})
		})
	}
}

// What operators see of those that were served is not old.
func TestWhoWasServedWithinATenureIsSoonOutOfTheQueues(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		p := w.process(lock.WithWaiterHeartbeat(beat))
		q := lineUp(w, 4*time.Millisecond, p, p, p, p)
		waits, err := p.queue().Inspect(bg)
		require.NoError(t, err)
		for range 3 {
			q.next()
			time.Sleep(2 * q.trip)
		}
		time.Sleep(maxServed + q.trip)
		state, err := p.queue().Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, waits.Queue[3:], state.Queue)
		q.next()
		require.NoError(t, q.held.Unlock(bg))
		q.drained()
	})
}

// Those of a process that stand one behind the other are served within a tenure, after those of others who came sooner, and
// before those who came later. Those who read do it together.
func TestThoseWhoReadAndWriteFollowOneAnotherBeforeThoseOfOthers(t *testing.T) {
	const trip, hold = 60 * time.Millisecond, 2 * time.Millisecond
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		type turn struct {
			of   int
			at   time.Time
			hold string
		}
		a, b, first := w.process(), w.process(), w.lock(w.process().lockOf("writer"))
		turns := make(chan turn, 20)
		for i, who := range []struct {
			p    *process
			kind string
		}{
			{a, "writer"}, {a, "writer"}, {a, "reader"}, {a, "reader"}, {a, "writer"}, // 0 to 4
			{b, "writer"}, {b, "writer"}, // 5, 6
			{a, "writer"}, // 7
			{b, "reader"}, // 8
			{a, "writer"}, // 9
		} {
			go func() {
				if l, err := who.p.lockOf(who.kind).Lock(bg); assert.NoError(t, err) {
					turns <- turn{i, time.Now(), l.ID()}
					time.Sleep(hold)
					assert.NoError(t, l.Unlock(bg))
				}
			}()
			time.Sleep(100 * time.Millisecond)
		}
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
		require.NoError(t, first.Unlock(bg))
		var was turn
		tenures := make(map[string]bool)
		for i := range 10 {
			is := <-turns
			if i == 3 && is.of == 2 || i == 2 && is.of == 3 {
				is.of = i // together
			}
			require.Equal(t, i, is.of)
			tenure, _, within := strings.Cut(is.hold, ".")
			tenures[tenure] = true
			if within && i != 1 && i != 6 { // those have to wait for tokens
				require.Less(t, is.at.Sub(was.at), 2*hold, "%d", i)
			}
			was = is
		}
		require.Len(t, tenures, 5, "as many as there are runs")
		time.Sleep(time.Minute)
		for _, n := range w.nodes {
			require.NotContains(t, n.Keys(), keys.Lock)
			require.NotContains(t, n.Keys(), keys.Queue())
		}
	})
}

// Nodes look only so far for waiters of other processes.
// A reader that shares the place of another one reads with it.
func TestThoseWhoShareAPlaceOfARunReadTogether(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		a, b := w.process(), w.process()
		q := lineUpFor("writer", w, 0, a)
		read := make(chan *lock.Lease, 3)
		for range cap(read) {
			go func() {
				if l, err := a.lockOf("reader").Lock(bg); err == nil {
					read <- l
				}
			}()
			synctest.Wait()
		}
		time.Sleep(time.Millisecond)
		q.join(bg, b)
		q.join(bg, a)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(10*time.Millisecond, 10*time.Millisecond) })
		writes := q.next()
		require.Contains(t, writes.ID(), a.locks.ID())
		tenure, _, _ := strings.Cut(writes.ID(), ".")
		require.NoError(t, q.held.Unlock(bg))
		synctest.Wait()
		require.Len(t, read, cap(read), "at once")
		for range cap(read) {
			l := <-read
			require.Contains(t, l.ID(), tenure+".")
			require.NoError(t, l.Unlock(bg))
		}
		for _, p := range []*process{b, a} {
			l := <-q.served
			require.Contains(t, l.ID(), p.locks.ID())
			require.NoError(t, l.Unlock(bg))
		}
		q.drained()
	})
}

// Who stands so far ahead that a node does not look behind is followed by others of the process only until it is known
// that somebody of another one stands in between.
func TestARunEndsBeforeThoseWhoseOrderIsNotKnown(t *testing.T) {
	const front, behind, hold, trip = 900, 150, 200 * time.Microsecond, 90 * time.Millisecond
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		a, b, held := w.process(), w.process(), w.lock(w.process().lockOf("writer"))
		order := make(chan *lock.Lease, front+behind+1)
		var wg sync.WaitGroup
		join := func(p *process) {
			wg.Go(func() {
				if l, err := p.lockOf("writer").Lock(bg); assert.NoError(t, err) {
					order <- l
					time.Sleep(hold)
					assert.NoError(t, l.Unlock(bg))
				}
			})
			time.Sleep(time.Microsecond)
		}
		for range front {
			join(a)
		}
		time.Sleep(time.Second)
		join(b)
		time.Sleep(5 * time.Second)
		for range behind {
			join(a)
		}
		time.Sleep(5 * time.Second)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(trip/2, trip/2) })
		require.NoError(t, held.Unlock(bg))
		wg.Wait()
		close(order)
		before := 0
		for l := range order {
			if strings.HasPrefix(l.ID(), b.locks.ID()) {
				break
			}
			before++
		}
		require.GreaterOrEqual(t, before, front)
		require.Less(t, before, front+behind)
	})
}

func TestARunOfWritersHasABound(t *testing.T) {
	const most = 128
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		a, b := w.process(), w.process()
		q := lineUpFor("writer", w, 0, append(slices.Repeat([]*process{a}, most+20), b)...)
		time.Sleep(time.Millisecond) // they came before they are granted the lock
		tenures := make(map[string]int)
		for range most + 20 {
			id := q.next().ID()
			require.Contains(t, id, a.locks.ID())
			tenure, _, _ := strings.Cut(id, ".")
			tenures[tenure]++
			time.Sleep(time.Millisecond)
		}
		require.Len(t, tenures, 2)
		require.Equal(t, most+1, slices.Max(slices.Collect(maps.Values(tenures))), "with the first of them")
		require.Contains(t, q.next().ID(), b.locks.ID())
		require.NoError(t, q.held.Unlock(bg))
		q.drained()
	})
}
