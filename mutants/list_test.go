package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryMutantCanStillBePlanted fails where a change to the library has left a mutant
// behind: its old text is gone, or there twice now, or its test has another name.
func TestEveryMutantCanStillBePlanted(t *testing.T) {
	_, err := unscripted.texts("..")
	require.NoError(t, err)
	ofPackage := make(map[string][]string)
	known := func(pkg string) []string {
		if ofPackage[pkg] == nil {
			ofPackage[pkg] = tests(t, pkg)
		}
		return ofPackage[pkg]
	}
	names := make(map[string]bool)
	for _, m := range mutants() {
		assert.False(t, names[m.File+m.Name], "two mutants of %s are called %q", m.File, m.Name)
		names[m.File+m.Name] = true
		_, err := m.texts("..")
		assert.NoError(t, err)
		for _, e := range m.edits() {
			assert.NotEqual(t, e.Old, e.New, "mutant %q", m.Name)
		}
		if m.Equivalent != "" {
			continue
		}
		for one := range strings.SplitSeq(m.Tests, "|") {
			top, _, _ := strings.Cut(one, "/")
			named := regexp.MustCompile(top).MatchString
			assert.True(t, top != "" && slices.ContainsFunc(known(m.Package), named),
				"mutant %q: %s has no test %s", m.Name, m.Package, top)
		}
	}
}

// TestAMutantOfAScriptIsPlanted tries one, from the library's own list.
func TestAMutantOfAScriptIsPlanted(t *testing.T) {
	i := slices.IndexFunc(mutants(), func(m Mutant) bool { return m.Name == "a repair is for ever" })
	require.GreaterOrEqual(t, i, 0)
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	c := &court{root: root, limit: time.Minute}
	defer c.close()
	v := c.try(mutants()[i])
	require.NoError(t, v.Err)
	require.Equal(t, Killed, v.Fate)
}

var testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// tests are the names of a package's tests.
func tests(t *testing.T, pkg string) []string {
	t.Helper()
	var names []string
	files, err := filepath.Glob(filepath.Join("..", pkg, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range testFunc.FindAllStringSubmatch(string(text), -1) {
			names = append(names, found[1])
		}
	}
	return names
}
