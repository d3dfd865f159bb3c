package redlock

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// A node is asked by one at a time, once a minute, and at once after a connection broke.
func TestWhenANodeIsAskedWhetherBatchesWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &batching{samples: []lua.Call{lua.Server{}.Call()}}
		require.False(t, b.due(minBatch-1), "too few to gain")
		require.True(t, b.due(minBatch))
		time.Sleep(2 * askAgain)
		require.False(t, b.due(minBatch), "it is being asked")
		b.asking = false
		require.True(t, b.due(minBatch))
		b.asking = false
		time.Sleep(askAgain - time.Nanosecond)
		require.False(t, b.due(minBatch), "it is known")
		time.Sleep(time.Nanosecond)
		require.True(t, b.due(minBatch), "a minute ago")
		b.asking = false
		b.works.Store(true)
		b.failed(lua.Failure("WRONGTYPE"))
		require.True(t, b.works.Load(), "it answered")
		require.False(t, b.due(minBatch))
		b.failed(io.EOF)
		require.False(t, b.works.Load())
		require.True(t, b.due(minBatch))
		require.False(t, (&batching{}).due(minBatch), "there is nothing to ask")
	})
}
