package main

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/examples/internal/exampletest"
	"github.com/holdfast-go/holdfast/examples/internal/fleet"
)

// TestMain also is the main function of the candidates: what a test runs is this program.
func TestMain(m *testing.M) {
	if !fleet.Join(campaign) {
		exampletest.Main(m)
	}
}

func TestTheNextLeaderGoesOnWhereTheWorkStands(t *testing.T) {
	// The race detector lets every program end a second late, unless it is told not to.
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	exampletest.Run(t, 3, watch, func(t *testing.T, told exampletest.Told) {
		told.InOrder(t,
			"leads term", "and continues after step 0\n",
			"has done step 1\n", "has done step 2\n", "has done step 3\n",
			"is killed, without warning, in term",
			"leads term", "resigns\n",
			"leads term", "resigns\n",
		)
		require.Equal(t, 3, told.Count("leads term"))
		require.Equal(t, 2, told.Count("resigns"))
		for _, name := range candidates {
			require.Equal(t, 1, told.Count(name+"     leads term"), name)
		}
		// No step is done twice, and none is left out, but that the first leader may have been
		// killed before it could tell of its last one.
		last, missing := 0, 0
		for _, m := range regexp.MustCompile(`has done step (\d+)\n`).FindAllStringSubmatch(string(told), -1) {
			step, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			require.Greater(t, step, last)
			missing += step - last - 1
			last = step
		}
		require.LessOrEqual(t, missing, 1)
		require.GreaterOrEqual(t, last, 3+2*turn)
	})
}
