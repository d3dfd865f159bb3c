package lock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// Who may not ask yet, because too many others do, can still give up.
func TestAWaiterForWhomThereIsNoRoomGivesUpAtOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := w.lock(w.process().queue())
		p := w.process()
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		g := wait(ctx, p.queue())
		synctest.Wait()
		lock.CrowdAdmissions(p.locks)
		require.NoError(t, l.Unlock(bg)) // so it is its turn
		synctest.Wait()
		start := time.Now()
		cancel()
		got := await(t, g)
		require.ErrorIs(t, got.err, context.Canceled)
		require.Equal(t, start, got.at)
	})
}
