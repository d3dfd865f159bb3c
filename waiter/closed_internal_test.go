package waiter

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// Close stops neither a timer that has fired nor a line that has heard a message, if they wait for the mutex.
func TestWhatComesWhileAHubIsClosedWakesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New([]redis.UniversalClient{nil, nil, nil}, 2, nil)
		h.start.Do(func() {}) // nothing connects
		woken := 0
		wake := func(string) { woken++ }
		h.Subscribe("orders", wake)
		h.publish(0, "orders", "one node's")
		c := h.channels["orders"]
		require.True(t, c.armed)

		h.Close()
		c.graceOver()
		require.False(t, c.armed)
		time.Sleep(grace)
		c.graceOver()
		h.Subscribe("orders", wake)
		for node := range 2 {
			h.publish(node, "orders", "a quorum's")
		}
		require.Zero(t, woken)
	})
}
