package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// strict has cobra's own commands refuse what there is no help for, or no completion, where they would print something
// else and succeed.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				_, err := commandCalled(root, args)
				return err
			}
		case "completion":
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() } // cobra checks the arguments only of what can run
		}
	}
}

// commandCalled is the command with this name, in words; that of no words is root.
func commandCalled(root *cobra.Command, words []string) (*cobra.Command, error) {
	cmd, rest, err := root.Find(words)
	if err != nil || len(rest) > 0 {
		return nil, usagef("there is no command %q", strings.Join(words, " "))
	}
	return cmd, nil
}
