package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestArchitectureNamesEveryFileOfTheEngine holds docs/architecture.md against the code: what
// it names exists, and it names every file of package lock.
func TestArchitectureNamesEveryFileOfTheEngine(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	require.NoError(t, err)
	named := make(map[string]bool)
	for _, m := range regexp.MustCompile("`([a-z]+/)?([a-z_]+\\.(?:go|lua))`").FindAllStringSubmatch(string(text), -1) {
		dir := m[1]
		if dir == "" {
			dir = "lock/"
			if strings.HasSuffix(m[2], ".lua") {
				dir = "lua/"
			}
		}
		require.FileExists(t, filepath.Join(root, dir, m[2]))
		named[dir+m[2]] = true
	}
	files, err := filepath.Glob(filepath.Join(root, "lock", "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		name := "lock/" + filepath.Base(file)
		if !strings.HasSuffix(name, "_test.go") && name != "lock/doc.go" && !named[name] {
			t.Errorf("%s: docs/architecture.md does not say what it is for", name)
		}
	}
}
