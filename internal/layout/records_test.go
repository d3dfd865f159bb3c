package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryLogRecordIsListed holds the table of docs/observing.md against the code: each message that the library
// logs has a row, and no row is left over. A row may cut a message short with an ellipsis.
func TestEveryLogRecordIsListed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "observing.md"))
	require.NoError(t, err)
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+: [^`]+)` \\| (?:DEBUG|INFO|WARN|ERROR)").FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	var logged []string
	for name := range layers {
		logged = append(logged, messages(t, name)...)
	}
	require.NotEmpty(t, logged)
	is := func(row, message string) bool {
		begin, short := strings.CutSuffix(row, "…")
		return row == message || short && strings.HasPrefix(message, begin)
	}
	for _, message := range logged {
		if !slices.ContainsFunc(listed, func(row string) bool { return is(row, message) }) {
			t.Errorf("%q is logged, and docs/observing.md does not list it", message)
		}
	}
	for _, row := range listed {
		if !slices.ContainsFunc(logged, func(message string) bool { return is(row, message) }) {
			t.Errorf("%q is listed, and not in the code", row)
		}
	}
}

var (
	logs    = regexp.MustCompile(`^((Debug|Info|Warn|Error)(Context)?|Log|NewRecord)$`)
	message = regexp.MustCompile(`^\w+: `)
)

// messages are the texts, or their beginnings, that a package logs.
func messages(t *testing.T, name string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, name, "*.go"))
	require.NoError(t, err)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); !ok || !logs.MatchString(f.Sel.Name) {
				return true
			}
			for _, arg := range call.Args {
				for sum, ok := arg.(*ast.BinaryExpr); ok; sum, ok = arg.(*ast.BinaryExpr) {
					arg = sum.X
				}
				if l, ok := arg.(*ast.BasicLit); ok && l.Kind == token.STRING {
					if text, err := strconv.Unquote(l.Value); err == nil && message.MatchString(text) {
						all = append(all, text)
					}
				}
			}
			return true
		})
	}
	return all
}
