package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryMutantCompiles fails for a mutant that would be an error of the compiler: a
// variable that is not used any more, say. Types are checked, nothing is built.
func TestEveryMutantCompiles(t *testing.T) {
	c := newChecker(t, mutants())
	for _, batch := range batches(t) {
		if c.checkAll(batch.texts) == nil {
			continue
		}
		for _, m := range batch.mutants { // which of them is it?
			texts, err := apply("..", m)
			require.NoError(t, err)
			assert.NoError(t, c.checkAll(texts), "mutant %q of %s", m.Name, m.File)
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
		texts, err := apply("..", m)
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
	require.NoError(t, c.check("lock", map[string]string{m.File: string(text)}))
	require.ErrorContains(t, c.check("lock", map[string]string{m.File: string(text) + "\nfunc f() { unused := 1 }\n"}), "unused")
}

// A checker checks the types of packages, some files of which are replaced.
type checker struct {
	packages map[string]listed // by folder, from the root of the repository
	files    *token.FileSet
}

// A listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string

	importer types.Importer // of what its module has
}

// newChecker makes one for the packages of mutants.
func newChecker(t *testing.T, mutants []Mutant) *checker {
	t.Helper()
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	c := &checker{packages: make(map[string]listed), files: token.NewFileSet()}
	texts := make(map[string]string)
	for _, m := range mutants {
		for _, e := range m.edits() {
			texts[e.File] = ""
		}
	}
	modules := make(map[string][]string) // their packages, by folder
	for dir := range c.dirs(texts) {
		module := moduleOf(t, filepath.Join(root, dir))
		modules[module] = append(modules[module], filepath.Join(root, dir))
	}
	for module, dirs := range modules {
		c.list(t, root, module, dirs)
	}
	return c
}

// moduleOf returns the folder of the module that dir is in.
func moduleOf(t *testing.T, dir string) string {
	t.Helper()
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		require.NotEqual(t, dir, filepath.Dir(dir), "no module")
	}
}

// list asks go about the packages of a module that are in dirs.
func (c *checker) list(t *testing.T, root, module string, dirs []string) {
	t.Helper()
	args := []string{"list", "-C", module, "-buildvcs=false", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}
	out, err := exec.Command("go", append(args, dirs...)...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		t.Log(string(failed.Stderr))
	}
	require.NoError(t, err)
	exports := make(map[string]string)
	imports := importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		p := listed{importer: imports}
		require.NoError(t, decoder.Decode(&p))
		exports[p.ImportPath] = p.Export
		if slices.Contains(dirs, p.Dir) {
			dir, err := filepath.Rel(root, p.Dir)
			require.NoError(t, err)
			c.packages[filepath.ToSlash(dir)] = p
		}
	}
}

// dirs are the folders of Go files among texts.
func (c *checker) dirs(texts map[string]string) map[string]bool {
	dirs := make(map[string]bool)
	for file := range maps.Keys(texts) {
		if strings.HasSuffix(file, ".go") {
			dirs[filepath.Dir(file)] = true
		}
	}
	return dirs
}

// checkAll is check for each folder of texts.
func (c *checker) checkAll(texts map[string]string) error {
	var errs []error
	for dir := range c.dirs(texts) {
		errs = append(errs, c.check(dir, texts))
	}
	return errors.Join(errs...)
}

// check returns what a compiler would say of the package in dir, with texts in place of files.
func (c *checker) check(dir string, texts map[string]string) error {
	p, ok := c.packages[dir]
	if !ok {
		return fmt.Errorf("there is no package in %s", dir)
	}
	parsed := make([]*ast.File, 0, len(p.GoFiles))
	for _, name := range slices.Sorted(slices.Values(p.GoFiles)) {
		path := filepath.Join(p.Dir, name)
		var text any // nil: as it is in the file
		if edited, ok := texts[filepath.Join(dir, name)]; ok {
			text = edited
		}
		f, err := parser.ParseFile(c.files, path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, f)
	}
	_, err := (&types.Config{Importer: p.importer}).Check(p.ImportPath, c.files, parsed, nil)
	return err
}
