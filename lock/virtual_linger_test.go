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
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/semaphore"
)

// A lock that stays taken when nobody works under it any more.

// step is how often one who waits tries.
const step = 200 * time.Millisecond

// firstGrant waits until m is granted to another process, which tries again and again, and tells
// how long after since that was.
func firstGrant(t *testing.T, m lock.Locker, since time.Time) time.Duration {
	t.Helper()
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(step) {
		l, err := m.TryLock(bg)
		if err == nil {
			took := time.Since(since)
			require.NoError(t, l.Unlock(bg))
			return took
		}
		require.ErrorIs(t, err, lock.ErrLocked)
	}
	require.Fail(t, "it stays taken for good")
	return 0
}

// around requires that took is want, or a little more.
func around(t *testing.T, want, took time.Duration) {
	t.Helper()
	require.GreaterOrEqual(t, took, want)
	require.Less(t, took, want+2*step)
}

func TestAMinHoldOutlastsTheWork(t *testing.T) {
	const least = 10 * time.Second
	for _, kind := range []string{"reentrant", "fair"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				worker := w.process()
				m := worker.kinds(lock.WithMinHold(least))[kind]
				rival := w.process().kinds()[kind]
				for name, end := range map[string]func(l *lock.Lease){
					"unlocked at once": func(l *lock.Lease) { require.NoError(t, l.Unlock(bg)) },
					"unlocked later":   func(l *lock.Lease) { time.Sleep(4 * time.Second); require.NoError(t, l.Unlock(bg)) },
					"re-entered": func(l *lock.Lease) {
						inner, err := m.Lock(l.Context(bg))
						require.NoError(t, err)
						require.NoError(t, inner.Unlock(bg))
						require.NoError(t, l.Unlock(bg))
					},
				} {
					t.Log(name)
					l := w.lock(m)
					since := time.Now()
					end(l)
					s, err := m.(lock.Inspector).Inspect(bg)
					require.NoError(t, err)
					require.Equal(t, l.ID()+" lingers", s.Holder)
					require.ErrorIs(t, l.Err(), lock.ErrReleased)
					_, err = m.TryLock(bg)
					require.ErrorIs(t, err, lock.ErrLocked, "nor has its own process it")
					around(t, least, firstGrant(t, rival, since))
				}
				// Work that takes longer has nothing to wait for.
				l := w.lock(m)
				time.Sleep(least)
				require.NoError(t, l.Unlock(bg))
				require.Zero(t, firstGrant(t, rival, time.Now()))

				// Its process goes: closed, or killed.
				l = w.lock(m)
				since := time.Now()
				require.NoError(t, worker.locks.Close())
				require.ErrorIs(t, l.Err(), lock.ErrReleased)
				around(t, least, firstGrant(t, rival, since))

				const ttl = 2 * time.Second
				for _, extend := range []func([]string) bool{nil, extendRuns} { // the nodes may hear nothing more of it
					crashes := w.process(lock.WithTTL(ttl))
					each(w.nodes, func(n *virtual.Node) { n.Refuse(extend) })
					w.lock(crashes.kinds(lock.WithMinHold(least))[kind])
					since = time.Now()
					crashes.Kill()
					each(w.nodes, func(n *virtual.Node) { n.Refuse(nil) })
					around(t, least, firstGrant(t, rival, since))
				}
			})
		})
	}
}

// lockOf returns the lock of these tests, of a kind that may be shared, too.
func (p *process) lockOf(kind string, opts ...lock.Option) lock.Locker {
	switch m := readwrite.New(p.locks, "orders", opts...); kind {
	case "writer":
		return m
	case "reader":
		return m.RLocker()
	case "permit":
		return semaphore.New(p.locks, "orders", 1, opts...).Locker(1)
	}
	return p.kinds(opts...)[kind]
}

