package fair_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

// What a node without the queue proposes is no place: a ticket must be greater than all
// that a quorum has.
func TestTicketThatOnlyAForgetfulNodeProposedPassesNobody(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 5} {
		synctest.Test(t, func(t *testing.T) {
			b := newBubble(t, t, n)
			lease := held(t, b.mutex(t))
			late := b.mutex(t)
			warm := enqueue(late) // it has its connections
			first := enqueue(b.mutex(t))
			second := enqueue(b.mutex(t))
			b.nodes[0].Flush()
			for _, n := range b.nodes[1:] {
				n.Silence(true)
			}
			// Only the forgetful one hears of them. It grants the lock to the first of them,
			// which has to give it back, and has the other wait as number one.
			third, fourth := enqueue(late), enqueue(late)
			time.Sleep(100 * time.Millisecond)
			for _, n := range b.nodes[1:] {
				n.Silence(false)
			}
			time.Sleep(beatDefault)
			_ = lease.Unlock(bg)       // its connections are dead, so it takes a second try
			var serving sync.WaitGroup // in whatever order
			for _, w := range []*wait{warm, first, second, third, fourth} {
				serving.Go(func() {
					<-w.done
					_ = w.lease.Unlock(bg)
				})
			}
			serving.Wait()
			for _, w := range []*wait{third, fourth} {
				requireServed(t, warm, first, second, w)
			}
		})
	}
}

// A place is the same on every node, also on those whose proposal the quorum did not share:
// else their head is another one, which is woken in vain.
func TestNodesThatProposeAnotherTicketAreToldTheFinalOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		last  [5]float64       // ticket on each node; 0: what all have
		delay [5]time.Duration // of its answers, ms
		free  []int            // nodes that have forgotten all
		joins bool             // a stranger comes to the last node when that has granted the lock
		least float64          // that the ticket can be, whoever is in the quorum
	}{
		"more, too late": {last: [5]float64{3: 10, 4: 11}, delay: [5]time.Duration{3: 1, 4: 2}},
		"less, too late": {last: [5]float64{10, 10, 10}, delay: [5]time.Duration{3: 1, 4: 2}},
		"at once":        {last: [5]float64{10, 10, 10, 0, 20}, least: 11},
		"less, at once":  {last: [5]float64{10, 10, 10}, least: 11},
		// The forgetful one grants the lock. While that is given back, the last one answers.
		"after a yield":     {last: [5]float64{10, 10, 10, 0, 20}, delay: [5]time.Duration{0, 0, 4, 3, 6}, free: []int{3}},
		"granted, too late": {last: [5]float64{10, 10, 10}, delay: [5]time.Duration{0, 0, 4, 3, 6}, free: []int{3, 4}, joins: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, t, 5)
				lease := held(t, b.mutex(t))
				synctest.Wait() // all nodes have it: two will forget it, and a third without it would be a loss
				mutex := b.mutex(t)
				warm := enqueue(mutex) // it has its connections
				stranger := func(n *virtual.Node, ticket float64) {
					_, err := n.Memory().ZAdd(b.keys.Queue(), ticket, "a stranger")
					require.NoError(t, err)
					n.Memory().HSet(b.keys.Waiters(), "a stranger", "9999999999999999 1")
				}
				for i, n := range b.nodes {
					n.SetDelay(0, c.delay[i]*time.Millisecond)
					if c.last[i] > 0 {
						stranger(n, c.last[i])
					}
				}
				before := b.places(t)[0]
				for _, i := range c.free {
					b.nodes[i].Flush()
				}
				next := enqueue(mutex)
				if c.joins {
					stranger(b.nodes[4], 15)
				}
				time.Sleep(beatDefault / 10) // no sign of life helps
				places := b.places(t)
				added := 0
				for id, ticket := range places[0] {
					if _, known := before[id]; known {
						continue
					}
					added++
					require.GreaterOrEqual(t, ticket, c.least, "behind all that wait on a node of the quorum")
					for _, queue := range places {
						require.Equal(t, ticket, queue[id])
					}
				}
				require.Equal(t, 1, added)
				for _, n := range b.nodes {
					_, _ = n.Memory().ZRem(b.keys.Queue(), "a stranger")
				}
				serve(t, lease, warm, next)
			})
		})
	}
}

// What a node made of a yield is not known if its answer does not come. It is told the final
// ticket as well.
func TestANodeThatDoesNotAnswerToAYieldIsToldTheFinalTicket(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, t, 5)
		for _, c := range virtual.NewHost(b.nodes).Clients(t) {
			require.NoError(t, c.ScriptLoad(bg, lua.FairYield{}.Call().Script().Source).Err())
			require.NoError(t, c.Close())
		}
		lease := held(t, b.mutex(t))
		mutex := b.mutex(t)
		warm := enqueue(mutex) // it has its connections
		forgetful, before := b.nodes[3], b.places(t)[0]
		forgetful.Flush()
		b.nodes[2].SetDelay(0, 4*time.Millisecond)
		b.nodes[4].SetDelay(0, 6*time.Millisecond)
		forgetful.SetDelay(0, 3*time.Millisecond)
		time.AfterFunc(3500*time.Microsecond, func() { // it has granted the lock, to a minority
			forgetful.SetDelay(0, 250*time.Millisecond)
			_, _ = forgetful.Memory().ZAdd(b.keys.Queue(), 15, "a stranger")
			forgetful.Memory().HSet(b.keys.Waiters(), "a stranger", "9999999999999999 1")
		})
		next := enqueue(mutex)
		time.Sleep(1500 * time.Millisecond) // it is told on a new connection, which is asked whose it is first
		places := b.places(t)
		for id, ticket := range places[0] {
			if _, known := before[id]; !known {
				require.Equal(t, ticket, places[3][id])
			}
		}
		require.Len(t, places[0], len(before)+1)
		forgetful.SetDelay(0, 0)
		_, _ = forgetful.Memory().ZRem(b.keys.Queue(), "a stranger")
		serve(t, lease, warm, next)
	})
}

// A node that has a waiter with a ticket of its own does not change whose turn it is.
func TestInspectShowsTheOrderOfTheQuorum(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, t, 5)
		m := b.mutex(t)
		lease := held(t, m)
		first, second := enqueue(b.mutex(t)), enqueue(b.mutex(t))
		before, err := m.Inspect(bg)
		require.NoError(t, err)
		require.Len(t, before.Waits, 2)
		_, err = b.nodes[4].Memory().ZAdd(b.keys.Queue(), 99, before.Waits[0].Hold)
		require.NoError(t, err)
		after, err := m.Inspect(bg)
		require.NoError(t, err)
		for i, w := range after.Waits {
			require.Equal(t, before.Waits[i].Hold, w.Hold)
		}
		serve(t, lease, first, second)
		requireServed(t, first, second)
	})
}

// serve has each of the waits in turn get the lock and give it back.
func serve(t *testing.T, lease *lock.Lease, waits ...*wait) {
	t.Helper()
	require.NoError(t, lease.Unlock(bg))
	for _, w := range waits {
		w.granted(t, w.began)
		require.NoError(t, w.lease.Unlock(bg))
	}
}

// requireServed requires that waits ended in this order.
func requireServed(t *testing.T, waits ...*wait) {
	t.Helper()
	for i, w := range waits[1:] {
		require.Less(t, waits[i].lease.Token(), w.lease.Token(), "the %dth was served before the one in front of it", i+2)
	}
}
