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
//
// The race detector makes the embedded nodes slow. Under it, there are two kinds only: one whose
// waiters wait for messages, and one whose waiters stand in a queue. And several nodes have those
// rules only that one node does not have; the others are the same but for the number of nodes.
func TestConformance(t *testing.T) {
	kinds := map[string]conformance.Kind{
		"reentrant": {New: conformance.From(reentrant.New)},
		"readwrite": {New: conformance.From(readwrite.New), Queues: true},
	}
	if !race {
		kinds["fair"] = conformance.Kind{New: conformance.From(fair.New), Queues: true}
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("one node", func(t *testing.T) { conformance.RunVirtual(t, kind, 1, start) })
			t.Run("three nodes", func(t *testing.T) {
				if race {
					conformance.RunVirtualQuorums(t, kind, 3, start)
				} else {
					conformance.RunVirtual(t, kind, 3, start)
				}
			})
		})
	}
}

func start(t *testing.T, nodes int) conformance.Fake {
	f := locktest.NewN(t, nodes)
	f.Delay(time.Millisecond) // cancellations and rivals meet commands that are under way
	return f
}