// Nodes that come back empty, one after the other, get the hold back for what is left of its minimum.
func TestAMinHoldOutlastsNodesThatForget(t *testing.T) {
	const least = 3 * time.Minute
	for _, kind := range []string{"reentrant", "fair", "writer", "reader", "permit"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
				l := w.lock(w.process().lockOf(kind, lock.WithMinHold(least)))
				start := time.Now()
				for _, n := range w.nodes {
					time.Sleep(defaultTTL) // it has been renewed since
					n.Restart()
				}
				time.Sleep(defaultTTL)
				require.NoError(t, l.Unlock(bg))
				rival := w.process().lockOf(kind)
				if kind == "reader" {
					rival = readwrite.New(w.process().locks, "orders")
				}
				around(t, least, firstGrant(t, rival, start))
			})
		})
	}
}

// The nodes wrote the key when they were asked, and their answers took almost a node timeout: the work, and the minimum
// for it, begin only with the answers.
func TestAMinHoldCountsFromALateGrant(t *testing.T) {
	const late = 1500 * time.Millisecond
	for _, kind := range []string{"reentrant", "fair", "writer", "reader", "permit"} {
		for name, c := range map[string]struct {
			ttl, least time.Duration
			opts       []lock.Option
		}{
			"within the TTL":             {ttl: defaultTTL, least: 2 * time.Second},
			"as long as the TTL":         {ttl: 5 * time.Second, least: 5 * time.Second},
			"beyond the TTL":             {ttl: 5 * time.Second, least: 12 * time.Second},
			"beyond the TTL, no renewal": {ttl: 5 * time.Second, least: 12 * time.Second, opts: []lock.Option{lock.WithoutWatchdog()}},
		} {
			for end, ends := range map[string]func(*process, *lock.Lease){
				"unlocked": func(_ *process, l *lock.Lease) { require.NoError(t, l.Unlock(bg)) },
				"crashed":  func(p *process, _ *lock.Lease) { time.Sleep(late + step); p.Kill() }, // what waited for earlier answers has left
			} {
				t.Run(kind+" "+name+" "+end, func(t *testing.T) {
					inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
						worker := w.process(lock.WithNodeTimeout(2*time.Second), lock.WithTTL(c.ttl))
						rival := w.process().lockOf(kind)
						if kind == "reader" {
							rival = readwrite.New(w.process().locks, "orders")
						}
						first := w.lock(worker.lockOf(kind, lock.WithMinHold(time.Second))) // the nodes know the scripts then
						require.NoError(t, first.Extend(bg, c.ttl))
						require.NoError(t, first.Unlock(bg))
						firstGrant(t, rival, time.Now())

						each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, late) })
						l, err := worker.lockOf(kind, append(c.opts, lock.WithMinHold(c.least))...).Lock(bg)
						require.NoError(t, err)
						granted := time.Now()
						each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
						synctest.Wait()
						ends(worker, l)
						took := firstGrant(t, rival, granted)
						require.GreaterOrEqual(t, took, c.least)
						if end == "unlocked" { // which may wait until what was sent before has its answer
							require.Less(t, took, c.least+late+2*step)
						}
					})
				})
			}
		}
	}
}

// A hold that goes on to read keeps others from writing for the minimum that it had to write.
func TestAMinHoldOutlastsADowngrade(t *testing.T) {
	const least = 3 * time.Minute
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		m := readwrite.New(w.process().locks, "orders", lock.WithMinHold(least))
		writes := w.lock(m)
		start := time.Now()
		reads := w.lockIn(writes.Context(bg), m.RLocker())
		require.NoError(t, writes.Unlock(bg))
		time.Sleep(time.Second)
		require.NoError(t, reads.Unlock(bg))
		around(t, least, firstGrant(t, readwrite.New(w.process().locks, "orders"), start))
	})
}

