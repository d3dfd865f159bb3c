package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPageKeepsWhatIsWrittenByHand(t *testing.T) {
	p := page{filepath.Join(t.TempDir(), "page.md")}
	text := "# Title\n<!-- bench:solo -->\nold\n<!-- end -->\nbetween\n<!-- bench:many -->\n<!-- end -->\nend\n"
	require.NoError(t, os.WriteFile(p.path, []byte(text), 0o600))
	require.NoError(t, p.set("solo", "\n| new |\n"))
	require.NoError(t, p.set("many", "| more |"))
	got, err := os.ReadFile(p.path)
	require.NoError(t, err)
	require.Equal(t, "# Title\n<!-- bench:solo -->\n| new |\n<!-- end -->\nbetween\n<!-- bench:many -->\n| more |\n<!-- end -->\nend\n", string(got))
	require.ErrorContains(t, p.set("hot", ""), "hot")
}

// Each workload has its place in the project's page.
func TestPerformancePageHasAllWorkloads(t *testing.T) {
	text, err := os.ReadFile("../docs/performance.md")
	require.NoError(t, err)
	for _, w := range workloads {
		require.Contains(t, string(text), "<!-- bench:"+w.name+" -->\n")
	}
}
