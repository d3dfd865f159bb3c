package fair_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/conformance"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Kind{New: conformance.From(fair.New), Queues: true})
}