// Whoever waits for it has it then, in the same process as well.
func TestWaitersHaveALockWhenItsMinHoldIsOver(t *testing.T) {
	const least = 10 * time.Second
	for _, kind := range []string{"reentrant", "fair"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				p := w.process()
				m := p.kinds(lock.WithMinHold(least))[kind]
				l := w.lock(m)
				start := time.Now()
				same := wait(bg, m)
				synctest.Wait()
				elsewhere := wait(bg, w.process().kinds()[kind])
				synctest.Wait()
				require.NoError(t, l.Unlock(bg))
				var last time.Time
				for range 2 {
					select {
					case g := <-same:
						require.NoError(t, g.err)
						require.NoError(t, g.lease.Unlock(bg))
						last = g.at.Add(least)
					case g := <-elsewhere:
						require.NoError(t, g.err)
						require.NoError(t, g.lease.Unlock(bg))
						last = g.at
					case <-time.After(long):
						require.Fail(t, "it waits on and on")
					}
					require.GreaterOrEqual(t, time.Since(start), least)
				}
				require.LessOrEqual(t, last.Sub(start), 2*least+2*pollBound)
			})
		})
	}
}

// Operators see that nobody works under it, and who has; and end it by force.
func TestALockThatLingersIsSeenAndCanBeEnded(t *testing.T) {
	const least = 10 * time.Second
	for _, kind := range []string{"reentrant", "fair"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				p := w.process(lock.WithLabel("web-3"))
				m := p.kinds(lock.WithMinHold(least), lock.WithNote("nightly export"))[kind]
				rival := w.process().kinds()[kind]
				linger := func() string {
					l := w.lock(m)
					require.NoError(t, l.Unlock(bg))
					synctest.Wait()
					return l.ID()
				}
				id := linger()
				s, err := rival.(lock.Inspector).Inspect(bg)
				require.NoError(t, err)
				require.True(t, s.Held)
				require.Equal(t, id+" lingers", s.Holder)
				require.Zero(t, s.Count)
				require.Equal(t, "nightly export", s.Note)
				require.InDelta(t, least, s.TTL, float64(5*time.Millisecond))
				_, err = rival.TryLock(bg)
				require.ErrorContains(t, err, id+" (web-3: nightly export), which is over and keeps it for another 10s")
				ended, err := rival.(lock.Inspector).ForceUnlock(bg)
				require.NoError(t, err)
				require.True(t, ended)
				require.NoError(t, w.lock(rival).Unlock(bg))

				linger()
				time.Sleep(least + time.Millisecond)
				requireHolder(t, "", w.nodes)
				requireNotes(t, w.nodes, false)
			})
		})
	}
}

// A name rests after a holder that did not release it, and not after one that did.
func TestANameRestsAfterAnUncleanEnd(t *testing.T) {
	const rest, ttl = 7 * time.Second, 3 * time.Second
	for _, kind := range []string{"reentrant", "fair"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				rival := w.process().kinds()[kind]
				holder := func(opts ...lock.Option) (*process, lock.Locker) {
					p := w.process(lock.WithTTL(ttl))
					return p, p.kinds(append(opts, lock.WithRest(rest))...)[kind]
				}

				// Unlocked: at once.
				_, m := holder()
				require.NoError(t, w.lock(m).Unlock(bg))
				require.Zero(t, firstGrant(t, rival, time.Now()))

				// Closed: at once.
				p, m := holder()
				w.lock(m)
				require.NoError(t, p.locks.Close())
				require.Zero(t, firstGrant(t, rival, time.Now()))

				// Ended by force: at once, and its holder does not change that.
				p, m = holder()
				l := w.lock(m)
				ended, err := rival.(lock.Inspector).ForceUnlock(bg)
				require.NoError(t, err)
				require.True(t, ended)
				require.Zero(t, firstGrant(t, rival, time.Now()))
				awaitEnd(t, l)
				require.Zero(t, firstGrant(t, rival, time.Now()))
				require.NoError(t, p.locks.Close())

				// Crashed, right after the grant.
				p, m = holder()
				w.lock(m)
				granted := time.Now()
				p.Kill()
				around(t, ttl+rest, firstGrant(t, rival, granted))

				// Expired, with its process alive, which clears nothing away.
				_, m = holder(lock.WithoutWatchdog())
				l = w.lock(m)
				granted = time.Now()
				require.NoError(t, l.Extend(bg, 10*time.Second))
				deadline := l.Deadline()
				require.Equal(t, granted.Add(validity(10*time.Second)), deadline, "the rest is nobody's")
				awaitEnd(t, l)
				require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
				around(t, validity(10*time.Second)+rest, firstGrant(t, rival, granted))

				// Lost to the network, and renewed until then.
				p, m = holder()
				l = w.lock(m)
				time.Sleep(10 * time.Second)
				p.Silence(true)
				cut := time.Now()
				awaitEnd(t, l)
				p.Silence(false)
				took := firstGrant(t, rival, cut)
				require.GreaterOrEqual(t, took, ttl*2/3-drift(ttl)+rest)
				require.LessOrEqual(t, took, ttl+rest+2*time.Second+2*step, "nodes that did not hear of the end hear of it then")
				ctx, cancel := context.WithTimeout(bg, time.Second)
				require.ErrorIs(t, l.Unlock(ctx), lock.ErrLost)
				cancel()
			})
		})
	}
}

