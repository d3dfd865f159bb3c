package fair_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
)

// Nodes that fail, and what they forget.

// line has so many waiters of three processes wait, one after the other.
func (r *rig) line(t *testing.T, n int) []*call {
	t.Helper()
	parties := []party{here{r.client(t)}, here{r.client(t)}, here{r.client(t)}}
	var calls []*call
	for i := range n {
		calls = append(calls, r.enqueue(t, parties[i%3], fmt.Sprint("waiter ", i)))
	}
	return calls
}

func TestLostLockKeyWakesTheHead(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := newRig(t, n)
		lease := r.hold(t, lock.WithTTL(time.Hour))
		calls := r.line(t, 3)
		for _, eye := range r.eyes {
			require.NoError(t, eye.Del(bg, r.keys().Lock).Err())
		}
		calls[0].requireGranted(t, beatDefault+promptly)
		r.pass(t, calls...)
		// A renewal that found the first ones without it, and the others with it still, may have given it back to them. An
		// Unlock to which one of them is among the first to answer cannot tell that it was lost.
		for _, eye := range r.eyes {
			require.NoError(t, eye.Del(bg, r.keys().Lock).Err())
		}
		require.ErrorIs(t, lease.Unlock(bg), lock.ErrLost)
		r.requireDrained(t)
	}
}

func TestQueueGoesOnInOrderAlthoughAMinorityForgetsIt(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 5} {
		r := newRig(t, n)
		lease := r.hold(t)
		calls := r.line(t, 6)
		tickets := r.tickets(n - 1)
		for _, s := range r.servers[n-n/2:] {
			s.Restart() // keeps nothing
		}
		// It has the queue again from the waiters, with the tickets they had.
		redistest.Eventually(t, within, func() bool {
			return maps.Equal(tickets, r.tickets(n-1)) && len(r.settled()) == len(calls)
		}, "all are back")
		require.NoError(t, lease.Unlock(bg))
		r.pass(t, calls...)
		r.requireDrained(t)
	}
}

// No ticket survives on a quorum, nor does the lock.
func TestQueueGoesOnAlthoughEveryNodeForgetsIt(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		r := newRig(t, n)
		lease := r.hold(t)
		calls := r.line(t, 6)
		for _, s := range r.servers {
			s.Restart()
		}
		r.serve(t, calls...)
		require.ErrorIs(t, lease.Unlock(bg), lock.ErrLost)
		r.requireDrained(t)
	}
}

// tickets is the queue of a node.
func (r *rig) tickets(node int) map[string]float64 {
	places := r.eyes[node].ZRangeWithScores(bg, r.keys().Queue(), 0, -1).Val() // none, if it does not answer
	tickets := make(map[string]float64)
	for _, p := range places {
		tickets[p.Member.(string)] = p.Score
	}
	return tickets
}

func TestQueueGoesOnInOrderWithoutTwoOfFiveNodes(t *testing.T) {
	t.Parallel()
	faults := map[string]func(*redistest.Server){
		"dead":    (*redistest.Server).Kill,
		"stopped": (*redistest.Server).Pause,
	}
	for name, fault := range faults {
		for _, lost := range []int{1, 2} {
			t.Run(fmt.Sprintf("%d %s", lost, name), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, 5)
				lease := r.hold(t)
				calls := r.line(t, 6)
				for _, s := range r.servers[:lost] {
					fault(s)
				}
				require.NoError(t, lease.Unlock(bg))
				// Those who come now stand behind.
				calls = append(calls, r.line(t, 3)...)
				r.pass(t, calls...)
				for _, s := range r.servers[:lost] {
					s.Resume()
					s.Start()
				}
				r.requireDrained(t)
			})
		}
	}
}

// spare is a node that can forget the lock without ending the hold: the one that is
// wanted, unless it is of a bare quorum. A release that is late on a node has the next one
// granted without it, and only a restart guard keeps a hold that loses one of its last three.
func (r *rig) spare(wanted int) int {
	having := make(map[string][]int)
	for node, eye := range r.eyes {
		for _, hold := range eye.HKeys(bg, r.keys().Lock).Val() {
			having[hold] = append(having[hold], node)
		}
	}
	for _, nodes := range having {
		if len(nodes) != r.quorum() || !slices.Contains(nodes, wanted) {
			continue
		}
		for node := range r.eyes {
			if !slices.Contains(nodes, node) {
				return node
			}
		}
	}
	return wanted
}

func TestQueueGoesOnInOrderWhileNodesComeAndGo(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5)
	lease := r.hold(t, calm)
	calls := r.line(t, 10)
	require.NoError(t, lease.Unlock(bg))
	for i, c := range calls {
		// One at a time, and each forgets everything; it has the tickets again before the
		// next one forgets them.
		c.requireGranted(t, within)
		for _, later := range calls[i+1:] {
			require.False(t, later.over())
		}
		r.servers[r.spare(i%5)].Restart()
		left := len(calls) - i - 1
		redistest.Eventually(t, within, func() bool { return len(r.settled()) == left }, "%d are back", left)
		require.NoError(t, c.unlock())
	}
	r.requireOrder(t)
	r.requireDrained(t)
}

// Each process reaches the nodes in an order of its own, so that several find the free
// lock free on a minority of nodes.
func TestSplitVotesKeepTheOrder(t *testing.T) {
	t.Parallel()
	const processes, rounds = 5, 10
	r := newRig(t, 5)
	r.watch(t)
	var clients []here
	var all []*redistest.Proxy
	for i := range processes {
		c, proxies := r.proxied(t, calm)
		for j, p := range proxies {
			p.SetDelay(time.Duration((i+j)%5) * 4 * time.Millisecond)
		}
		clients, all = append(clients, here{c}), append(all, proxies...)
	}
	for round := range rounds {
		var calls []*call
		for i, c := range clients {
			calls = append(calls,
				c.lock(r, fmt.Sprintf("waiter %d of process %d", round, i)),
				c.lock(r, fmt.Sprintf("another %d of process %d", round, i)))
		}
		r.serve(t, calls...)
	}
	yields := sent(all, yieldCall)
	t.Logf("%d locks, %d attempts, %d yields", 2*processes*rounds, sent(all, askCall), yields)
	require.Positive(t, yields, "no votes were split")
	r.requireOrder(t)
	r.requireDrained(t)
}
