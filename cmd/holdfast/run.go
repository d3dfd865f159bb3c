package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/lock"
)

// A job is a command that is to run under a lock.
type job struct {
	lockFlags

	wish     wish
	permits  string
	waitText string
	note     string
	atLeast  time.Duration
	conflict int
	words    []string
	path     string
}

func (a *app) runCommand() *cobra.Command {
	j := new(job)
	cmd := &cobra.Command{
		Use:   "run NAME -- CMD [ARGS...]",
		Short: "Run a command under a lock",
		Long: `Run a command under a lock, which is renewed while the command runs and released when the command and
every process of its group have ended. No shell is involved, unless -c asks for one.

If the lock cannot be renewed, for example because servers are down, the command's process group is ended before
the lock can expire: it gets SIGTERM early enough to have --grace, then SIGKILL. If the lock is deleted or ended
by force, or holdfast itself was stopped for too long, there is no such time: the group gets SIGTERM at once, and
SIGKILL after --grace. On Linux, descendants of the command that have left the group, for example by timeout or
setsid, are ended with it; on other systems they are not. If the group ends by itself, the lock is released, and
processes that have left the group continue.

When holdfast starts, a quorum of the servers must answer, however long --wait is.

HUP, INT, QUIT, TERM, USR1, USR2 and WINCH are passed on to the group; the first four are followed by CONT. A second INT (Ctrl-C) kills it.
While holdfast waits for the lock, these signals except WINCH end it, and nothing stays locked.

The command's environment has

    HOLDFAST_NAME      the lock's name
    HOLDFAST_TOKEN     the fencing token: greater than that of every earlier holder
    HOLDFAST_ID        the hold id, as ` + "`holdfast status`" + ` shows it
    HOLDFAST_DEADLINE  the lock's deadline when the command started; renewal moves it. RFC 3339 with
                       nanoseconds, in UTC, such as 2026-11-23T19:24:36.123456789Z
    HOLDFAST_SLOTS     with --permits: the numbers of the permits, such as 0,3. Nobody else has them

With --json, events are JSON objects on stderr, one per line: "event" is locked, lost, kill, released, warning or
error; with "name", "id", "token", "slots", "deadline", "reason" (notRenewed, gone, forced or maxHold),
"error" and "exitCode" where they apply.

` + runCodes,
		Example: `  holdfast run nightly-export -- ./export --all
  holdfast run --wait 0 -E 0 cleanup -- ./cleanup       # cron: skip it if it is still running
  holdfast run --at-least 1m report -- ./report         # cron on many machines: once a minute
  holdfast run --wait 30s deploy -c 'make build && make push'
  holdfast run --permits 1/5 billing-api -- ./call      # five at once
  holdfast run --shared config -- ./read-config         # shared with other readers
  holdfast run --exclusive config -- ./write-config     # alone`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, rest, err := split(args, cmd.ArgsLenAtDash())
			if err != nil {
				return err
			}
			j.wish.name = name
			if err := j.check(cmd, rest, a.guard); err != nil {
				return err
			}
			return j.run(a)
		},
	}
	f := cmd.Flags()
	j.add(f)
	f.StringVarP(&j.waitText, "wait", "w", "forever", "how long to wait for the lock; 0 tries once")
	f.BoolVar(&j.wish.fair, "fair", false, "serve waiters in order of arrival; all users of NAME must use it")
	f.BoolVarP(&j.wish.shared, "shared", "s", false, "share the lock with other users of --shared, and exclude those of --exclusive")
	f.BoolVarP(&j.wish.exclusive, "exclusive", "x", false, "take the lock alone, for a name that others use with --shared")
	f.StringVar(&j.permits, "permits", "", "take n of k permits, as in 1/5; all users of NAME must give the same k")
	f.DurationVar(&j.atLeast, "at-least", 0, "keep the lock taken for at least this time, even if the command ends sooner or cannot be executed")
	f.StringVar(&j.note, "note", "", "a text that tells others what the lock is held for")
	f.IntVarP(&j.conflict, "conflict-exit-code", "E", exitConflict, "exit code if others have the lock; with 0 nothing is printed")
	return cmd
}

// split separates the lock's name from the command. A name that begins with a dash comes behind a -- of its own.
func split(args []string, dash int) (name string, rest []string, err error) {
	if dash < 0 {
		dash = len(args)
	}
	switch {
	case len(args) == 0:
		return "", nil, usagef("the name of the lock is missing")
	case dash == 0 && len(args) == 1 && strings.HasPrefix(args[0], "-"): // with -c
		return args[0], nil, nil
	case dash == 0 && len(args) > 1 && strings.HasPrefix(args[0], "-") && args[1] == "--":
		return args[0], args[2:], nil
	case dash == 0:
		return "", nil, usagef("the name of the lock is missing before --")
	case dash > 1:
		return "", nil, usagef("unexpected %q before --: only the name of the lock comes before it, and the command comes after it", args[1])
	}
	return args[0], args[1:], nil
}

