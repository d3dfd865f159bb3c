package reentrant_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/conformance"
	"github.com/holdfast-go/holdfast/reentrant"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Kind{New: conformance.From(reentrant.New)})
}
