package lock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/readwrite"
)

// A reader that joins those of its process is renewed though the work of the others has been given up.
func TestAReaderThatJoinsAbandonedOnesIsRenewed(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		m := readwrite.New(p.locks, "orders")
		ctx, cancel := context.WithCancel(bg)
		first, err := m.RLock(ctx)
		require.NoError(t, err)
		first.Context(ctx)
		cancel()
		time.Sleep(10 * time.Millisecond)
		second, err := m.RLock(bg)
		require.NoError(t, err)
		require.Equal(t, first.Deadline(), second.Deadline(), "it has joined")
		time.Sleep(3 * defaultTTL)
		require.NoError(t, second.Err())
		require.NoError(t, second.Unlock(bg))
	})
}
