package lock_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/reentrant"
)

// beat is how long a waiter that has crashed may hold up those behind it.
const beat = 4 * time.Second

// queueUp has a new process wait behind those that do already.
func (w *world) queueUp(ctx context.Context) (*process, <-chan grant) {
	p := w.process(lock.WithWaiterHeartbeat(beat))
	c := wait(ctx, p.queue())
	synctest.Wait()
	return p, c
}

func TestWaiterThatIsCutOffIsDroppedAfterItsHeartbeat(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		first, _ := w.queueUp(bg)
		_, second := w.queueUp(bg)
		time.Sleep(20 * time.Second)
		first.Silence(true)
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		(<-second).after(t, start, beat/4, beat)
	})
}

func TestWaiterWhoseProcessIsKilledIsDroppedInAMoment(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		first, _ := w.queueUp(bg)
		_, second := w.queueUp(bg)
		time.Sleep(20 * time.Second)
		first.Kill()
		synctest.Wait()
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		(<-second).after(t, start, 0, 310*time.Millisecond) // it might connect again
	})
}

func TestLiveWaitersKeepTheirPlacesForHours(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		holder := w.process().queue(lock.WithTTL(time.Hour))
		l := w.lock(holder)
		var waiting []<-chan grant
		for range 2 {
			p := w.process(lock.WithWaiterHeartbeat(5 * time.Minute)) // fewer signs take less of a test
			waiting = append(waiting, wait(bg, p.queue()))
			synctest.Wait()
		}
		before, err := holder.Inspect(bg)
		require.NoError(t, err)
		require.Len(t, before.Queue, 2)
		time.Sleep(2 * time.Hour)
		now, err := holder.Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, before.Queue, now.Queue)
		for _, c := range waiting {
			start := time.Now()
			require.NoError(t, l.Unlock(bg))
			l = (<-c).after(t, start, 0, 0)
		}
		require.NoError(t, l.Unlock(bg))
	})
}

func TestHeadLooksWhenACrashedHoldersKeyEnds(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		alice := w.process()
		start := time.Now()
		const ttl = 10*time.Second + beat/8 // between two signs of life
		w.lock(alice.queue(lock.WithTTL(ttl)))
		_, next := w.queueUp(bg)
		alice.Silence(true)
		(<-next).after(t, start, ttl, ttl+lookJitter)
	})
}

// lineUp has one process wait behind a holder, and another one behind that, for a time that ends between two signs of life.
func (w *world) lineUp(kind string, ttl time.Duration) (held *lock.Lease, second *process, waits, next <-chan grant) {
	lockOf := func(p *process) lock.Locker {
		return p.lockOf(kind, lock.WithTTL(ttl), lock.WithWaiterHeartbeat(beat))
	}
	held = w.lock(lockOf(w.process()))
	second = w.process()
	waits = wait(bg, lockOf(second))
	synctest.Wait()
	next = wait(bg, lockOf(w.process()))
	time.Sleep(20*time.Second + beat/16)
	return held, second, waits, next
}

// Who comes up to the head because the one before is granted the lock looks just so, if that one crashes.
func TestWhoComesUpToTheHeadLooksWhenACrashedHoldersKeyEnds(t *testing.T) {
	for _, kind := range []string{"fair", "writer", "permit"} {
		for _, ttl := range []time.Duration{10*time.Second + beat/8, 300 * time.Millisecond} { // longer than a sign of life takes, and shorter
			t.Run(fmt.Sprint(kind, " ", ttl), func(t *testing.T) {
				inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
					l, second, waits, next := w.lineUp(kind, ttl)
					start := time.Now()
					require.NoError(t, l.Unlock(bg))
					(<-waits).after(t, start, 0, 0)
					synctest.Wait() // it has told the nodes that it has the lock
					second.Kill()
					(<-next).after(t, start, ttl, ttl+lookJitter)
				})
			})
		}
	}
}

// It does, too, if a node to which the holder's grant has not come is among the first to answer: as far as that node knows,
// the lock is free.
func TestAHeadLooksWhenTheKeyOfABareQuorumEnds(t *testing.T) {
	for _, kind := range []string{"fair", "writer", "permit"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
				const ttl, trip = 300 * time.Millisecond, time.Millisecond
				l, second, waits, next := w.lineUp(kind, ttl)
				second.Cut(2, true)
				start := time.Now()
				require.NoError(t, l.Unlock(bg))
				(<-waits).after(t, start, 0, 0)
				second.Kill()
				w.nodes[1].SetDelay(trip, 0)
				(<-next).after(t, start, ttl, ttl+lookJitter+5*trip)
			})
		})
	}
}