// The lease of a lock that rests is renewed as any other, and lost no later.
func TestALockThatRestsIsLostAtItsDeadline(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex(lock.WithRest(time.Minute)))
		ctx := l.Context(bg)
		time.Sleep(10 * time.Minute)
		require.NoError(t, l.Err())
		p.Silence(true)
		cut := time.Now()
		require.LessOrEqual(t, lostAt(ctx, t, l).Sub(cut), validity(defaultTTL))
		p.Silence(false)
	})
}

func TestWhatStaysTakenMustFitTheGuardAndTheCounters(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		p := w.process(lock.WithRestartGuard(time.Minute))
		time.Sleep(2 * time.Minute) // the node has been up for that long
		for says, opts := range map[string][]lock.Option{
			"the min hold is -1ns, it must not be negative":                                                    {lock.WithMinHold(-1)},
			"the rest is -1ns, it must not be negative":                                                        {lock.WithRest(-1)},
			"the key would live for 1m10s (TTL or min hold, plus rest), longer than the restart guard of 1m0s": {lock.WithRest(40 * time.Second)},
			"the key would live for 1m1s (TTL or min hold, plus rest), longer than the restart guard":          {lock.WithMinHold(61 * time.Second)},
			"the key would live for 24h0m30s (TTL or min hold, plus rest), which is too long":                  {lock.WithRest(24 * time.Hour)},
		} {
			_, err := p.mutex(opts...).TryLock(bg)
			require.ErrorContains(t, err, says)
		}
		l := w.lock(p.mutex(lock.WithRest(20 * time.Second)))
		require.ErrorContains(t, l.Extend(bg, 50*time.Second), "the key would live for 1m10s")
		require.NoError(t, l.Extend(bg, 40*time.Second))
		require.NoError(t, l.Unlock(bg))
	})
}

