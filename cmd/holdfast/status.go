package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status NAME",
		Short: "Show who has a lock, who waits for it, and what each server says",
		Long: `Show who has a lock, who waits for it, and what each server says. The servers know only waiters that
stand in a queue: those of --fair, --shared, --exclusive and --permits.

With --json, one document: "name", "status" (held, free or unknown), "kind" (mutex, read-write or semaphore),
"permits", "holders" ("id", "label", "note", "heldForMs", "ttlMs", "access", "slots", "lingers"), "waiters" ("id",
"waitedMs", "access", "permits"), "token", "nodes" ("address", "reachable", "holders", "ttlMs", "error"), "error".
Unknown fields are left out. Exit code 69 if too few servers answered.`,
		Example: `  holdfast status nightly-export
  holdfast status --json nightly-export | jq -r .status`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.openToLook()
			if err != nil {
				return err
			}
			v, err := look(cmd.Context(), c, args[0])
			if len(v.Nodes) == 0 && err != nil {
				return exit(exitUsage, err) // the name was refused
			}
			if a.json {
				if err := document(cmd.OutOrStdout(), v); err != nil {
					return err
				}
			} else {
				v.print(cmd.OutOrStdout())
			}
			return err
		},
	}
}

// print shows the lock to people.
func (v *lockView) print(out io.Writer) {
	kind := ""
	if v.Kind != "" {
		kind = " (" + v.Kind + ")"
		if v.Permits > 0 {
			kind = fmt.Sprintf(" (semaphore, %d permits)", v.Permits)
		}
	}
	fmt.Fprintf(out, "%s: %s%s\n", printable(v.Name), v.Status, kind)
	for _, h := range v.Holders {
		fmt.Fprintf(out, "  held by  %s\n", printable(h.words()))
	}
	for i, w := range v.Waiters {
		fmt.Fprintf(out, "  %-7s  %s\n", fmt.Sprintf("wait %d", i+1), printable(w.words()))
	}
	if v.Token != 0 {
		fmt.Fprintf(out, "  token    %d\n", v.Token)
	}
	for _, n := range v.Nodes {
		fmt.Fprintf(out, "  node     %s\n", oneLine(n.Address+": "+n.words(v.minority(n))))
	}
}

func (h *holderView) words() string {
	words := []string{h.who()}
	for _, w := range []struct{ before, text string }{
		{"for ", span(h.HeldForMs)}, {"to ", h.Access}, {"slots ", numbers(h.Slots)}, {"note: ", h.Note},
		{"ends in ", untilRenewed(h)},
	} {
		if w.text != "" {
			words = append(words, w.before+w.text)
		}
	}
	if h.Label != "" {
		words = append(words, h.ID)
	}
	return strings.Join(words, ", ")
}

func untilRenewed(h *holderView) string {
	switch {
	case h.TTLMs == 0 || h.TTLMs < 0:
		return ""
	case h.Lingers:
		return span(h.TTLMs)
	default:
		return span(h.TTLMs) + " unless renewed"
	}
}

func (w *waiterView) words() string {
	text := w.ID
	if w.Access != "" {
		text += ", to " + w.Access
	}
	if w.Permits > 0 {
		text += fmt.Sprintf(", %d permits", w.Permits)
	}
	if s := span(w.WaitedMs); s != "" {
		text += ", for " + s
	}
	return text
}

// minority are the holds of a node that are not among those of the lock.
func (v *lockView) minority(n nodeView) (ids []string) {
	for _, id := range n.Holders {
		if !slices.ContainsFunc(v.Holders, func(h holderView) bool { return h.ID == id }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// words tell which hold the node has if that is one of these.
func (n *nodeView) words(ids []string) string {
	held := "held"
	if len(ids) > 0 {
		held = "held by " + strings.Join(ids, " and ")
	}
	switch {
	case n.Error != "" && len(ids) > 0:
		return n.Error + "; " + held
	case n.Error != "":
		return n.Error
	case len(n.Holders) == 0:
		return "free"
	case n.TTLMs < 0:
		return held + ", without a TTL"
	default:
		return held + ", for another " + span(n.TTLMs)
	}
}

func numbers(list []int) string {
	if len(list) == 0 {
		return ""
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}
