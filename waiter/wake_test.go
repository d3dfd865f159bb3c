package waiter_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

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