// A node that queued a hold and does not hear of its grant forgets the place when the hold ends, also if the
// lock stays taken.
func TestALockThatStaysTakenLeavesNoPlaceInAQueue(t *testing.T) {
	for name, of := range map[string]func(p *process, opts ...lock.Option) lock.Locker{
		"fair": func(p *process, opts ...lock.Option) lock.Locker { return p.queue(opts...) },
		"readwrite": func(p *process, opts ...lock.Option) lock.Locker {
			return readwrite.New(p.locks, "orders", opts...)
		},
		"semaphore": func(p *process, opts ...lock.Option) lock.Locker { return p.permits(1, opts...).Locker(1) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				rival := w.lock(of(w.process()))
				waiter := wait(bg, of(w.process(), lock.WithMinHold(time.Second)))
				synctest.Wait()
				each(w.minority(), func(n *virtual.Node) {
					n.Refuse(func(args []string) bool { return removes(args) || settles(args) })
				})
				require.NoError(t, rival.Unlock(bg))
				l := await(t, waiter).lease
				require.NotNil(t, l)
				each(w.minority(), func(n *virtual.Node) { n.Refuse(settles) })
				synctest.Wait()
				for _, n := range w.minority() {
					require.True(t, n.Memory().Exists(keys.Queue()), "it waits there")
				}
				require.NoError(t, l.Unlock(bg))
				synctest.Wait()
				for _, n := range w.nodes {
					require.False(t, n.Memory().Exists(keys.Queue()), n.Addr())
				}
			})
		})
	}
}

// settles and removes recognize the scripts that take a hold out of a queue.
func settles(args []string) bool {
	return runs(lua.FairSettle{})(args) || runs(lua.RWSettle{})(args) || runs(lua.PermitSettle{})(args)
}

func removes(args []string) bool {
	return runs(lua.FairRelease{})(args) || runs(lua.RWRelease{})(args) || runs(lua.PermitRelease{})(args)
}

// Whoever waited before the lock was left to linger learns for how long. Nothing else would tell: the key's TTL, of
// which it knows, was longer.
func TestAWaiterOfAnotherProcessHasALockAsSoonAsItsMinHoldIsOver(t *testing.T) {
	const least = 700 * time.Millisecond
	for name, of := range map[string]func(p *process, opts ...lock.Option) lock.Locker{
		"reentrant": func(p *process, opts ...lock.Option) lock.Locker { return p.mutex(opts...) },
		"fair":      func(p *process, opts ...lock.Option) lock.Locker { return p.queue(opts...) },
		"write": func(p *process, opts ...lock.Option) lock.Locker {
			return readwrite.New(p.locks, "orders", opts...)
		},
		"read": func(p *process, opts ...lock.Option) lock.Locker {
			if len(opts) > 0 { // or both would read
				return readwrite.New(p.locks, "orders", opts...)
			}
			return readwrite.New(p.locks, "orders").RLocker()
		},
		"write behind a reader": func(p *process, opts ...lock.Option) lock.Locker {
			if len(opts) > 0 {
				return readwrite.New(p.locks, "orders", opts...).RLocker()
			}
			return readwrite.New(p.locks, "orders")
		},
		"semaphore": func(p *process, opts ...lock.Option) lock.Locker { return p.permits(1, opts...).Locker(1) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
				l := w.lock(of(w.process(), lock.WithMinHold(least)))
				since := time.Now()
				waiter := wait(bg, of(w.process()))
				time.Sleep(50 * time.Millisecond)
				synctest.Wait()
				require.NoError(t, l.Unlock(bg))
				next := await(t, waiter)
				require.NoError(t, next.err)
				took := time.Since(since)
				require.GreaterOrEqual(t, took, least)
				require.Less(t, took, least+50*time.Millisecond)
				require.NoError(t, next.lease.Unlock(bg))
			})
		})
	}
}

