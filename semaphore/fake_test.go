//go:build !race

package semaphore_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/conformance"
	"github.com/holdfast-go/holdfast/locktest"
	"github.com/holdfast-go/holdfast/semaphore"
)

// TestConformanceOnAFake is of package locktest: its fake keeps the rules for permits, too. The
// race detector makes the embedded nodes slow, and under it other kinds are enough.
func TestConformanceOnAFake(t *testing.T) {
	kind := conformance.Kind{New: conformance.From(semaphore.NewMutex), Queues: true}
	for name, nodes := range map[string]int{"one node": 1, "three nodes": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conformance.RunVirtual(t, kind, nodes, func(t *testing.T, nodes int) conformance.Fake {
				f := locktest.NewN(t, nodes)
				f.Delay(time.Millisecond) // cancellations and rivals meet commands that are under way
				return f
			})
		})
	}
}
