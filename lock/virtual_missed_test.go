package lock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// Answers that come after the node timeout are of no use to whoever waits for them: its turn is missed each time. That
// must not shut out the others, though its place in the queues is kept alive. Once it hears in time, it is served again.
func TestWhoMissesItsTurnsDoesNotShutOutOthers(t *testing.T) {
	const away, most, lasts, hold = defaultNodeTimeout/2 + 10*time.Millisecond, 3 * time.Second, 10 * time.Second, 12 * time.Millisecond
	for kind, far := range map[string]string{"fair": "fair", "writer": "writer", "reader": "writer", "permit": "permit"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				host := virtual.NewHost(w.nodes)
				distant, near := w.processOn(host), w.process()
				host.SetDelay(away, away)
				heard, leave := again(4, hold, func() lock.Locker { return distant.lockOf(far) })
				defer leave()
				time.Sleep(time.Second) // they are at the head
				held, stop := again(2, hold, func() lock.Locker { return near.lockOf(kind) })
				defer stop()
				start, before, longest := time.Now(), time.Now(), time.Duration(0)
				for n := int64(0); time.Since(start) < lasts; time.Sleep(10 * time.Millisecond) {
					if held.Load() > n {
						longest = max(longest, time.Since(before))
						n, before = held.Load(), time.Now()
					}
				}
				require.Less(t, max(longest, time.Since(before)), most)
				require.Greater(t, held.Load(), int64(lasts/hold)/2, "that it has most of the time")
				require.Zero(t, heard.Load())
				host.SetDelay(0, 0)
				time.Sleep(most + time.Second)
				n := heard.Load()
				time.Sleep(2 * time.Second)
				require.Greater(t, heard.Load()-n, int64(2*time.Second/hold/6), "a good part of its share")
			})
		})
	}
}