// The queue remembers of a hold in which round it was granted. That ends with the hold though the lock stays taken: on a name
// that is always in use the hash would grow with each hold.
func TestWhatStaysTakenLeavesNothingInTheQueue(t *testing.T) {
	kept := lock.WithMinHold(time.Second)
	for name, of := range map[string]func(p *process, opts ...lock.Option) lock.Locker{
		"fair":  func(p *process, opts ...lock.Option) lock.Locker { return p.queue(opts...) },
		"write": func(p *process, opts ...lock.Option) lock.Locker { return readwrite.New(p.locks, "orders", opts...) },
		"read": func(p *process, opts ...lock.Option) lock.Locker {
			if len(opts) > 0 {
				return readwrite.New(p.locks, "orders", opts...).RLocker()
			}
			return readwrite.New(p.locks, "orders") // in its way
		},
		"semaphore": func(p *process, opts ...lock.Option) lock.Locker { return p.permits(1, opts...).Locker(1) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
				l := w.lock(of(w.process()))
				waiter := wait(bg, of(w.process(), kept))
				time.Sleep(50 * time.Millisecond)
				require.NoError(t, l.Unlock(bg))
				next := await(t, waiter)
				require.NoError(t, next.err)
				require.NoError(t, next.lease.Unlock(bg))
				synctest.Wait()
				taken := 0
				for _, n := range w.nodes {
					if n.Memory().Exists("lock:{orders}") {
						taken++
					}
					fields, _ := n.Memory().HKeys("lock:{orders}:waiters")
					fields = slices.DeleteFunc(fields, func(f string) bool { return f == "last round" }) // one of each semaphore
					require.Empty(t, fields)
				}
				require.Greater(t, taken, len(w.nodes)/2)
			})
		})
	}
}

// So has one that learns only later for how long it has to wait: the others leave after the one whose lock is kept,
// or it was not the first in the queue.
func TestWhatStaysTakenIsKnownToWhoIsFirstByThen(t *testing.T) {
	const least = 700 * time.Millisecond
	kept := lock.WithMinHold(least)
	read := func(p *process, opts ...lock.Option) lock.Locker {
		return readwrite.New(p.locks, "orders", opts...).RLocker()
	}
	write := func(p *process, opts ...lock.Option) lock.Locker { return readwrite.New(p.locks, "orders", opts...) }
	permit := func(p *process, opts ...lock.Option) lock.Locker { return p.permits(2, opts...).Locker(1) }
	type locker func(*process, ...lock.Option) lock.Locker
	for name, c := range map[string]struct {
		have    locker
		options []lock.Option // of the second that has it
		wants   []locker
		last    time.Duration // when the last of them has it
	}{
		"a writer behind two readers":      {read, nil, []locker{write}, least},
		"a writer behind two kept readers": {read, []lock.Option{lock.WithMinHold(least / 2)}, []locker{write}, least},
		"two who want a permit each":       {permit, []lock.Option{kept}, []locker{permit, permit}, least},
		"two who have it in turn":          {permit, []lock.Option{lock.WithMinHold(2 * least)}, []locker{permit, permit}, 2 * least},
		"one who wants two permits": {permit, nil, []locker{
			func(p *process, opts ...lock.Option) lock.Locker { return p.permits(2, opts...).Locker(2) },
		}, least},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				slow := lock.WithWaiterHeartbeat(time.Minute)
				first := w.lock(c.have(w.process(), kept))
				second := w.lock(c.have(w.process(), c.options...))
				since := time.Now()
				var waits []<-chan grant
				for _, want := range c.wants {
					waits = append(waits, wait(bg, want(w.process(), slow)))
					time.Sleep(10 * time.Millisecond)
				}
				time.Sleep(50 * time.Millisecond)
				require.NoError(t, first.Unlock(bg))
				time.Sleep(50 * time.Millisecond)
				require.NoError(t, second.Unlock(bg))
				for i, waiter := range waits {
					next, from := await(t, waiter), least
					if i == len(waits)-1 {
						from = c.last
					}
					require.NoError(t, next.err)
					require.GreaterOrEqual(t, next.at.Sub(since), from-2*time.Millisecond)
					require.Less(t, next.at.Sub(since), from+50*time.Millisecond)
					defer func() { require.NoError(t, next.lease.Unlock(bg)) }()
				}
			})
		})
	}
}

