package lock

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAClosedTallyRefusesCallsAndWaitsForTheOthers(t *testing.T) {
	for range 200 {
		c := newTally()
		require.True(t, c.enter())
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for c.enter() {
					c.leave()
				}
			})
		}
		c.close()
		require.False(t, c.enter())
		require.False(t, isClosed(c.none), "one call is in progress")
		c.leave()
		c.wait()
		all.Wait()
	}
}

func TestAnEmptyTallyIsNotWaitedFor(t *testing.T) {
	c := newTally()
	c.close()
	c.wait()
	require.False(t, c.enter())
}
