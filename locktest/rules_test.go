package locktest_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/conformance"
	"github.com/holdfast-go/holdfast/locktest"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
)

// A fake keeps every rule that locks on real servers keep, on one node and on several. Those
// of the other kinds are the same engine, and their tests run on the same nodes.
//
// The race detector makes the embedded nodes slow. Under it, several nodes have those rules
// only that one node does not have; the others are the same but for the number of nodes.
func TestConformance(t *testing.T) {
	for name, kind := range map[string]conformance.Kind{
		"reentrant": {New: conformance.From(reentrant.New)},
		"readwrite": {New: conformance.From(readwrite.New), Queues: true},
	} {
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
