package main

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestASeedAlwaysGivesTheSameSchedule(t *testing.T) {
	for _, c := range cells() {
		first := schedule(c, 7)
		require.Equal(t, first, schedule(c, 7), "%s", c)
		if len(c.Faults) > 0 {
			require.NotEmpty(t, first, "%s", c)
			require.NotEqual(t, first, schedule(c, 8), "%s", c)
		}
	}
}

func TestALongerRunBeginsLikeAShorterOne(t *testing.T) {
	c := cells()[len(cells())-1]
	short := schedule(c, 7)
	c.Duration *= 2
	long := schedule(c, 7)
	require.Greater(t, len(long), len(short))
	require.Equal(t, short, long[:len(short)])
}

func TestASeedAlwaysGivesTheSameWork(t *testing.T) {
	cfg := &Config{Seed: 7, Names: base.Locks, TTL: base.TTL, Pace: base.Pace, Long: 40}
	require.Equal(t, draw(cfg, 1, 2), draw(cfg, 1, 2))
	seen := make(map[plan]bool)
	for g := range 4 {
		for n := range 25 {
			seen[draw(cfg, g, n)] = true
		}
	}
	require.Len(t, seen, 100, "goroutines do not do the same")
}

// The faults that the project must survive are all there.
func TestEveryKindOfFaultHasACell(t *testing.T) {
	drawn := make(map[Kind]bool)
	disks := make(map[Disk]bool)
	for _, c := range cells() {
		for seed := range uint64(5) {
			for _, f := range schedule(c, seed) {
				drawn[f.Kind] = true
				if f.Kind == KillNode {
					disks[c.Disk] = true
				}
			}
		}
	}
	for _, k := range []Kind{
		KillNode, Snapshot, StopNode, LoseRequest, LoseReply, Reset, Slow, CutUp, CutDown, StopWorker, KillWorker,
		KillPubSub, FlushScripts, FlushAll, ClockJump, ClockDrift,
	} {
		require.True(t, drawn[k], "%s", k)
	}
	require.Equal(t, map[Disk]bool{Nothing: true, Stale: true, Always: true}, disks)
}

func TestAProcessHasOneFaultAtATime(t *testing.T) {
	for _, c := range cells() {
		until := make(map[int]time.Duration)
		for _, f := range schedule(c, 3) {
			if slices.Contains([]Kind{KillNode, StopNode, ClockJump, ClockDrift}, f.Kind) {
				require.GreaterOrEqual(t, f.At, until[f.Node], "%s: %s", c, f)
				until[f.Node] = f.At + f.For
			}
		}
	}
}

func TestTheSchedulePrintedIsOfTheCellsChosen(t *testing.T) {
	var out strings.Builder
	d := driver{cell: "stop nodes N=3", seed: 1, out: &out, log: io.Discard}
	d.schedules()
	require.Contains(t, out.String(), "stop nodes N=3, seed 1\n")
	require.Contains(t, out.String(), "stop node n")
	require.NotContains(t, out.String(), "N=5")
}

func TestWhatNobodyIsCalledIsAMistake(t *testing.T) {
	var out strings.Builder
	d := driver{cell: "no such cell", out: &out, log: io.Discard}
	require.False(t, d.run())
}

func TestWithoutACompilerOnlyClocksAreLeftOut(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out strings.Builder
	d := driver{out: &out, log: io.Discard}
	all, possible := cells(), d.cells()
	require.Len(t, possible, len(all)-6, "jumps and drift, with each number of nodes")
	for i := range possible {
		require.False(t, possible[i].has(ClockJump, ClockDrift))
	}
	require.Contains(t, out.String(), `clock jumps N=3: left out ["clock jump"]`)
	require.Contains(t, out.String(), `everything, AOF always N=5: left out ["clock drift"]`)
}