// Whoever reads has the token of who wrote last, though that one's process had more, and though the lock stayed taken
// after it, of an Unlock or of a loss.
func TestReadersHaveTheLastWritersTokenThoughTheLockStayedTaken(t *testing.T) {
	for name, c := range map[string]struct {
		option lock.Option
		end    func(*lock.Lease)
	}{
		"unlocked": {lock.WithMinHold(time.Second), func(l *lock.Lease) { _ = l.Unlock(bg) }},
		"lost":     {lock.WithMaxHold(500 * time.Millisecond), func(l *lock.Lease) { <-l.Done() }},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				here := readwrite.New(w.process().locks, "orders", c.option, lock.WithRest(time.Second))
				writer := w.lock(here)
				time.Sleep(50 * time.Millisecond)
				reader := wait(bg, here.RLocker()) // the tenure reserves tokens for those that wait here
				time.Sleep(50 * time.Millisecond)
				c.end(writer)
				elsewhere := await(t, wait(bg, readwrite.New(w.process().locks, "orders").RLocker())).lease
				require.Equal(t, writer.Token(), elsewhere.Token())
				next := await(t, reader)
				require.NoError(t, next.err)
				require.Equal(t, writer.Token(), next.lease.Token())
				require.NoError(t, next.lease.Unlock(bg))
				require.NoError(t, elsewhere.Unlock(bg))
			})
		})
	}
}

// A node that hears late that a lock is to stay taken lets it stay no longer for that than until it is asked again.
func TestAMinHoldIsNoLongerWhereANodeHearsOfTheUnlockLate(t *testing.T) {
	const least = 3 * time.Second
	for _, kind := range []string{"reentrant", "fair"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				l := w.lock(w.process().kinds(lock.WithMinHold(least))[kind])
				since := time.Now()
				each(w.quorum(), func(n *virtual.Node) { n.Pause() })
				require.ErrorIs(t, l.Unlock(bg), lock.ErrNoQuorum)
				time.Sleep(2500*time.Millisecond - time.Since(since))
				each(w.quorum(), func(n *virtual.Node) { n.Resume() })
				took := firstGrant(t, w.process().kinds()[kind], since)
				require.GreaterOrEqual(t, took, least)
				require.Less(t, took, least+time.Second+2*step)
			})
		})
	}
}

// What stays taken ends without a word. A waiter that was told of it may ask before a node has heard of the
// release, and that node's answer may be among those that decide.
func TestANodeThatHasYetToHearOfAReleaseDelaysNobodyBehindWhatStaysTaken(t *testing.T) {
	const least = 700 * time.Millisecond
	kept := lock.WithMinHold(least)
	for name, c := range map[string]struct {
		have    func(*process, ...lock.Option) lock.Locker
		release interface{ Call() lua.Call }
		want    func(*process) lock.Locker
	}{
		"a writer behind readers": {
			func(p *process, opts ...lock.Option) lock.Locker {
				return readwrite.New(p.locks, "orders", opts...).RLocker()
			},
			lua.RWRelease{},
			func(p *process) lock.Locker { return readwrite.New(p.locks, "orders") },
		},
		"one who wants all permits": {
			func(p *process, opts ...lock.Option) lock.Locker { return p.permits(2, opts...).Locker(1) },
			lua.PermitRelease{},
			func(p *process) lock.Locker { return p.permits(2).Locker(2) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				first := w.lock(c.have(w.process(), kept))
				second := w.lock(c.have(w.process()))
				since := time.Now()
				waiter := wait(bg, c.want(w.process()))
				time.Sleep(50 * time.Millisecond)
				require.NoError(t, first.Unlock(bg))
				time.Sleep(50 * time.Millisecond)
				late, slow := w.nodes[1], w.nodes[len(w.nodes)/2+1:]
				late.Refuse(runs(c.release))
				each(slow, func(n *virtual.Node) { n.SetDelay(0, 5*time.Millisecond) })
				require.NoError(t, second.Unlock(bg))
				time.Sleep(10 * time.Millisecond)
				late.Refuse(nil)
				next := await(t, waiter)
				require.NoError(t, next.err)
				require.GreaterOrEqual(t, next.at.Sub(since), least-2*time.Millisecond)
				require.Less(t, next.at.Sub(since), least+50*time.Millisecond)
			})
		})
	}
}

