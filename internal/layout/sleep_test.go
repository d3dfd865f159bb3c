package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A test that sleeps guesses how long something takes, unless time is virtual. Real
// servers keep real time, so who uses them waits for what happens, and never sleeps.
func TestTestsSleepInVirtualTimeOnly(t *testing.T) {
	err := fs.WalkDir(os.DirFS(root), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		servers, virtual := parsed.Name.Name == "redistest", false
		for _, i := range parsed.Imports {
			servers = servers || strings.HasSuffix(i.Path.Value, `/internal/redistest"`)
			virtual = virtual || i.Path.Value == `"testing/synctest"` || strings.HasSuffix(i.Path.Value, `/internal/virtual"`)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || s.Sel.Name != "Sleep" {
				return true
			}
			x, ok := s.X.(*ast.Ident)
			switch {
			case !ok || x.Name != "time":
			case servers:
				t.Errorf("%s sleeps beside real servers", file)
			case !virtual:
				t.Errorf("%s sleeps in real time", file)
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
}
