package fair_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

// What is about time, in virtual time: its bounds are exact.

const beatDefault = 2 * time.Second

// beat is shorter than a connection may be silent: what comes next is the work of
// heartbeats alone.
const beat = 600 * time.Millisecond

var quick = lock.WithWaiterHeartbeat(beat)

// A bubble is the nodes of one fair lock in virtual time.
type bubble struct {
	nodes []*virtual.Node
	keys  lua.Keys
}

// inBubbles runs a test in virtual time on one node and on five.
func inBubbles(t *testing.T, test func(t *testing.T, b *bubble)) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		t.Run(fmt.Sprintf("%d nodes", n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test(t, newBubble(t, t, n))
			})
		})
	}
}

func newBubble(t require.TestingT, tb testing.TB, n int) *bubble {
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	return &bubble{nodes: virtual.StartN(tb, n), keys: keys}
}

// host is a machine with one process that uses the lock.
func (b *bubble) host(t *testing.T, opts ...lock.ClientOption) (*virtual.Host, *fair.Mutex) {
	t.Helper()
	h := virtual.NewHost(b.nodes)
	c, err := lock.NewClient(h.Clients(t), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return h, fair.New(c, "orders")
}

func (b *bubble) mutex(t *testing.T, opts ...lock.ClientOption) *fair.Mutex {
	t.Helper()
	_, m := b.host(t, opts...)
	return m
}

// places are the queues of all nodes, with the tickets.
func (b *bubble) places(t *testing.T) []map[string]float64 {
	t.Helper()
	var places []map[string]float64
	for _, n := range b.nodes {
		queue := make(map[string]float64)
		ids, err := n.Memory().ZMembers(b.keys.Queue())
		require.NoError(t, err)
		for _, id := range ids {
			queue[id], err = n.Memory().ZScore(b.keys.Queue(), id)
			require.NoError(t, err)
		}
		places = append(places, queue)
	}
	return places
}

// mute has no node tell its subscribers anything.
func (b *bubble) mute(on bool) {
	for _, n := range b.nodes {
		n.Mute(on)
	}
}

// A wait is one Lock in virtual time.
type wait struct {
	began time.Time
	ended time.Time
	lease *lock.Lease
	err   error
	done  chan struct{}
}

// enqueue starts a Lock, and returns when all that it does at once is done.
func enqueue(m *fair.Mutex) *wait {
	w := &wait{began: time.Now(), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.lease, w.err = m.Lock(bg)
		w.ended = time.Now()
	}()
	synctest.Wait()
	return w
}

// granted waits for the lock, and tells how long after since it came.
func (w *wait) granted(t *testing.T, since time.Time) time.Duration {
	t.Helper()
	<-w.done
	require.NoError(t, w.err)
	return w.ended.Sub(since)
}

func over(w *wait) bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

func held(t *testing.T, m *fair.Mutex) *lock.Lease {
	t.Helper()
	lease, err := m.TryLock(bg)
	require.NoError(t, err)
	return lease
}

// How many are behind it makes a hand-over no dearer. No two of these are served within one tenure.
func TestScriptsPerHandOverDoNotGrowWithTheWaiters(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		few := b.scriptsPerHandOver(t, 10)
		many := b.scriptsPerHandOver(t, 300)
		t.Logf("%.2f scripts per hand-over and node with 10 waiters, %.2f with 300", few, many)
		require.LessOrEqual(t, many, 4.0)
		require.LessOrEqual(t, many, few+0.5, "thirty times as many wait")
	})
}

func (b *bubble) scriptsPerHandOver(t *testing.T, waiters int) float64 {
	t.Helper()
	lease := held(t, b.mutex(t, calm))
	var clients []*lock.Client
	for range 2 {
		c, err := lock.NewClient(virtual.NewHost(b.nodes).Clients(t), calm)
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		clients = append(clients, c)
	}
	var waits []*wait
	for i := range waiters {
		ttl := lock.WithTTL(time.Minute + time.Duration(i)*time.Millisecond)
		waits = append(waits, enqueue(fair.New(clients[i%2], "orders", ttl)))
	}
	ran := func() (n int) {
		for _, node := range b.nodes {
			n += len(node.Commands(virtual.Name("EVALSHA")))
		}
		return n
	}
	before := ran()
	require.NoError(t, lease.Unlock(bg))
	for _, w := range waits {
		w.granted(t, w.began)
		require.NoError(t, w.lease.Unlock(bg))
	}
	synctest.Wait()
	return float64(ran()-before) / float64(waiters*len(b.nodes))
}

