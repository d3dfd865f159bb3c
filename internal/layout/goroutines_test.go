package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// TestEveryGoroutineIsListed holds docs/goroutines.md against the code: each go
// statement and each timer callback of the library has a row, and no row is left over.
func TestEveryGoroutineIsListed(t *testing.T) {
	listed := rows(t, filepath.Join(root, "docs", "goroutines.md"))
	var found []string
	for name := range layers {
		found = append(found, starts(t, name)...)
	}
	slices.Sort(found)
	for _, s := range slices.Compact(slices.Clone(found)) {
		if n, want := count(listed, s), count(found, s); n != want {
			t.Errorf("%s: %d in the code, %d rows in docs/goroutines.md", s, want, n)
		}
	}
	for _, s := range listed {
		if count(found, s) == 0 {
			t.Errorf("%s: listed in docs/goroutines.md, not in the code", s)
		}
	}
}

func count(list []string, s string) int {
	n := 0
	for _, other := range list {
		if other == s {
			n++
		}
	}
	return n
}

var row = regexp.MustCompile("^\\| `([^`]+)` \\| `([^`]+)` \\| `([^`]+)` \\|")

// rows reads the first three columns of the table: file, function, and how it starts.
func rows(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var list []string
	for line := range strings.Lines(string(text)) {
		if m := row.FindStringSubmatch(line); m != nil {
			list = append(list, strings.Join(m[1:], " "))
		}
	}
	require.NotEmpty(t, list, "no table in %s", path)
	return list
}

// starts finds what runs beside its caller in the non-test files of a package. A
// package that does not exist yet starts nothing.
func starts(t *testing.T, name string) []string {
	t.Helper()
	files, err := fs.Glob(os.DirFS(root), name+"/*.go")
	require.NoError(t, err)
	var list []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range parsed.Decls {
			in := "(package)"
			if f, ok := d.(*ast.FuncDecl); ok {
				in = f.Name.Name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if how := start(n); how != "" {
					list = append(list, strings.Join([]string{file, in, how}, " "))
				}
				return true
			})
		}
	}
	return list
}

// start tells how n starts something, if it does.
func start(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "go"
	case *ast.CallExpr:
		s, ok := n.Fun.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		if s.Sel.Name == "Go" {
			return "Go"
		}
		if pkg, ok := s.X.(*ast.Ident); ok && s.Sel.Name == "AfterFunc" {
			return pkg.Name + ".AfterFunc"
		}
	}
	return ""
}
