package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The charts that the pages show are of the results that are kept: who adds results draws
// them anew. The same results give the same bytes.
func TestChartsAreOfTheKeptResults(t *testing.T) {
	shown, again := filepath.Join("..", "docs", "charts"), t.TempDir()
	require.NoError(t, results{"results"}.draw(again))
	require.Len(t, files(t, shown), len(charts)*len(themes))
	for name, svg := range files(t, again) {
		require.True(t, svg == files(t, shown)[name], "%s is not of these results: go run . -results results -charts ../docs/charts", name)
	}
}

// A reader sees every chart, on a light page and on a dark one.
func TestEveryChartIsOnAPage(t *testing.T) {
	var pages string
	for page, from := range map[string]string{"README.md": "docs/charts/", "docs/performance.md": "charts/"} {
		text, err := os.ReadFile(filepath.Join("..", page))
		require.NoError(t, err)
		pages += strings.ReplaceAll(string(text), `="`+from, `="`)
	}
	for name := range charts {
		require.True(t, strings.Contains(pages, `<source media="(prefers-color-scheme: dark)" srcset="`+name+`-dark.svg">`), name)
		require.True(t, strings.Contains(pages, `src="`+name+`-light.svg"`), name)
	}
}

// What several runs have shown is drawn with its range.
func TestAChartShowsTheRangeOfAllRuns(t *testing.T) {
	folder := t.TempDir()
	run := func(day, figure string) {
		text := `[{"workload": "fairness", "table": ["N | contender | gap p50 ms", "1 | holdfast | ` + figure + `", "5 | holdfast | 0.3"]}]`
		require.NoError(t, os.WriteFile(filepath.Join(folder, day+".json"), []byte(text), 0o600))
	}
	drawn := func() string {
		h, err := results{folder}.history("fairness")
		require.NoError(t, err)
		var svg strings.Builder
		_, err = charts["fairness"].draw(themes[0], h).WriteTo(&svg)
		require.NoError(t, err)
		return svg.String()
	}
	run("2026-11-22", "0.2")
	one := drawn()
	require.Contains(t, one, ">0.200<")
	require.Contains(t, one, ">one run, 2026-11-22<")

	run("2026-11-24", "0.4")
	two := drawn()
	require.Contains(t, two, ">0.300<", "the median")
	require.Contains(t, two, ">median and range of 2 runs on 2 days, 2026-11-22 to 2026-11-24<")
	require.Equal(t, 3, strings.Count(two, "<path")-strings.Count(one, "<path"), "a line from the least to the greatest, with its ends")
}

// A ratio is taken within one run: machines differ.
func TestARatioIsOfOneRun(t *testing.T) {
	h := history{rows: []kept{
		{run: 1, cells: map[string]string{"contender": "a", "p50": "2"}},
		{run: 1, cells: map[string]string{"contender": "b", "p50": "1"}},
		{run: 2, cells: map[string]string{"contender": "a", "p50": "60"}},
		{run: 2, cells: map[string]string{"contender": "b", "p50": "20"}},
		{run: 3, cells: map[string]string{"contender": "b", "p50": "5"}},
	}}
	require.Equal(t, []float64{2, 3}, h.ratios("p50", labels{"contender": "a"}, labels{"contender": "b"}))
}

// Without results there is nothing to draw, and the charts that are there stay.
func TestNoResultsNoCharts(t *testing.T) {
	require.ErrorContains(t, results{t.TempDir()}.draw(t.TempDir()), "no results of")
}

func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(folder)
	require.NoError(t, err)
	all := make(map[string]string)
	for _, f := range list {
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		require.NoError(t, err)
		all[f.Name()] = string(text)
	}
	return all
}
