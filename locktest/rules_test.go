package locktest_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/conformance"
	"github.com/holdfast-go/holdfast/locktest"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
)

// A fake keeps every rule that locks on real servers keep, of every kind, on one node and on several.
// Package semaphore has the same test.
func TestConformance(t *testing.T) {
	for name, kind := range map[string]conformance.Kind{
		"reentrant": {New: conformance.From(reentrant.New)},
		"fair":      {New: conformance.From(fair.New), Queues: true},
		"readwrite": {New: conformance.From(readwrite.New), Queues: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conformance.RunFake(t, kind, start)
		})
	}
}

func start(t *testing.T, nodes int) conformance.Fake {
	f := locktest.NewN(t, nodes)
	f.Delay(time.Millisecond) // cancellations and rivals meet commands that are under way
	return f
}
