package overlay_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/overlay"
)

func TestAProgramIsBuiltFromWhatStandsIn(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir()) // as the go command sees it
	require.NoError(t, err)
	dir := t.TempDir()
	const program = "package main\n\nfunc main() { println(1, 1, 2) }\n"
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	write("go.mod", "module planted\n")
	write("main.go", program)

	texts := make(overlay.Texts)
	require.NoError(t, texts.Replace(root, "main.go", "1, 1", "3"))
	require.NoError(t, texts.Replace(root, "main.go", "3, 2", "3, add()"), "after the first one")
	texts["add.go"] = "package main\n\nfunc add() int { return 4 }\n"
	list, err := texts.Write(root, dir)
	require.NoError(t, err)

	out, err := exec.Command("go", "run", "-C", root, "-buildvcs=false", "-overlay", list, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "3 4\n", string(out))
	text, err := os.ReadFile(filepath.Join(root, "main.go"))
	require.NoError(t, err)
	require.Equal(t, program, string(text), "the file stays as it is")
}

func TestWhatIsReplacedIsThereOnce(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "main.go"), []byte("a b b"), 0o600))
	texts := make(overlay.Texts)
	require.ErrorContains(t, texts.Replace(root, "main.go", "b", "c"), "main.go has this 2 times, not once:\nb")
	require.ErrorContains(t, texts.Replace(root, "main.go", "c", "d"), "main.go has this 0 times, not once:\nc")
	require.ErrorIs(t, texts.Replace(root, "other.go", "a", "b"), os.ErrNotExist)
	require.Empty(t, texts)
}
