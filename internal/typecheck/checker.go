// Package typecheck tells whether edited files of this repository would compile, for the tests of modules chaos and mutants:
// types are checked, nothing is built. It needs the go command.
package typecheck

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
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A Checker checks the types of packages, some files of which are replaced. It is not safe for concurrent use.
type Checker struct {
	packages map[string]listed // by folder, from the root of the repository
	files    *token.FileSet
}

// A listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string

	importer types.Importer // of what its module has
}

// New makes a Checker for the packages of these files, whose paths begin at root, the root of the repository.
func New(root string, files []string) (*Checker, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	c := &Checker{packages: make(map[string]listed), files: token.NewFileSet()}
	modules := make(map[string][]string) // their packages, by folder
	for dir := range folders(slices.Values(files)) {
		module, err := moduleOf(filepath.Join(root, dir))
		if err != nil {
			return nil, err
		}
		modules[module] = append(modules[module], filepath.Join(root, dir))
	}
	for module, dirs := range modules {
		if err := c.list(root, module, dirs); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// folders are those of the Go files among files.
func folders(files iter.Seq[string]) map[string]bool {
	dirs := make(map[string]bool)
	for file := range files {
		if strings.HasSuffix(file, ".go") {
			dirs[filepath.Dir(file)] = true
		}
	}
	return dirs
}

// moduleOf returns the folder of the module that dir is in.
func moduleOf(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is in no module", dir)
		}
	}
}

// list asks go about the packages of a module that are in dirs.
func (c *Checker) list(root, module string, dirs []string) error {
	args := []string{"list", "-C", module, "-buildvcs=false", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}
	out, err := exec.Command("go", append(args, dirs...)...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return fmt.Errorf("go list: %w: %s", err, failed.Stderr)
	}
	if err != nil {
		return err
	}
	exports := make(map[string]string)
	imports := importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		p := listed{importer: imports}
		if err := decoder.Decode(&p); err != nil {
			return err
		}
		exports[p.ImportPath] = p.Export
		if slices.Contains(dirs, p.Dir) {
			dir, err := filepath.Rel(root, p.Dir)
			if err != nil {
				return err
			}
			c.packages[filepath.ToSlash(dir)] = p
		}
	}
	return nil
}

// Check returns what a compiler would say of the packages of texts, which stand in place of the files with these paths.
func (c *Checker) Check(texts map[string]string) error {
	var errs []error
	for dir := range folders(maps.Keys(texts)) {
		errs = append(errs, c.check(dir, texts))
	}
	return errors.Join(errs...)
}

// check is Check for the package in dir.
func (c *Checker) check(dir string, texts map[string]string) error {
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
