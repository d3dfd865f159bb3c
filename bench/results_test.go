package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A target is judged by the median of all runs, once they are of two days.
func TestOneDayDecidesNothing(t *testing.T) {
	b := &bench{results: results{t.TempDir()}, workload: "solo"}
	var out strings.Builder
	b.out = &out
	day := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	run := func(got float64) string {
		out.Reset()
		b.now = day
		b.show(newTable([]string{"N"}, nil), []target{atMost("p50", got, 1.1), atMost("absent", math.NaN(), 1)})
		return out.String()
	}
	require.Contains(t, run(0.92), "| 0.92 (0.92 to 0.92; runs 1, days 1) |")
	require.Contains(t, run(0.94), "| met, on one day |")
	day = day.AddDate(0, 0, 1)
	got := run(1.22)
	require.Contains(t, got, "| 0.94 (0.92 to 1.22; runs 3, days 2) |")
	require.Contains(t, got, "| met ")
	require.NotContains(t, got, "on one day")
	require.Contains(t, run(1.20), "| 1.07 (0.92 to 1.22; runs 4, days 2) |")
	require.Contains(t, run(1.20), "| not met ")
	require.Contains(t, got, "| not measured ")
	require.Empty(t, b.faults)
}

// The results that are kept are of this program's workloads.
func TestKeptResultsCanBeRead(t *testing.T) {
	for w, file := range map[string]string{
		"solo": "2026-11-22.json", "many": "2026-11-22.json", "hot": "2026-11-23.json",
	} {
		runs, err := read("results/" + file)
		require.NoError(t, err)
		found := false
		for _, r := range runs {
			found = found || r.Workload == w && len(r.Targets) > 0
		}
		require.True(t, found, w)
	}
}
