package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/holdfast-go/holdfast/lock"
)

func (a *app) topCommand() *cobra.Command {
	var interval time.Duration
	cmd := &cobra.Command{
		Use:   "top [PATTERN]",
		Short: "Watch the servers, the locks, their holders and waiters",
		Long: `Watch the servers, the locks whose names match PATTERN, their holders and waiters, on one screen that is updated. Press q to quit.
If stdout is not a terminal, it is printed once, as a plain table.

A Cluster votes if all of its masters do. With one of them down, names in its slots cannot be locked, and the others can: doctor
looks at each.

With --json, one document: "nodes" ("address", "up", "votes", "error") and "locks", each as
` + "`holdfast status --json`" + ` prints it. Exit code 69 if too few servers answered, even if only about one of the locks, unless on a terminal.`,
		Example: `  holdfast top
  holdfast top --interval 5s 'orders:*'
  holdfast top | head`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if interval < 100*time.Millisecond {
				return usagef("--interval %v is shorter than 100ms: the servers have other work, too", interval)
			}
			c, err := a.openToLook()
			if err != nil {
				return err
			}
			t := &top{client: c, clustered: a.clustered, pattern: append(args, "")[0], interval: interval}
			if err := checkPattern(c, t.pattern); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case a.json:
				p := t.look(cmd.Context())
				return errors.Join(document(out, p), p.failed, a.mention(p.unseen))
			case !term.IsTerminal(int(os.Stdout.Fd())):
				p := t.look(cmd.Context())
				p.print(out)
				return errors.Join(p.failed, a.mention(p.unseen))
			}
			_, err = tea.NewProgram(t).Run()
			return err
		},
	}
	cmd.Flags().DurationVar(&interval, "interval", time.Second, "time between two updates")
	return cmd
}

// A picture is what top shows.
type picture struct {
	Nodes []healthView `json:"nodes"`
	Locks []lockView   `json:"locks"`
	Error string       `json:"error,omitempty"`

	spare  int
	partly bool  // a Cluster may grant some locks and not others
	unseen error // a lock could not be inspected
	failed error // there may be others
}

type healthView struct {
	Address string `json:"address"`
	Up      bool   `json:"up"`
	Votes   bool   `json:"votes"`
	Error   string `json:"error,omitempty"`
}

// A top is the screen's model. Update and View run on one goroutine.
type top struct {
	client    *lock.Client
	clustered bool
	pattern   string
	interval  time.Duration

	now           picture
	seen          bool
	width, height int
}

type tick struct{}

// look asks the servers.
func (t *top) look(ctx context.Context) picture {
	health := t.client.Health(ctx)
	p := picture{Nodes: []healthView{}, Locks: []lockView{}, spare: lock.Spare(health)}
	for _, h := range health {
		p.partly = p.partly || t.clustered && h.Up && !h.Votes
		v := healthView{Address: h.Address, Up: h.Up, Votes: h.Votes}
		if h.Err != nil {
			v.Error = h.Err.Error()
		}
		p.Nodes = append(p.Nodes, v)
	}
	locks, unseen, err := survey(ctx, t.client, t.pattern)
	if err != nil {
		p.Error = err.Error()
		if codeOf(err) == exitNoQuorum {
			p.failed = err
		}
	}
	p.unseen = unseen
	p.Locks = append(p.Locks, locks...)
	return p
}

// Init implements [tea.Model].
func (t *top) Init() tea.Cmd { return t.ask }

// ask runs beside the screen, which shows what was seen before until the servers have answered.
func (t *top) ask() tea.Msg { return t.look(context.Background()) }

// Update implements [tea.Model].
func (t *top) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		switch msg.String() {
		case "q", "esc", "ctrl+c":
			return t, tea.Quit
		}
	case tea.WindowSizeMsg:
		t.width, t.height = msg.Width, msg.Height
	case picture:
		t.now, t.seen = msg, true
		return t, tea.Tick(t.interval, func(time.Time) tea.Msg { return tick{} })
	case tick:
		return t, t.ask
	}
	return t, nil
}

// View implements [tea.Model].
func (t *top) View() tea.View {
	v := tea.NewView(t.text())
	v.AltScreen = true
	return v
}

// text is the screen, cut to its size.
func (t *top) text() string {
	if !t.seen {
		return "asking the servers…\n"
	}
	var text strings.Builder
	t.now.print(&text)
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	if most := t.height - 1; most > 0 && len(lines) > most {
		hidden := len(lines) - most + 1
		lines = append(lines[:most-1], fmt.Sprintf("… and %d more lines: give a PATTERN", hidden))
	}
	for i, line := range lines {
		if t.width > 0 {
			lines[i] = runewidth.Truncate(line, t.width, "…")
		}
	}
	return strings.Join(append(lines, "q: quit"), "\n")
}

// print is the picture for people.
func (p *picture) print(out io.Writer) {
	fmt.Fprintln(out, p.summary())
	t := newTable(out, "NODE", "STATE")
	for _, n := range p.Nodes {
		t.row(n.Address, n.words())
	}
	t.flush()
	switch {
	case p.failed != nil:
		fmt.Fprintln(out, "the list may not be complete:", oneLine(p.Error))
	case p.Error != "":
		fmt.Fprintln(out, "the list is complete, but not all servers could be asked:", oneLine(p.Error))
	}
	if p.unseen != nil {
		fmt.Fprintln(out, oneLine(p.unseen.Error()))
	}
	fmt.Fprintln(out)
	printLocks(out, p.Locks)
}

// summary says how many servers may fail.
func (p *picture) summary() string {
	votes := 0
	for _, n := range p.Nodes {
		if n.Votes {
			votes++
		}
	}
	text := fmt.Sprintf("%d of %d nodes vote, ", votes, len(p.Nodes))
	switch {
	case p.spare < 0 && p.partly:
		text += fmt.Sprintf("%d too few: not every lock can be taken", -p.spare)
	case p.spare < 0:
		text += fmt.Sprintf("%d too few: no lock can be taken", -p.spare)
	case p.spare == 0:
		text += "and none may fail"
	default:
		text += fmt.Sprintf("and %d more may fail", p.spare)
	}
	return fmt.Sprintf("%s; %d locks", text, len(p.Locks))
}

func (n *healthView) words() string {
	switch {
	case n.Votes:
		return "votes"
	case n.Up:
		return "up, but does not vote: " + n.Error
	default:
		return "silent: " + n.Error
	}
}
