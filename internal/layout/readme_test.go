package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeListsEveryOption keeps the table of options complete.
func TestReadmeListsEveryOption(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(root, "lock", "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "With") || !isOption(f) {
				continue
			}
			require.Contains(t, string(readme), "| `"+f.Name.Name+"(", "an option is missing in README.md")
		}
	}
}

// isOption tells whether f returns an Option or a ClientOption.
func isOption(f *ast.FuncDecl) bool {
	if f.Type.Results.NumFields() != 1 {
		return false
	}
	result, ok := f.Type.Results.List[0].Type.(*ast.Ident)
	return ok && strings.HasSuffix(result.Name, "Option")
}
