package main

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// TestMain lets the bench start this binary to work for it.
func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		main()
		return
	}
	os.Exit(redistest.Run(m))
}

// newBench starts servers for one test.
func newBench(t *testing.T) *bench {
	t.Helper()
	redistest.Require(t)
	b := &bench{out: io.Discard, ttl: 10 * time.Second, repeat: 1, span: 50 * time.Millisecond}
	require.NoError(t, b.open())
	t.Cleanup(b.close)
	return b
}

// Whoever is measured excludes, on as many nodes as it is measured on; and whoever does
// not is found out.
func TestContendersExclude(t *testing.T) {
	b := newBench(t)
	for _, c := range contenders {
		for _, n := range []int{1, 5} {
			if c.one && n > 1 {
				continue
			}
			// Who polls with long pauses may have nothing to show for a short time.
			f := figures{}
			for span := 100 * time.Millisecond; f[rate] == 0 && span < 10*time.Second; span *= 2 {
				var err error
				f, err = b.try(c, b.on(n, job{Workers: 2*c.room + 8, Hold: time.Millisecond, Room: c.room}, span))
				require.NoError(t, err, c.name)
			}
			require.Positive(t, f[rate], "%s, N = %d", c.name, n)
			require.Zero(t, f[failures], "%s, N = %d", c.name, n)
			if c.floor {
				require.Positive(t, f[overlaps], "%s, N = %d", c.name, n)
			} else {
				require.Zero(t, f[overlaps], "%s, N = %d", c.name, n)
			}
		}
	}
	for _, f := range b.faults {
		t.Error(f)
	}
}

// An overlap makes a run fail.
func TestOverlapsMakeTheFiguresVoid(t *testing.T) {
	b := newBench(t)
	liar := contender{name: "liar", open: openWire}
	_, err := b.try(liar, b.on(1, job{Workers: 8, Hold: time.Millisecond}, 50*time.Millisecond))
	require.NoError(t, err)
	require.Len(t, b.faults, 1)
	require.Contains(t, b.faults[0], "liar")
}

// The program prints a table for each workload, with lines for contenders.
func TestRunPrintsTables(t *testing.T) {
	redistest.Require(t)
	var out strings.Builder
	err := run([]string{
		// A TTL that leases survive on a busy machine, or the figures would not be good.
		"-n", "1", "-goroutines", "8", "-repeat", "1", "-duration", "20ms", "-ttl", "3s", "-count", "20",
		"-contenders", "holdfast,readwrite,rueidislock",
	}, &out)
	t.Log(out.String())
	require.NoError(t, err)
	_, rest, _ := strings.Cut(out.String(), "### ")
	tables := strings.Split(rest, "### ")
	require.Len(t, tables, len(workloads))
	for i, w := range workloads {
		require.Contains(t, tables[i], w.name+"\n")
		require.Contains(t, tables[i], "| contender ")
		ours := "| holdfast"
		if strings.HasPrefix(w.name, "read") {
			ours = "| readwrite"
		}
		require.Contains(t, tables[i], ours)
	}
}

func TestUnknownNamesAreRefused(t *testing.T) {
	require.ErrorContains(t, run([]string{"-workload", "idle"}, io.Discard), "idle")
	require.ErrorContains(t, run([]string{"-contenders", "zookeeper"}, io.Discard), "rueidislock")
	require.Error(t, run([]string{"-n", "many"}, io.Discard))
}
