package multi_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/readwrite"
)

// Two goroutines lock two names one after the other. The request of one comes right behind the releases of the other,
// whose answers come with that of the request: it has followed, and nothing was lost. To ask the nodes why the other is
// gone would take as long as the farthest of them does.
func TestAFarNodeDelaysNobodyWhoFollows(t *testing.T) {
	inVirtualTime(t, []int{5}, func(t *testing.T, w *world) {
		w.near()
		w.nodes[0].SetDelay(35*time.Millisecond, 35*time.Millisecond)
		c := w.client()
		ctx, stop := context.WithTimeout(bg, 3*time.Second)
		defer stop()
		var holds atomic.Int32
		var wg sync.WaitGroup
		for i := range 2 {
			wg.Go(func() {
				for ctx.Err() == nil {
					l, err := multi.New(readwrite.New(c, "a"), readwrite.New(c, "b")).Lock(bg)
					if err != nil {
						t.Error(err)
						return
					}
					holds.Add(1)
					time.Sleep(nearTrip)
					_ = l.Unlock(bg)
					time.Sleep(5*time.Millisecond + time.Duration(i)*777*time.Microsecond)
				}
			})
		}
		wg.Wait()
		require.Greater(t, holds.Load(), int32(500), "in 3 seconds")
		for _, n := range w.nodes {
			require.Empty(t, n.Commands(virtual.Script(lua.Forced{}.Call().Script().SHA)))
		}
	})
}