func TestKilledHeadDelaysTheNextByAMomentWhereTheServerSeesIt(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		lease := held(t, b.mutex(t))
		dead, mutex := b.host(t)
		enqueue(mutex)
		next := enqueue(b.mutex(t))
		dead.Kill()
		synctest.Wait()
		released := time.Now()
		require.NoError(t, lease.Unlock(bg))
		require.LessOrEqual(t, next.granted(t, released), 310*time.Millisecond, "it might connect again")
		require.NoError(t, next.lease.Unlock(bg))
	})
}

// The release finds nobody listening, and the next one would have its turn 0.3 seconds later.
// By then the head listens again, and has told the nodes that it is there.
func TestHeadThatReconnectsDuringTheReleaseIsNotOvertaken(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		for range 8 { // which of its connections a process uses first is chance
			lease := held(t, b.mutex(t, calm))
			host, mutex := b.host(t, calm)
			first := enqueue(mutex)
			second := enqueue(b.mutex(t, calm))
			host.Reset()
			released := time.Now()
			require.NoError(t, lease.Unlock(bg))
			time.Sleep(time.Second)
			require.False(t, over(second))
			require.True(t, over(first))
			require.Less(t, first.granted(t, released), 300*time.Millisecond)
			passed := time.Now()
			require.NoError(t, first.lease.Unlock(bg))
			require.Zero(t, second.granted(t, passed))
			require.NoError(t, second.lease.Unlock(bg))
		}
	})
}

func TestCrashedHolderDelaysTheHeadByItsTTL(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		const ttl = 10 * time.Second
		dead, mutex := b.host(t, lock.WithTTL(ttl))
		held(t, mutex)
		renewed := time.Now()
		first, second := enqueue(b.mutex(t)), enqueue(b.mutex(t))
		dead.Kill()
		took := first.granted(t, renewed)
		require.GreaterOrEqual(t, took, ttl)
		require.LessOrEqual(t, took, ttl+50*time.Millisecond)
		require.NoError(t, first.lease.Unlock(bg))
		require.Zero(t, second.granted(t, first.ended))
		require.NoError(t, second.lease.Unlock(bg))
	})
}

func TestLiveWaitersAreNeverPurgedHoweverLongTheyWait(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		lease := held(t, b.mutex(t))
		crowd := b.mutex(t)
		waits := []*wait{enqueue(b.mutex(t)), enqueue(crowd), enqueue(crowd), enqueue(b.mutex(t))}
		places := b.places(t)
		require.Len(t, places[0], len(waits))
		for range 6 {
			time.Sleep(5 * beatDefault)
			require.Equal(t, places, b.places(t))
		}
		released := time.Now()
		require.NoError(t, lease.Unlock(bg))
		for _, w := range waits {
			require.Zero(t, w.granted(t, released))
			require.NoError(t, w.lease.Unlock(bg))
		}
	})
}

func TestLostWakeUpCostsLessThanAHeartbeat(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		lease := held(t, b.mutex(t))
		first, second := enqueue(b.mutex(t)), enqueue(b.mutex(t))
		time.Sleep(5 * beatDefault)
		b.mute(true)
		released := time.Now()
		require.NoError(t, lease.Unlock(bg))
		b.mute(false)
		require.LessOrEqual(t, first.granted(t, released), beatDefault/3)
		require.False(t, over(second))
		require.NoError(t, first.lease.Unlock(bg))
		require.Zero(t, second.granted(t, first.ended))
		require.NoError(t, second.lease.Unlock(bg))
	})
}

func TestLostLockKeyWakesTheHeadWithinAHeartbeat(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		lease := held(t, b.mutex(t, lock.WithTTL(time.Hour)))
		first, second := enqueue(b.mutex(t)), enqueue(b.mutex(t))
		time.Sleep(5 * beatDefault)
		for _, n := range b.nodes {
			n.Memory().Del(b.keys.Lock)
		}
		lost := time.Now()
		require.LessOrEqual(t, first.granted(t, lost), beatDefault/3)
		require.False(t, over(second))
		require.NoError(t, first.lease.Unlock(bg))
		require.Zero(t, second.granted(t, first.ended))
		require.NoError(t, second.lease.Unlock(bg))
		require.ErrorIs(t, lease.Unlock(bg), lock.ErrLost)
	})
}

