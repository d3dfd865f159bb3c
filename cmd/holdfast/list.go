package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/lock"
)

func (a *app) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list [PATTERN]",
		Short: "List the locks that are held or waited for",
		Long: `List the locks that are held or waited for and whose names match PATTERN, a glob as in Redis. SCAN goes through all keys
of all servers, in small steps: servers remain responsive, but it takes a while if there are many keys.

With --json, one document per line, each as ` + "`holdfast status --json`" + ` prints it. If not all servers could be asked,
stderr has an object whose "event" is warning. Exit code 69 if too few servers answered, even if only about one of the locks.`,
		Example: `  holdfast list
  holdfast list 'orders:*'
  holdfast list --json | jq -r 'select(.waiters | length > 0) | .name'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.openToLook()
			if err != nil {
				return err
			}
			pattern := append(args, "")[0]
			if err := checkPattern(c, pattern); err != nil {
				return err
			}
			views, unseen, err := survey(cmd.Context(), c, pattern)
			if a.json {
				for _, v := range views {
					if err := document(cmd.OutOrStdout(), v); err != nil {
						return err
					}
				}
			} else {
				printLocks(cmd.OutOrStdout(), views)
			}
			return errors.Join(a.tolerate(err), a.mention(unseen))
		},
	}
}

// checkPattern refuses a pattern that locks cannot be listed by. No server is asked: a list looks at its pattern first, and
// has no time for more.
func checkPattern(c *lock.Client, pattern string) error {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range lock.List(over, c, pattern) {
		if err != nil && !errors.Is(err, context.Canceled) {
			return exit(exitUsage, err)
		}
	}
	return nil
}

// survey looks at all locks, in the order of their names. unseen is why the first of those that are listed could not be
// inspected, and failed joins what kept others out of the list; the locks that could be found are returned in any case.
func survey(ctx context.Context, c *lock.Client, pattern string) (views []lockView, unseen, failed error) {
	n := 0
	for entry, err := range lock.List(ctx, c, pattern) {
		if entry.Name == "" {
			failed = errors.Join(failed, err)
			continue
		}
		v := newView(entry.Name, entry.State)
		if err == nil && v.Kind == "semaphore" {
			v, err = look(ctx, c, entry.Name) // which asks for what semaphores only have
		}
		if err != nil {
			v.Error = err.Error()
			n++
			unseen = cmp.Or(unseen, err)
		}
		views = append(views, v)
	}
	if n > 1 {
		unseen = fmt.Errorf("%w (one of %d locks that cannot be inspected)", unseen, n)
	}
	slices.SortFunc(views, func(a, b lockView) int { return cmp.Compare(a.Name, b.Name) })
	return views, unseen, failed
}

// tolerate is err if the list may not be complete. Servers that are away hide nothing as long as
// a quorum answers: they are worth a warning.
func (a *app) tolerate(err error) error {
	if err == nil || errors.Is(err, lock.ErrNoQuorum) {
		return err
	}
	a.warn("the list is complete, but not all servers could be asked: " + err.Error())
	return nil
}

// mention is err, of a lock that could not be inspected, if too few servers told about it.
func (a *app) mention(err error) error {
	if err == nil || errors.Is(err, lock.ErrNoQuorum) {
		return err
	}
	a.warn(err.Error())
	return nil
}

func (a *app) warn(text string) {
	if a.json {
		_ = document(a.stderr, map[string]string{"event": "warning", "error": text}) // it has nothing that cannot be marshalled
	} else {
		fmt.Fprintln(a.stderr, "holdfast:", oneLine(text))
	}
}

func printLocks(out io.Writer, views []lockView) {
	t := newTable(out, "NAME", "STATUS", "HOLDER", "FOR", "TTL", "WAITERS", "NOTE")
	defer t.flush()
	for _, v := range views {
		t.row(v.row()...)
	}
}

// row is the lock as a line of a table.
func (v *lockView) row() []string {
	holder, since, ttl, note := "", "", "", ""
	if len(v.Holders) > 0 {
		h := v.Holders[0]
		holder, since, ttl, note = h.who(), span(h.HeldForMs), span(h.TTLMs), h.Note
	}
	if more := len(v.Holders) - 1; more > 0 {
		holder += fmt.Sprintf(" and %d more", more)
	}
	return []string{v.Name, v.Status, holder, since, ttl, fmt.Sprint(len(v.Waiters)), note}
}
