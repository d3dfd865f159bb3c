package waiter_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestOneReleaseWakesOnceAndNotOncePerNode(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 5} {
		_, clients := start(t, n)
		h := newHub(t, clients...)
		_, e := listen(t, h, "orders")
		_, other := listen(t, h, "payments")
		everywhere(t, clients, "orders")
		for i := range 20 {
			for _, c := range clients {
				publish(t, c, "orders", fmt.Sprint("release ", i))
			}
		}
		flush(t, clients, "orders", e)
		for i := range 20 {
			require.Equal(t, 1, e.count(fmt.Sprint("release ", i)), "%d nodes", n)
		}
		require.Empty(t, other.all(), "it is another channel's")
	}
}

func TestMinorityWakesAndSoDoesAQuorumThatFollowsButNoMore(t *testing.T) {
	t.Parallel()
	_, clients := start(t, 3)
	h := newHub(t, clients...)
	_, e := listen(t, h, "orders")
	everywhere(t, clients, "orders")
	publish(t, clients[1], "orders", "release")
	e.waitFor(t, "release")
	publish(t, clients[0], "orders", "release") // late
	publish(t, clients[2], "orders", "release")
	flush(t, clients, "orders", e)
	require.Equal(t, 2, e.count("release"), "the third node has nothing new to say")
}

func TestEachWhoListensIsWokenUntilItLeaves(t *testing.T) {
	t.Parallel()
	_, clients := start(t, 3)
	h := newHub(t, clients...)
	s1, e1 := listen(t, h, "orders")
	s2, e2 := listen(t, h, "orders")
	everywhere(t, clients, "orders")
	say := func(message string) {
		for _, c := range clients {
			publish(t, c, "orders", message)
		}
	}
	say("one")
	e1.waitFor(t, "one")
	e2.waitFor(t, "one")
	s1.Close()
	s1.Close() // again
	say("two")
	e2.waitFor(t, "two")
	flush(t, clients, "orders", e2)
	require.Equal(t, []string{"one"}, without(e1.all()))
	s2.Close()
}

// A client's own channel carries the wake-ups of all its locks. Nodes publish them in
// different orders, and any number of them ahead of each other.
func TestManyMessagesOnOneChannelAreAllToldApart(t *testing.T) {
	t.Parallel()
	const messages = 1000
	_, clients := start(t, 3)
	h := newHub(t, clients...)
	_, e := listen(t, h, "client")
	everywhere(t, clients, "client")
	var nodes sync.WaitGroup
	for i, c := range clients {
		order := rand.Perm(messages)
		if i == 1 {
			slices.Sort(order)
			slices.Reverse(order)
		}
		nodes.Go(func() {
			for _, m := range order {
				if err := c.Publish(bg, "client", fmt.Sprint("wake ", m)).Err(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	nodes.Wait()
	flush(t, clients, "client", e)
	heard := make(map[string]int)
	for _, m := range e.all() {
		heard[m]++
	}
	for m := range messages {
		n := heard[fmt.Sprint("wake ", m)]
		require.Positive(t, n, "message %d wakes who waits for it", m)
		require.LessOrEqual(t, n, 2, "message %d: for a minority, if others are late, and for a quorum", m)
	}
}

// A waiter tries, subscribes, waits for the confirmation and tries again. Then no
// release is missed, at whatever moment it comes.
func TestReleaseIsNotMissedByWhoLooksAgainAfterReady(t *testing.T) {
	t.Parallel()
	_, clients := start(t, 3)
	h := newHub(t, clients...)
	for i := range 300 {
		name := fmt.Sprint("orders ", i)
		free := func() bool { return clients[0].Exists(bg, name).Val() == 1 }
		var releaser sync.WaitGroup
		releaser.Go(func() {
			for _, c := range clients { // node by node, the state before the message
				c.Set(bg, name, "free", 0)
				c.Publish(bg, name, "release")
			}
		})
		woken := make(chan string, 10)
		s := h.Subscribe(name, func(m string) { woken <- m })
		ready(t, s)
		if !free() {
			redistest.Eventually(t, within, func() bool {
				select {
				case <-woken:
					return free()
				default:
					return false
				}
			}, "release %d wakes", i)
		}
		releaser.Wait()
		s.Close()
	}
}
