package layout

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryModuleIsKeptUpToDate holds the list of modules whose dependencies are updated.
func TestEveryModuleIsKeptUpToDate(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, ".github", "dependabot.yml"))
	require.NoError(t, err)
	var listed, modules []string
	for _, m := range regexp.MustCompile(`(?m)^ {6}- (/\S*)$`).FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.Name() == "go.mod":
			dir, err := filepath.Rel(root, filepath.Dir(path))
			require.NoError(t, err)
			modules = append(modules, strings.TrimSuffix("/"+filepath.ToSlash(dir), "."))
		}
		return nil
	}))
	require.ElementsMatch(t, modules, listed, "the modules, and those in .github/dependabot.yml")
}

// TestWorkflowsCallWhatContributorsCall: a workflow is a list of targets of the Makefile and
// of scripts in .ci, so that whatever fails on the forge can be run at home.
func TestWorkflowsCallWhatContributorsCall(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	command := regexp.MustCompile(`(?m)^\s*(?:- )?(?:run|install): (.*)$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		commands := command.FindAllStringSubmatch(string(text), -1)
		for _, m := range commands {
			words := strings.Fields(m[1])
			switch {
			case words[0] == "make":
				require.Regexp(t, `(?m)^`+regexp.QuoteMeta(words[1])+`:`, string(makefile), "%s: %s", file, m[0])
			case strings.HasPrefix(words[0], ".ci/"):
				info, err := os.Stat(filepath.Join(root, words[0]))
				require.NoError(t, err)
				require.NotZero(t, info.Mode()&0o100, "%s cannot be run", words[0])
			default:
				require.Equal(t, "${{", words[0], "%s: %s", file, m[0])
			}
		}
	}
}
