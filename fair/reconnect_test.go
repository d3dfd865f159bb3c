package fair_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The release finds nobody listening, and the next one would have its turn 0.3 seconds later.
// By then the head listens again, and has told the nodes that it is there.
func TestHeadThatReconnectsDuringTheReleaseIsNotOvertaken(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
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
	})
}
