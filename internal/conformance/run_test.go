package conformance

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the race detector does not watch is checked without it.
func TestEveryDeploymentIsLeftToOneOfTwoRuns(t *testing.T) {
	for _, d := range deployments {
		some := slices.Contains(raced, d.name)
		require.Equal(t, some || !race, left(d.name), d.name)
		t.Setenv("HOLDFAST_RULES", "rest")
		require.Equal(t, some == race, left(d.name), d.name)
		t.Setenv("HOLDFAST_RULES", "")
	}
	for _, name := range raced {
		require.True(t, slices.ContainsFunc(deployments, func(d deployment) bool { return d.name == name }), name)
	}
}
