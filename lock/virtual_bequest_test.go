package lock_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/readwrite"
)

// The release names the place that asks right after it. Who has that place may leave it to another at that moment.
func TestASuccessorLeavesItsPlaceWhileItIsNamed(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		rival := readwrite.New(w.process().locks, "orders")
		l := readwrite.New(w.process().locks, "orders")
		for range 200 {
			ctx, cancel := context.WithCancel(bg)
			held := w.lock(l)
			other := wait(bg, rival) // so this process does not pass the lock on to itself
			synctest.Wait()
			leader := wait(ctx, l.RLocker())
			synctest.Wait()
			follower := wait(bg, l.RLocker())
			synctest.Wait()
			go cancel()
			require.NoError(t, held.Unlock(bg))
			var over sync.WaitGroup
			for _, c := range []<-chan grant{other, leader, follower} {
				over.Go(func() {
					if g := <-c; g.lease != nil {
						assert.NoError(t, g.lease.Unlock(bg))
					} else {
						assert.ErrorIs(t, g.err, context.Canceled)
					}
				})
			}
			over.Wait()
		}
	})
}
