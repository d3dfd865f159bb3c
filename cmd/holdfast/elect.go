package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/lock"
)

// A candidacy is a command that is to run while this process leads.
type candidacy struct {
	lockFlags

	name      string
	candidate string
	words     []string
	path      string
}

func (a *app) electCommand() *cobra.Command {
	e := new(candidacy)
	cmd := &cobra.Command{
		Use:   "elect NAME -- CMD [ARGS...]",
		Short: "Run a command while this process is the elected leader",
		Long: `Stand for election, and run a command while this process leads. Candidates lead in order of arrival.

If the leadership is lost, the command is ended as ` + "`holdfast run`" + ` ends it, and this process is a candidate again:
the command starts again when it is elected. If the command ends by itself, holdfast gives the leadership
back and exits with the command's code. Signals, groups and the environment are those of ` + "`holdfast run`" + `;
HOLDFAST_TOKEN is the number of the term.

With --json, events are those of ` + "`holdfast run`" + `.

` + electCodes,
		Example: `  holdfast elect scheduler -- ./scheduler
  holdfast elect --candidate web-3 scheduler -- ./scheduler
  holdfast status scheduler                              # the leader, and who waits in line`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, rest, err := split(args, cmd.ArgsLenAtDash())
			if err != nil {
				return err
			}
			e.name = name
			if err := e.check(cmd, rest, a.guard); err != nil {
				return err
			}
			return e.run(a)
		},
	}
	e.add(cmd.Flags())
	cmd.Flags().StringVar(&e.candidate, "candidate", "", "the name of this candidate, which holdfast status shows (default the label)")
	return cmd
}

func (e *candidacy) check(cmd *cobra.Command, rest []string, guard time.Duration) (err error) {
	if err := e.lockFlags.check(cmd.Flags(), guard); err != nil {
		return err
	}
	if e.words, err = e.lockFlags.words(cmd.Name(), rest); err != nil {
		return err
	}
	if e.candidate == "" {
		if e.candidate = e.label; e.candidate == "" {
			e.candidate = e.defaultLabel(e.words)
		}
	}
	e.path, err = find(e.words[0])
	return err
}

// errTermLost says that a term ended before the command did.
var errTermLost = errors.New("the leadership was lost")

func (e *candidacy) run(a *app) error {
	outlivePipes()
	caught, stop := listen(syscall.SIGTSTP)
	defer stop()
	r := &runner{flags: &e.lockFlags, words: e.words, path: e.path, caught: caught, events: a.events(e.name)}
	c, closing, err := a.openUnless(context.Background(), caught, e.client(e.words)...)
	if err != nil {
		return err
	}
	defer closing()
	for {
		code, err := e.campaign(c, r)
		switch {
		case err == nil && code == 0:
			return nil
		case err == nil:
			return exit(code, nil)
		case !errors.Is(err, errTermLost):
			return refused(err)
		case r.stopping:
			return exit(exitLost, err) // it was asked to end, and has
		}
		r.events.warn(fmt.Sprintf("%v; this process is a candidate again", err))
	}
}

// campaign waits for one term and leads in it. Only the wait is ended by a signal here; while the command
// runs, signals are for the command.
func (e *candidacy) campaign(c *lock.Client, r *runner) (code int, err error) {
	elected := make(chan *lock.Lease)
	over := make(chan struct{})
	done := make(chan struct{})
	var ran error // once done is closed
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer close(done)
		ran = election.New(c, e.name, e.candidate, e.options()...).Run(ctx, func(ctx context.Context, _ election.Term) error {
			l, _ := lock.FromContext(ctx) // a term is a lease
			elected <- l
			<-over // whatever ends the term, it is given back when the command has gone
			return nil
		})
	}()
	var l *lock.Lease
	interrupted, err := interruptible(r.caught, func(wait context.Context) error {
		select {
		case l = <-elected:
			return nil
		case <-done:
			return ran
		case <-wait.Done():
			return wait.Err()
		}
	})
	switch {
	case l == nil && interrupted != nil:
		cancel()
		select {
		case <-elected: // just now
			close(over)
			<-done
		case <-done:
		}
		return 0, interrupted
	case l == nil:
		return 0, err
	case interrupted != nil:
		cancel()
		close(over)
		<-done
		return 0, interrupted
	}
	// Nothing of the election runs until over is closed: a term that was lost must not become a
	// candidacy before the command has gone, and is one by the next call.
	lost, code, err := r.run(&grant{lease: l, name: e.name})
	unseen := lossOf(l)
	cancel() // a term that is lost from now on is not followed by a candidacy that nobody knows of
	close(over)
	<-done
	if unseen == nil && errors.Is(ran, lock.ErrLost) {
		unseen = ran
	}
	switch {
	case err != nil:
		return 0, err
	case lost != nil:
		return 0, fmt.Errorf("%w: %s", errTermLost, lossText(lost))
	case unseen != nil: // it ended by itself, but perhaps not before the term did
		return 0, exit(exitLost, fmt.Errorf("lock %q: the leadership was lost before the command had ended: %s", e.name, lossText(unseen)))
	}
	if ran != nil {
		r.events.warn(unreleased(ran))
	} else {
		r.events.tell(event{Event: "released", Name: e.name, ID: l.ID()})
	}
	return code, nil
}

// lossOf is why the lease is lost; nil if it is not.
func lossOf(l *lock.Lease) error {
	if err := l.Err(); errors.Is(err, lock.ErrLost) {
		return err
	}
	return nil
}
