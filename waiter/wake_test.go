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