func TestHeadThatFallsSilentDelaysTheNextByNoMoreThanItsHeartbeat(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		holder := b.mutex(t)
		worst := time.Duration(0)
		for phase := range 10 { // of both hearts at the moment of death
			lease := held(t, holder)
			dead, mutex := b.host(t, quick)
			enqueue(mutex)
			time.Sleep(time.Duration(phase%5) * beat / 13)
			next := enqueue(b.mutex(t, quick))
			time.Sleep(beat + time.Duration(phase)*beat/30)
			dead.Silence(true)
			died := time.Now()
			require.NoError(t, lease.Unlock(bg))
			worst = max(worst, next.granted(t, died))
			require.NoError(t, next.lease.Unlock(bg))
			dead.Kill()
		}
		t.Logf("at the worst %v after its death", worst)
		require.LessOrEqual(t, worst, beat)
		require.Greater(t, worst, beat/2, "the nodes could not tell")
	})
}

func TestUncontendedItTakesOneRoundAlsoAfterOthersHaveWaited(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		const trip = 100 * time.Millisecond
		mutex := b.mutex(t, lock.WithNodeTimeout(time.Second))
		took := func() time.Duration {
			for _, n := range b.nodes {
				n.SetDelay(trip/2, trip/2)
			}
			fastest := time.Hour
			for range 3 { // the first may have to make connections
				start := time.Now()
				lease, err := mutex.Lock(bg)
				require.NoError(t, err)
				fastest = min(fastest, time.Since(start))
				require.NoError(t, lease.Unlock(bg))
			}
			for _, n := range b.nodes {
				n.SetDelay(0, 0)
			}
			time.Sleep(time.Second) // what was under way has ended
			return fastest
		}
		require.NoError(t, held(t, mutex).Unlock(bg)) // the scripts are known
		require.Equal(t, trip, took())
		lease := held(t, b.mutex(t))
		waiting := enqueue(mutex)
		require.NoError(t, lease.Unlock(bg))
		waiting.granted(t, waiting.began)
		require.NoError(t, waiting.lease.Unlock(bg))
		time.Sleep(time.Second)
		require.Equal(t, trip, took())
	})
}

// A hold can make it the same waiter's turn twice: first when a node takes it out of the queue, as a
// quorum has granted it, and later when it ends. The second message is not a repetition of the first.
func TestTheEndOfAHoldIsHeardAfterItsPlaceWasGivenUpElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, t, 5)
		first := held(t, b.mutex(t))
		second := enqueue(b.mutex(t))
		before := b.places(t)[0]
		third := enqueue(b.mutex(t))
		var id string
		for hold := range b.places(t)[0] {
			if _, there := before[hold]; !there {
				id = hold
			}
		}
		time.Sleep(time.Second)         // all that was sent has arrived
		for _, n := range b.nodes[3:] { // which have another hold, and answer late
			n.Delete(b.keys.Lock)
			n.Memory().HSet(b.keys.Lock, "other:1", "1")
			n.SetDelay(0, 20*time.Millisecond)
		}
		released := time.Now()
		require.NoError(t, first.Unlock(bg))
		require.Less(t, second.granted(t, released), 100*time.Millisecond)
		time.Sleep(10 * time.Millisecond)
		for _, n := range b.nodes[3:] { // before they hear that the hold has been granted
			n.Delete(b.keys.Lock)
		}
		time.Sleep(25 * time.Millisecond)
		client, _, _ := strings.Cut(id, ":")
		for _, n := range b.nodes[1:3] { // where it was its turn for another reason
			n.Publish(lua.ClientChannels("lock")+client, id+" other:2")
		}
		time.Sleep(50 * time.Millisecond)
		require.False(t, over(third), "a quorum has told it that it is its turn, and three nodes of five have the lock taken")
		for _, n := range b.nodes[3:] {
			n.SetDelay(0, 0)
		}
		time.Sleep(50 * time.Millisecond)
		released = time.Now()
		require.NoError(t, second.lease.Unlock(bg))
		require.Less(t, third.granted(t, released), 10*time.Millisecond)
		require.NoError(t, third.lease.Unlock(bg))
	})
}
