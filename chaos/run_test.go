package main

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/internal/typecheck"
)

// A few cells for a short time; `make chaos` runs all of them for longer. They are
// mostly waiting, so they run all at once.
func TestShortRunsKeepEveryPromise(t *testing.T) {
	t.Parallel()
	redistest.Require(t)
	names := []string{"everything, AOF always N=3", "kill nodes, stale snapshot, guard N=3", "stop workers N=1"}
	results := each(len(names), names, func(name string) *Result {
		c, _ := named(cells(), name, Cell.String).feasible()
		c.Duration = 4 * time.Second
		return runCell(c, 11)
	})
	for _, r := range results {
		t.Run(r.Cell.String(), func(t *testing.T) {
			require.NoError(t, r.Err)
			require.Zero(t, r.Violations, "%q\nagain: %s", r.Story, r.again())
			require.Positive(t, r.Leases)
			require.Positive(t, r.Faults)
		})
	}
}

// The quickest of the planted bugs; `make chaos` runs all of them.
func TestPlantedBugsAreCaught(t *testing.T) {
	t.Parallel()
	redistest.Require(t)
	names := []string{"second round of the token skipped", "restart guard ignored"}
	catches := each(len(names), names, func(name string) *Catch {
		return catch(named(mutants(), name, func(m Mutant) string { return m.Name }))
	})
	for _, c := range catches {
		t.Run(c.Mutant.Name, func(t *testing.T) {
			require.NoError(t, c.Err)
			require.True(t, c.caught(), "by %s: %s", c.Mutant.By, c)
		})
	}
}

// named finds the one item that is called that.
func named[T any](items []T, name string, of func(T) string) T {
	i := slices.IndexFunc(items, func(item T) bool { return of(item) == name })
	if i < 0 {
		panic("nothing is called " + name)
	}
	return items[i]
}

// What is planted must still be there to be changed, in all of them, and compile.
func TestEveryPlantedBugFitsTheLibrary(t *testing.T) {
	var files []string
	for _, m := range mutants() {
		for _, e := range m.Edits {
			files = append(files, e.File)
		}
	}
	c, err := typecheck.New("..", files)
	require.NoError(t, err)
	for _, m := range mutants() {
		t.Run(m.Name, func(t *testing.T) {
			texts, err := m.texts("..")
			require.NoError(t, err)
			require.NoError(t, c.Check(texts))
			require.True(t, slices.ContainsFunc(checkers, func(c checker) bool { return c.name == m.By }))
		})
	}
}

func TestEveryCheckerIsShownToCatchAPlantedBug(t *testing.T) {
	for _, c := range checkers {
		require.True(t, slices.ContainsFunc(mutants(), func(m Mutant) bool { return m.By == c.name }), "%s", c.name)
	}
}
