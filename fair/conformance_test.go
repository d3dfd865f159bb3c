package fair_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/conformance"
	"github.com/holdfast-go/holdfast/lock"
)

// How programs make one, and what it is.
var (
	_ func(*lock.Client, string, ...lock.Option) *fair.Mutex = fair.New
	_ lock.Locker                                            = (*fair.Mutex)(nil)
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Kind{New: conformance.From(fair.New), Queues: true})
}