// check completes the job, and refuses what makes no sense.
func (j *job) check(cmd *cobra.Command, rest []string, guard time.Duration) (err error) {
	f := cmd.Flags()
	if err := j.lockFlags.check(f, guard); err != nil {
		return err
	}
	if j.wish.wait, err = waitFor(j.waitText); err != nil {
		return err
	}
	var kinds []string
	for _, kind := range []string{"fair", "shared", "exclusive", "permits"} {
		if f.Changed(kind) {
			kinds = append(kinds, "--"+kind)
		}
	}
	switch {
	case len(kinds) > 1:
		return usagef("%s are different kinds of lock: choose one", strings.Join(kinds, " and "))
	case f.Changed("at-least") && j.atLeast <= 0:
		return usagef("--at-least %v must be positive", j.atLeast)
	case j.hasMaxHold && j.atLeast > j.maxHold:
		return usagef("--at-least %v is longer than --max-hold %v", j.atLeast, j.maxHold)
	case j.conflict < 0 || j.conflict > 255:
		return usagef("--conflict-exit-code %d is not from 0 to 255", j.conflict)
	case f.Changed("conflict-exit-code") && j.wish.wait == forever:
		return usagef("--conflict-exit-code needs --wait: without it, holdfast waits until it has the lock")
	}
	if f.Changed("permits") {
		if j.wish.take, j.wish.of, err = permits(j.permits); err != nil {
			return err
		}
	}
	if j.words, err = j.lockFlags.words(cmd.Name(), rest); err != nil {
		return err
	}
	j.wish.options = j.options()
	if j.atLeast > 0 {
		j.wish.options = append(j.wish.options, lock.WithMinHold(j.atLeast))
	}
	if j.note != "" {
		j.wish.options = append(j.wish.options, lock.WithNote(j.note))
	}
	j.path, err = find(j.words[0])
	return err
}

// waitFor reads a time to wait.
func waitFor(text string) (time.Duration, error) {
	if text == "forever" {
		return forever, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, usagef("--wait %q must be a time such as 30s, or 0, or forever", text)
	}
	return d, nil
}

func (j *job) run(a *app) error {
	outlivePipes()
	caught, stop := listen(syscall.SIGTSTP)
	defer stop()
	events := a.events(j.wish.name)
	g, closing, err := j.obtain(a, caught)
	if err != nil {
		return err
	}
	defer closing()
	r := &runner{flags: &j.lockFlags, words: j.words, path: j.path, caught: caught, events: events}
	lost, code, err := r.run(g)
	released := g.release(context.Background())
	switch {
	case err != nil:
		return err
	case lost == nil && errors.Is(released, lock.ErrLost):
		// It ended by itself, but perhaps not before the lock did.
		return exit(exitLost, fmt.Errorf("lock %q was lost before the command had ended: %s", g.name, lossText(released)))
	case lost == nil && released != nil:
		events.warn(unreleased(released))
	}
	if released == nil {
		events.tell(event{Event: "released", Name: g.name, ID: g.ID()})
	}
	switch {
	case lost != nil && !r.began:
		return exit(exitLost, fmt.Errorf("lock %q was lost before the command began: %s", g.name, lossText(lost)))
	case lost != nil:
		return exit(exitLost, fmt.Errorf("lock %q was lost while the command ran, and the command was ended: %s", g.name, lossText(lost)))
	case code != 0:
		return exit(code, nil)
	}
	return nil
}

// unreleased warns of a lock that could not be released. The command's own code tells how it went nevertheless.
func unreleased(err error) string {
	return fmt.Sprintf("the command has ended, but the lock may stay until its TTL is over: %v", err)
}

// obtain waits for the lock. A signal ends the wait.
func (j *job) obtain(a *app, caught <-chan os.Signal) (g *grant, closing func(), err error) {
	c, closing, err := a.openUnless(context.Background(), caught, j.client(j.words)...)
	if err != nil {
		return nil, nil, err
	}
	interrupted, err := interruptible(caught, func(ctx context.Context) error {
		g, err = j.wish.acquire(ctx, c)
		return err
	})
	if err = errors.Join(interrupted, err); err == nil {
		return g, closing, nil
	}
	if g != nil {
		_ = g.release(context.Background()) // the signal came just after the grant; if this fails, the lock ends with its TTL
	}
	closing()
	switch {
	case interrupted != nil:
		return nil, nil, interrupted
	case codeOf(err) != exitConflict:
		return nil, nil, err
	case j.conflict == 0:
		return nil, nil, exit(0, nil)
	default:
		return nil, nil, exit(j.conflict, err)
	}
}
