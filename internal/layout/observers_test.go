package layout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestObserversShareTheirFilesByCopy: the modules otel and prometheus need the same few lines. A package of
// the root module for them would have to work with every version of either, and a copy need not.
func TestObserversShareTheirFilesByCopy(t *testing.T) {
	for _, file := range []string{"table.go", "waits.go"} {
		read := func(dir, name string) string {
			text, err := os.ReadFile(filepath.Join(root, dir, file))
			require.NoError(t, err)
			require.Contains(t, string(text), "package "+name+"\n")
			return strings.Replace(string(text), "package "+name+"\n", "", 1)
		}
		require.Equal(t, read("otel", "otelholdfast"), read("prometheus", "promholdfast"), file)
	}
}
