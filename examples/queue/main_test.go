package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/examples/internal/exampletest"
	"github.com/holdfast-go/holdfast/examples/internal/fleet"
)

// TestMain also is the main function of the customers: what a test runs is this program.
func TestMain(m *testing.M) {
	if !fleet.Join(queueUp) {
		exampletest.Main(m)
	}
}

func TestCustomersAreServedInTheOrderInWhichTheyCame(t *testing.T) {
	// The race detector lets every program end a second late, unless it is told not to.
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	exampletest.Run(t, 3, serve, func(t *testing.T, told exampletest.Told) {
		told.InOrder(t,
			`clerk   locked "counter"`,
			"ann     arrives, visit 1",
			"queue   ann\n",
			"bob     arrives, visit 1",
			"queue   ann, bob\n",
			"cid     arrives, visit 1",
			"queue   ann, bob, cid\n",
			"dan     arrives, visit 1",
			"queue   ann, bob, cid, dan\n",
			"cid     is killed",
			"clerk   unlocks it",
			"ann     is served, visit 1",
			"ann     leaves",
			"bob     is served, visit 1",
			"bob     leaves",
			"dan     is served, visit 1", // next to cid
			"dan     leaves",
			"Nobody waits any more.",
		)
		require.Zero(t, told.Count("cid     is served"))
		// Whoever comes again stands behind those who waited.
		for _, name := range []string{"ann", "bob", "dan"} {
			told.InOrder(t, "dan     is served, visit 1", name+"     is served, visit 2", name+"     leaves")
		}
	})
}
