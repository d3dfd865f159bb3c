package lock_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
)

// Thousands of holds take several flights to a node, one after the other. Close waits for all of
// them, though together they take longer than a node may be silent.
func TestCloseGivesBackThousandsOfHolds(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		const holds, way = 5000, 60 * time.Millisecond
		h := virtual.NewHost(w.nodes)
		h.PoolSize = 3 // for one flight at a time
		p := w.processOn(h)
		w.lockMany(p, holds)
		w.holdUp(way)
		require.NoError(t, p.locks.Close())
		synctest.Wait()
		for _, n := range w.nodes {
			for _, key := range n.Keys() {
				require.True(t, strings.HasSuffix(key, ":token"), key)
			}
		}
	})
}