// A node may hear of it after the others. Its own word comes as no news then, so it is asked again.
func TestAWaiterAsksAgainWhereANodeHasYetToHearThatALockStaysTaken(t *testing.T) {
	const least = 700 * time.Millisecond
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue(lock.WithMinHold(least)))
		since := time.Now()
		waiter := wait(bg, w.process().queue())
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		late, slow := w.nodes[1], w.nodes[2]
		late.Refuse(runs(lua.Keep{}))
		slow.SetDelay(0, 20*time.Millisecond) // it is not among the first to answer
		require.NoError(t, l.Unlock(bg))
		time.Sleep(10 * time.Millisecond)
		late.Refuse(nil)
		next := await(t, waiter)
		require.NoError(t, next.err)
		require.Less(t, time.Since(since), least+50*time.Millisecond)
		require.NoError(t, next.lease.Unlock(bg))
	})
}

// The minimum is one of the lock, and not of its lease: it is kept though that is lost, and though the lock does not rest.
func TestALockStaysTakenForItsMinHoldThoughItIsLost(t *testing.T) {
	const least = time.Minute
	for _, kind := range []string{"reentrant", "fair", "writer", "permit"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				l := w.lock(w.process(lock.WithTTL(2*time.Second)).lockOf(kind, lock.WithMinHold(least), lock.WithMaxHold(time.Second)))
				start := time.Now()
				awaitEnd(t, l)
				require.ErrorIs(t, l.Err(), lock.ErrLost)
				require.Less(t, time.Since(start), 5*time.Second)
				around(t, least, firstGrant(t, w.process().lockOf(kind), start))
			})
		})
	}
}

// ForceUnlock frees a lock at once. A node that did not hear of it does not let the lock rest either when its holder
// cleans up there.
func TestANodeThatHearsLateOfForceDoesNotLetTheLockRest(t *testing.T) {
	for _, kind := range []string{"reentrant", "fair"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				m := w.process().kinds(lock.WithRest(10 * time.Minute))[kind]
				l := w.lock(m)
				each(w.minority(), func(n *virtual.Node) {
					n.Refuse(func(args []string) bool { return releaseRuns(args) || removes(args) || runs(lua.Keep{})(args) })
				})
				ended, err := m.(lock.Inspector).ForceUnlock(bg)
				require.NoError(t, err)
				require.True(t, ended)
				require.Equal(t, lock.ReasonForced, reasonOf(t, l, l.Err()))
				synctest.Wait()
				requireHolder(t, l.ID(), w.minority())
				each(w.minority(), func(n *virtual.Node) { n.Refuse(nil) })
				time.Sleep(2 * time.Second)
				requireHolder(t, "", w.nodes)
			})
		})
	}
}

// A claim that comes after the lock has begun to stay taken finds the mark: it would leave a key for a TTL, and in a
// queue the place of nobody.
func TestNothingIsLateForAMinHold(t *testing.T) {
	const least, late = 10 * time.Second, 5 * time.Second
	for _, kind := range []string{"reentrant", "fair", "writer", "reader", "permit"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
				far := w.nodes[0]
				p := w.process()
				require.NoError(t, w.lock(p.lockOf(kind)).Unlock(bg)) // the nodes know the scripts then
				m := p.lockOf(kind, lock.WithMinHold(least))
				far.SetDelay(late, 0)
				l := w.lock(m)
				far.SetDelay(0, 0)
				require.NoError(t, l.Unlock(bg))
				time.Sleep(late + time.Second)
				requireHolder(t, "", w.nodes[:1])
				time.Sleep(least)
				requireHolder(t, "", w.nodes)
				require.NotContains(t, far.Keys(), keys.Queue())
			})
		})
	}
}
