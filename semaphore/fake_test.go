package semaphore_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/conformance"
	"github.com/holdfast-go/holdfast/locktest"
	"github.com/holdfast-go/holdfast/semaphore"
)

// TestConformanceOnAFake is of package locktest: its fake keeps the rules for permits, too.
func TestConformanceOnAFake(t *testing.T) {
	conformance.RunFake(t, conformance.Kind{New: conformance.From(semaphore.NewMutex), Queues: true},
		func(t *testing.T, nodes int) conformance.Fake {
			f := locktest.NewN(t, nodes)
			f.Delay(time.Millisecond) // cancellations and rivals meet commands that are under way
			return f
		})
}