// The head of a queue that cannot hear looks before the nodes give its turn to the next one, for however short a time the lock
// is free.
func TestAHeadThatCannotHearKeepsItsTurn(t *testing.T) {
	for _, kind := range []string{"fair", "writer", "permit"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				each(w.nodes, func(n *virtual.Node) { n.SetDelay(200*time.Microsecond, 200*time.Microsecond) })
				ctx, cancel := context.WithCancel(bg)
				defer cancel()
				var busy sync.WaitGroup
				for range 2 { // one waits while the other one has it
					p := w.process()
					busy.Go(func() {
						for ctx.Err() == nil {
							if l, err := p.lockOf(kind).Lock(ctx); err == nil {
								time.Sleep(60 * time.Millisecond)
								assert.NoError(t, l.Unlock(bg))
							}
						}
					})
				}
				time.Sleep(time.Second)
				each(w.nodes, func(n *virtual.Node) { n.Refuse(virtual.Name("SUBSCRIBE")) })
				deaf := w.process().lockOf(kind)
				for range 5 {
					within, over := context.WithTimeout(bg, time.Second)
					l, err := deaf.Lock(within)
					over()
					if assert.NoError(t, err) {
						assert.NoError(t, l.Unlock(bg))
					}
					time.Sleep(37 * time.Millisecond)
				}
				cancel()
				busy.Wait()
			})
		})
	}
}

// It asks once until when the lock is taken, and then when that time is over, unless the holder's renewals prolong it.
func TestWhoHasComeUpToTheHeadLooksNoMoreThanItMust(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		_, second := w.queueUp(bg)
		w.queueUp(bg)
		require.NoError(t, l.Unlock(bg))
		<-second
		start := time.Now()
		time.Sleep(2 * time.Minute)
		for _, n := range w.nodes {
			asked := 0
			for _, c := range n.Commands(runs(lua.FairAcquire{})) {
				if c.At.After(start) {
					asked++
				}
			}
			require.Positive(t, asked)
			require.Less(t, asked, 10)
		}
	})
}

func TestLostWakeUpOfTheHeadCostsNoMoreThanASignOfLife(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		_, next := w.queueUp(bg)
		time.Sleep(20*time.Second + beat/16) // between two signs of life
		each(w.nodes, func(n *virtual.Node) { n.Mute(true) })
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		each(w.nodes, func(n *virtual.Node) { n.Mute(false) })
		(<-next).after(t, start, time.Nanosecond, beat/3+10*time.Millisecond)
	})
}

// Messages may have been missed while there was no connection, so somebody looks as soon as there
// is one again.
func TestWakeUpThatCameWithoutAConnectionCostsNoSignOfLife(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		_, next := w.queueUp(bg)
		time.Sleep(20*time.Second + beat/16) // between two signs of life
		each(w.nodes, func(n *virtual.Node) { n.Mute(true) })
		require.NoError(t, l.Unlock(bg))
		each(w.nodes, func(n *virtual.Node) { n.Mute(false) })
		start := time.Now()
		each(w.nodes, (*virtual.Node).Reboot)
		(<-next).after(t, start, 0, 100*time.Millisecond)
	})
}

// A user may lack the right to channels, and a proxy may swallow messages.
func TestWaiterToWhomNothingIsEverToldWaitsNoLongerThanASignOfLife(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		each(w.nodes, func(n *virtual.Node) { n.Mute(true) })
		l := w.lock(w.process().queue())
		_, next := w.queueUp(bg)
		time.Sleep(20*time.Second + beat/16) // between two signs of life
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		(<-next).after(t, start, time.Nanosecond, beat/4+10*time.Millisecond)
	})
}

func TestShortestHeartbeatKeepsAllWaitersOfAProcessAlive(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		p := w.process()
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		slow := wait(ctx, p.queue(lock.WithWaiterHeartbeat(time.Minute)))
		synctest.Wait()
		first := wait(bg, p.queue())
		synctest.Wait()
		_, second := w.queueUp(bg)
		time.Sleep(10 * time.Second) // the slow one alone would not give a sign yet
		cancel()
		require.Error(t, (<-slow).err)
		time.Sleep(3 * time.Second)
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		l = await(t, first).after(t, start, 0, 0)
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, await(t, second).err)
	})
}

func TestCancelledWaiterLeavesAtOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		_, first := w.queueUp(ctx)
		_, second := w.queueUp(bg)
		time.Sleep(20 * time.Second)
		start := time.Now()
		cancel()
		g := <-first
		require.ErrorIs(t, g.err, context.Canceled)
		require.Equal(t, start, g.at)
		require.NoError(t, l.Unlock(bg))
		next := (<-second).after(t, start, 0, 0)
		require.NoError(t, next.Unlock(bg))
		synctest.Wait()
		for _, n := range w.nodes {
			require.NotContains(t, n.Keys(), keys.Queue())
			require.NotContains(t, n.Keys(), keys.Waiters())
		}
	})
}

// Nobody is held up by who seems to be dead while another has the lock, and it may be only
// late; but not for ever, as a process that comes and goes would leave place after place.
func TestPlaceBehindAHolderOutlivesALateSignOfLife(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue(lock.WithTTL(time.Hour)))
		places := func(want int) {
			each(w.nodes, func(n *virtual.Node) {
				queue, err := n.Memory().ZMembers(keys.Queue())
				require.NoError(t, err)
				require.Len(t, queue, want)
			})
		}
		const life = beat * 3 / 4
		late, first := w.queueUp(bg)
		late.Silence(true)
		time.Sleep(2 * life)
		_, second := w.queueUp(bg)
		places(2)
		late.Silence(false)
		time.Sleep(3 * life)
		places(2)

		late.Kill()
		time.Sleep(11 * life)
		_, third := w.queueUp(bg)
		places(2)
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, (<-second).lease.Unlock(bg))
		require.NoError(t, (<-third).lease.Unlock(bg))
		require.Empty(t, first)
	})
}

// The queue may be lost and the signs of life not. Nobody has the lock out of turn for longer
// than it takes to notice.
func TestWaiterComesBackToAQueueThatIsLostAlone(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		_, next := w.queueUp(bg)
		time.Sleep(20*time.Second + beat/16) // between two signs of life
		each(w.nodes, func(n *virtual.Node) { n.Memory().Del(keys.Queue()) })
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		(<-next).after(t, start, time.Nanosecond, beat/4+10*time.Millisecond)
	})
}

// One that may not give signs of life, or gives few, and is told nothing.
func TestWaiterThatIsToldNothingLooksNowAndThen(t *testing.T) {
	for _, heartbeat := range []time.Duration{beat, 10 * time.Minute} {
		inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
			l := w.lock(w.process().queue(lock.WithTTL(time.Hour))) // there is no end to wait for
			each(w.nodes, func(n *virtual.Node) {
				n.Refuse(runs(lua.FairBeat{}))
				n.Mute(true)
			})
			dead, _ := w.queueUp(bg) // so that it is not the head when it asks
			start := time.Now()
			waiting := wait(bg, w.process(lock.WithWaiterHeartbeat(heartbeat)).queue())
			synctest.Wait()
			dead.Silence(true)
			time.Sleep(10 * time.Second)
			require.NoError(t, l.Unlock(bg))
			l = await(t, waiting).after(t, start, 30*time.Second, 30*time.Second+beat/4)
			require.NoError(t, l.Unlock(bg))
		})
	}
}

// strangers is how many of those who gave a sign of life had not asked the node for a place.
func strangers(n *virtual.Node) (count int) {
	const keys, holds = 2, 10 // in the arguments: how many keys, and those who live
	asked := make(map[string]bool)
	for _, c := range n.Commands(virtual.Name("EVALSHA")) {
		switch {
		case runs(lua.FairAcquire{})(c.Args):
			n, err := strconv.Atoi(c.Args[keys])
			if err != nil {
				panic(err)
			}
			asked[c.Args[keys+1+n]] = true
		case runs(lua.FairBeat{})(c.Args):
			for _, id := range c.Args[holds:] {
				if !asked[id] {
					count++
				}
			}
		}
	}
	return count
}

// asks is how often a node was asked by who queues.
func asks(n *virtual.Node) int { return len(n.Commands(runs(lua.FairAcquire{}))) }

