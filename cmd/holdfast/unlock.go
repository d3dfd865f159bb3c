package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func (a *app) unlockCommand() *cobra.Command {
	var force, yes bool
	var hold string
	cmd := &cobra.Command{
		Use:   "unlock --force NAME",
		Short: "End a lock by force, whoever has it",
		Long: `End a lock by force, whoever has it. First find out why it is held: the lock of a crashed process ends by itself
when its TTL is over, as status shows it; if that does not only fall, a live holder renews it. That holder learns of the loss with its next
renewal, up to a third of the TTL later. Until then, two holders may be at work.

On a terminal, the holders are shown, and you are asked to confirm. Without a terminal, --yes is needed. Only the holds that were
shown are ended, not later ones; --hold ends one of several.

With --json, one document: "name", "ended" (whether somebody had the lock by one of these holds), "holds" (the ids).`,
		Example: `  holdfast unlock --force nightly-export
  holdfast unlock --force --yes --hold 9f1c6a0e-21c1-4b4e-8a2f-1f8f5f3a7a10:7 nightly-export`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			terminal := term.IsTerminal(int(os.Stdin.Fd()))
			switch {
			case cmd.Flags().Changed("hold") && hold == "":
				return usagef("--hold is empty: without it, every hold is ended")
			case !force:
				return usagef("unlock needs --force: it takes the lock from whoever has it")
			case !yes && !terminal:
				return usagef("there is no terminal to ask on: give --yes to end lock %q by force", args[0])
			}
			return a.unlock(cmd, args[0], hold, !yes)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&force, "force", false, "take the lock from whoever has it; always needed")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	f.StringVar(&hold, "hold", "", "end only the hold with this id, which holdfast status shows")
	return cmd
}

func (a *app) unlock(cmd *cobra.Command, name, hold string, ask bool) error {
	c, closing, err := a.open()
	if err != nil {
		return err
	}
	defer closing()
	v, err := look(cmd.Context(), c, name)
	switch {
	case err != nil && len(v.Nodes) == 0:
		return exit(exitUsage, err) // the name was refused
	case err != nil:
		return err
	}
	holds := v.holds()
	if hold != "" {
		holds = []string{v.known(hold)}
	}
	if ask && len(holds) > 0 {
		v.print(os.Stderr)
		if !confirm(fmt.Sprintf("End lock %q by force? Its holder may still be at work. [y/N] ", name)) {
			return exit(exitFailed, errors.New("nothing was ended"))
		}
	}
	ended := false
	for _, id := range holds {
		did, e := v.forcer(c).ForceUnlockHold(cmd.Context(), id)
		ended, err = ended || did, errors.Join(err, e)
	}
	switch {
	case a.json:
		if holds == nil {
			holds = []string{}
		}
		e := document(cmd.OutOrStdout(), map[string]any{"name": name, "ended": ended, "holds": holds})
		return errors.Join(err, e)
	case err != nil:
		return err
	case ended:
		fmt.Fprintf(cmd.OutOrStdout(), "%s: ended by force\n", name)
	case hold != "":
		fmt.Fprintf(cmd.OutOrStdout(), "%s: nobody had it by hold %s\n", name, hold)
	default:
		fmt.Fprintf(cmd.OutOrStdout(), "%s: nobody had it\n", name)
	}
	return nil
}

// confirm asks on the terminal. Anything but a yes is a no.
func confirm(question string) bool {
	fmt.Fprint(os.Stderr, question)
	answer, _ := bufio.NewReader(os.Stdin).ReadString('\n') // an end of input is a no
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
