package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/typecheck"
)

// TestEveryMutantCompiles fails for a mutant that would be an error of the compiler: a
// variable that is not used any more, say. Types are checked, nothing is built.
func TestEveryMutantCompiles(t *testing.T) {
	c := newChecker(t, mutants())
	for _, batch := range batches(t) {
		if c.Check(batch.texts) == nil {
			continue
		}
		for _, m := range batch.mutants { // which of them is it?
			texts, err := m.texts("..")
			require.NoError(t, err)
			assert.NoError(t, c.Check(texts), "mutant %q of %s", m.Name, m.File)
		}
	}
}

// A batch is mutants of different files: they can be checked together.
type batch struct {
	mutants []Mutant
	texts   map[string]string
}

// batches are all mutants of Go files, each in the first batch that leaves its files alone.
func batches(t *testing.T) []*batch {
	t.Helper()
	var all []*batch
	for _, m := range mutants() {
		if m.ofScripts() || m.Equivalent != "" {
			continue
		}
		texts, err := m.texts("..")
		if !assert.NoError(t, err) {
			continue
		}
		i := slices.IndexFunc(all, func(b *batch) bool {
			for file := range texts {
				if _, taken := b.texts[file]; taken {
					return false
				}
			}
			return true
		})
		if i < 0 {
			i, all = len(all), append(all, &batch{texts: make(map[string]string)})
		}
		all[i].mutants = append(all[i].mutants, m)
		maps.Copy(all[i].texts, texts)
	}
	return all
}

// TestAMutantThatDoesNotCompileIsNoticed plants one that would not.
func TestAMutantThatDoesNotCompileIsNoticed(t *testing.T) {
	m := Mutant{File: "lock/shutdown.go"}
	c := newChecker(t, []Mutant{m})
	text, err := os.ReadFile(filepath.Join("..", m.File))
	require.NoError(t, err)
	require.NoError(t, c.Check(map[string]string{m.File: string(text)}))
	require.ErrorContains(t, c.Check(map[string]string{m.File: string(text) + "\nfunc f() { unused := 1 }\n"}), "unused")
}

// newChecker makes one for the packages of mutants.
func newChecker(t *testing.T, mutants []Mutant) *typecheck.Checker {
	t.Helper()
	var files []string
	for _, m := range mutants {
		for _, e := range m.edits() {
			files = append(files, e.File)
		}
	}
	c, err := typecheck.New("..", files)
	require.NoError(t, err)
	return c
}