// More come at once than are let ask at the same moment. Until one has a place, nodes do not
// know it; it gives no sign of life, and has no reason to ask again. Nor has one that nodes
// have forgotten, while it is on its way back.
func TestCrowdAsksOnce(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		const names, waiters = 20, 2500
		holder := w.process()
		name := func(i int) string { return fmt.Sprint("name ", i%names) }
		for i := range names {
			w.lock(fair.New(holder.locks, name(i)))
		}
		crowd := w.process(lock.WithNodeTimeout(20 * time.Second)) // however many flights it takes
		wait(bg, fair.New(crowd.locks, name(0)))                   // from now on it listens
		synctest.Wait()
		settled := func(most int) {
			before := asks(w.nodes[0])
			w.holdUp(300 * time.Millisecond)
			time.Sleep(5 * time.Second)
			w.holdUp(0)
			each(w.nodes, func(n *virtual.Node) { require.LessOrEqual(t, asks(n)-before, most) })
			for i := range names {
				in, err := fair.New(holder.locks, name(i)).Inspect(bg)
				require.NoError(t, err)
				require.Equal(t, waiters/names, len(in.Queue))
			}
		}
		for i := 1; i < waiters; i++ {
			wait(bg, fair.New(crowd.locks, name(i)))
		}
		settled(waiters + waiters/20)
		each(w.nodes, func(n *virtual.Node) { require.Less(t, strangers(n), waiters/20) })

		each(w.nodes, func(n *virtual.Node) {
			for i := range names {
				forgotten, err := lua.NewKeys("lock", name(i))
				require.NoError(t, err)
				n.Memory().Del(forgotten.Queue())
				n.Memory().Del(forgotten.Waiters())
			}
		})
		settled(waiters + waiters/100)
	})
}

// holdUp has each command take a while on its way to the nodes, and no time back.
func (w *world) holdUp(d time.Duration) {
	each(w.nodes, func(n *virtual.Node) { n.SetDelay(d, 0) })
}

// way is how long one flight takes after the other where there is much to be sent.
const way = 300 * time.Millisecond

// busy is a new process that sends one flight at a time, and what has it send so many of them.
// The nodes refuse what is in these at once, which takes less of a test than to execute it.
func (w *world) busy(flights float64, opts ...lock.ClientOption) (p *process, much func()) {
	const flight = 1024
	h := virtual.NewHost(w.nodes)
	h.PoolSize = 3
	p = w.processOn(h, opts...)
	each(w.nodes, func(n *virtual.Node) {
		n.Refuse(func(args []string) bool { return len(args) > 3 && strings.HasPrefix(args[3], "lock:{other ") })
	})
	return p, func() {
		for i := range int(flights * flight) {
			go func() { _, _ = reentrant.New(p.locks, fmt.Sprint("other ", i)).Lock(bg) }()
		}
	}
}

// One whose turn has come needs a second round where the nodes' counters differ. With much
// else to be sent that round is late, and not lost, nor the turn with it: in a crowd it would
// be lost again and again.
func TestTurnIsNotLostInACrowd(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		patient := lock.WithNodeTimeout(time.Second) // enough to connect, too
		p, much := w.busy(3.1, patient)
		l := w.lock(w.process(patient).queue())
		waiting := wait(bg, p.queue())
		synctest.Wait()
		for i, n := range w.nodes {
			require.NoError(t, n.Memory().Set(keys.Token(), fmt.Sprint(10+i)))
		}
		before := asks(w.nodes[0])
		w.holdUp(way)
		start := time.Now()
		require.NoError(t, l.Unlock(bg)) // way
		time.Sleep(way - 15*time.Millisecond)
		much() // in time, if barely
		l = (<-waiting).after(t, start, 2*way+time.Second, 10*way)
		require.Equal(t, 1, asks(w.nodes[0])-before)
		require.NoError(t, l.Unlock(bg))
	})
}

// So is the ticket that a node has to be told, which proposed another one than a quorum.
func TestFinalTicketIsNotLostInACrowd(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		patient := lock.WithNodeTimeout(time.Second)
		p, much := w.busy(4.1, patient)
		l := w.lock(w.process(patient).queue())
		w.lock(fair.New(p.locks, "another"))
		wait(bg, fair.New(p.locks, "another")) // from now on it listens
		synctest.Wait()
		before, odd := asks(w.nodes[0]), w.nodes[2]
		_, err := odd.Memory().ZAdd(keys.Queue(), 5, "who has died")
		require.NoError(t, err)
		w.holdUp(way)
		odd.SetDelay(way+5*time.Millisecond, 0) // it answers when the ticket is final
		waiting := wait(bg, p.queue())
		time.Sleep(way - 15*time.Millisecond)
		much()
		time.Sleep(6 * way)
		each(w.nodes, func(n *virtual.Node) {
			require.Equal(t, 1, asks(n)-before)
			queue, err := n.Memory().SortedSet(keys.Queue())
			require.NoError(t, err)
			require.Len(t, queue, 1)
			for _, ticket := range queue {
				require.EqualValues(t, 1, ticket)
			}
		})
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, (<-waiting).lease.Unlock(bg))
	})
}
