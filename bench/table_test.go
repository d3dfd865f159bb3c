package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTablesLineUp(t *testing.T) {
	columns := []column{
		{title: "p50 µs", figure: p50, format: short},
		{title: "overlaps", figure: overlaps, worst: true, format: whole},
	}
	s := &samples{order: []string{"holdfast", "redsync"}, of: map[string][]figures{
		"redsync":  {{p50: 1234.5, overlaps: 0}},
		"holdfast": {{p50: 7, overlaps: 0}, {p50: 9, overlaps: 2}, {p50: 8, overlaps: 0}},
	}}
	table := newTable([]string{"N", "contender"}, columns)
	table.add(s, columns, "5")
	var out strings.Builder
	table.print(&out)
	require.Equal(t, ""+
		"|   N | contender | p50 µs | overlaps |\n"+
		"|----:|-----------|-------:|---------:|\n"+
		"|   5 | holdfast  |    8.0 |        2 |\n"+
		"|   5 | redsync   |   1234 |        0 |\n", out.String())
}

func TestRatiosAreTakenWithinARepetition(t *testing.T) {
	s := &samples{of: map[string][]figures{
		"holdfast": {{rate: 100}, {rate: 10}, {rate: 30}},
		"redsync":  {{rate: 50}, {rate: 5}, {rate: 10}},
	}}
	require.InDelta(t, 2.0, s.ratio("holdfast", rate, "redsync"), 1e-9)
	peer, ratio := s.best("holdfast", rate, true, "redsync", "redislock")
	require.Equal(t, "redsync", peer)
	require.InDelta(t, 2.0, ratio, 1e-9)
}

func TestTargets(t *testing.T) {
	var out strings.Builder
	printTargets(&out, []target{
		atLeast("fast", 2, 1.5).beside("redsync").floored("raw", 3).floored("wire", 4), atLeast("faster", 2, 2.5), atMost("small", 3, 4), atMost("absent", median(nil), 4),
	})
	require.Regexp(t, `\| +2\.00, redsync \|.*\| 3\.00, raw; 4\.00, wire \| met `, out.String())
	for i, want := range []string{"| met ", "| not met ", "| met ", "| not measured "} {
		require.Contains(t, strings.Split(out.String(), "\n")[i+2], want)
	}
}
