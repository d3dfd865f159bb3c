package main

import (
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func manCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man [COMMAND]",
		Short: "Print the manual page",
		Long: `Print the manual page of holdfast, or of one of its commands, in the format of man(7). With --dir, write all of
them into a directory.`,
		Example: `  holdfast man run | man -l -
  holdfast man --dir /usr/local/share/man/man1`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			header := &doc.GenManHeader{Title: "HOLDFAST", Section: "1", Source: "holdfast " + version(), Manual: "Holdfast"}
			root := cmd.Root()
			if dir != "" {
				return doc.GenManTree(root, header, dir)
			}
			return page(root, args, header, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write all pages into this directory")
	return cmd
}

// page prints the page of one command.
func page(root *cobra.Command, names []string, header *doc.GenManHeader, out io.Writer) error {
	cmd, err := commandCalled(root, names)
	if err != nil {
		return err
	}
	return doc.GenMan(cmd, header, out)
}
