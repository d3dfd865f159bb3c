package reentrant_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/conformance"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// How programs make one, and what it is.
var (
	_ func(*lock.Client, string, ...lock.Option) *reentrant.Mutex = reentrant.New
	_ lock.Locker                                                 = (*reentrant.Mutex)(nil)
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Kind{New: conformance.From(reentrant.New)})
}
