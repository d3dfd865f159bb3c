package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/examples/internal/exampletest"
	"github.com/holdfast-go/holdfast/examples/internal/fleet"
)

// TestMain also is the main function of the callers: what a test runs is this program.
func TestMain(m *testing.M) {
	if !fleet.Join(call) {
		exampletest.Main(m)
	}
}

func TestNobodyIsTurnedAway(t *testing.T) {
	// The race detector lets every program end a second late, unless it is told not to.
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	exampletest.Run(t, 3, watch, func(t *testing.T, told exampletest.Told) {
		told.InOrder(t,
			"service serves 5 at once",
			"cid     calls", "cid     is killed during its call",
			"and turned 0 away",
			"All permits are free again: [0 1 2 3 4]",
		)
		for _, name := range callers {
			if name == unlucky {
				require.Zero(t, told.Count(name+"     is served"))
				continue
			}
			require.Equal(t, calls, told.Count(name+"     is served"), name)
		}
		require.Equal(t, 1, told.Count("has served 21 calls"))
		require.Zero(t, told.Count(" 6 at once"))
	})
}
