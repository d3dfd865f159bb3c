package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestHelpTellsEveryExitCode(t *testing.T) {
	t.Parallel()
	for name, codes := range map[string][]int{
		"run":   {exitUsage, exitNoQuorum, exitLost, exitConflict, exitCannotRun, exitNotFound},
		"elect": {exitUsage, exitNoQuorum, exitLost, exitCannotRun, exitNotFound},
	} {
		code, out, _ := run(t, "", name, "--help")
		require.Zero(t, code)
		for _, code := range codes {
			require.Regexp(t, fmt.Sprintf(`(?m)^ +%d  \w`, code), out)
		}
	}
}

func TestEveryCommandHasHelpWithExamples(t *testing.T) {
	t.Parallel()
	for _, cmd := range new(app).root().Commands() {
		require.NotEmpty(t, cmd.Short, cmd.Name())
		require.NotEmpty(t, cmd.Long, cmd.Name())
		require.Contains(t, cmd.Example, "holdfast "+cmd.Name())
		require.NotNil(t, cmd.RunE, cmd.Name())
	}
}

// pflag takes what stands in back quotes in the usage of a flag for the name of its value.
func TestHelpNamesTheValueOfEveryFlagInOneWord(t *testing.T) {
	t.Parallel()
	root := new(app).root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	each(root, func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				value, _ := pflag.UnquoteUsage(f)
				if f.Value.Type() == "bool" {
					require.Empty(t, value, "%s --%s", cmd.CommandPath(), f.Name)
					return
				}
				require.Regexp(t, `^\w+$`, value, "%s --%s", cmd.CommandPath(), f.Name)
			})
		}
	})
}

func TestManualPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code, _, errs := run(t, "", "man", "--dir", dir)
	require.Zero(t, code, errs)
	each(new(app).root(), func(cmd *cobra.Command) {
		name := "holdfast"
		if cmd.HasParent() {
			name += "-" + cmd.Name()
		}
		page, err := os.ReadFile(filepath.Join(dir, name+".1"))
		require.NoError(t, err)
		require.Contains(t, string(page), `.TH "HOLDFAST"`)
	})
	code, out, _ := run(t, "", "man", "run")
	require.Zero(t, code)
	require.Contains(t, out, "holdfast-run - Run a command under a lock")
}

func TestHelpOnNothingIsRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"man", "nothing"}, {"help", "nothing"}, {"help", "run", "nothing"}, {"completion", "nothing"}} {
		code, out, errs := run(t, "", args...)
		require.Equal(t, exitUsage, code, args)
		require.Empty(t, out)
		require.Contains(t, errs, "nothing")
	}
	for args, says := range map[string]string{"help": "Usage:", "help run": "Run a command under a lock", "completion": "bash", "completion --help": "bash"} {
		code, out, _ := run(t, "", strings.Fields(args)...)
		require.Zero(t, code, args)
		require.Contains(t, out, says)
	}
}

func each(cmd *cobra.Command, fn func(*cobra.Command)) {
	fn(cmd)
	for _, c := range cmd.Commands() {
		each(c, fn)
	}
}

func TestShellCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		code, out, _ := run(t, "", "completion", shell)
		require.Zero(t, code)
		require.Contains(t, out, "holdfast")
	}
}
