package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/lock"
)

const (
	// lookAgain is the pause between two looks at a lock.
	lookAgain = 200 * time.Millisecond
	// connectTime is what connecting may take, however short the timeout is: one look is made in any case, and a silent
	// server delays it by a second.
	connectTime = 2 * time.Second
)

func (a *app) waitCommand() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "wait NAME",
		Short: "Wait until nobody has a lock",
		Long: `Wait until nobody has a lock, without taking it: somebody else may have it a moment later. To do something while
nobody else has the lock, use ` + "`holdfast run`" + `. The lock is checked five times per second.

--timeout counts from the start of the command. The lock is checked once, however short that is.

With --json, one document when the wait is over, as ` + "`holdfast status --json`" + ` prints it.
Exit code 75 if the lock is still held after --timeout, and 69 if too few servers answered then.`,
		Example: `  holdfast wait migration && ./start-server
  holdfast wait --timeout 1m migration`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("timeout") && timeout <= 0 {
				return usagef("--timeout %v must be positive", timeout)
			}
			err := a.wait(cmd.OutOrStdout(), args[0], timeout)
			if code := codeOf(err); code > exitSignalBase {
				return exit(code, nil) // whoever sent the signal knows
			}
			return err
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait (default: no limit)")
	return cmd
}

// wait waits until the lock is free, a signal comes, or the timeout is over; 0 is none.
func (a *app) wait(out io.Writer, name string, timeout time.Duration) error {
	begun := time.Now()
	caught, stop := listen()
	defer stop()
	connecting := context.Background()
	if timeout > 0 {
		limit := max(timeout, connectTime)
		var cancel context.CancelFunc
		connecting, cancel = context.WithTimeoutCause(connecting, limit, exit(exitNoQuorum,
			fmt.Errorf("too few servers answered within %v to tell whether lock %q is free; `holdfast doctor` tells more", limit, name)))
		defer cancel()
	}
	c, _, err := a.openUnless(connecting, caught) // not closed, as in openToLook
	if err != nil {
		return err
	}
	interrupted, err := interruptible(caught, func(ctx context.Context) error {
		v, err := untilFree(ctx, c, name, begun, timeout)
		if a.json && v.Name != "" {
			if err := document(out, v); err != nil {
				return err
			}
		}
		return err
	})
	return cmp.Or(interrupted, err)
}

// untilFree looks at the lock until it is free, or the timeout since the command has begun is over; 0 is none. A time without
// a quorum does not end the wait. It looks once in any case.
func untilFree(ctx context.Context, c *lock.Client, name string, begun time.Time, timeout time.Duration) (lockView, error) {
	unlimited := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, begun.Add(timeout))
		defer cancel()
	}
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	var last lockView
	var failed error
	for first := true; ; first = false {
		at := ctx
		if first {
			at = unlimited
		}
		v, err := look(at, c, name)
		switch {
		case at.Err() != nil: // what was seen before counts
		case err != nil && len(v.Nodes) == 0:
			return lockView{}, exit(exitUsage, err)
		case err == nil && v.Status == "free":
			return v, nil
		default:
			last, failed = v, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			if failed != nil {
				return last, failed
			}
			return last, exit(exitConflict, fmt.Errorf("lock %q is still %s after %v%s", name, last.Status, timeout, last.heldBy()))
		}
	}
}

// heldBy names the holder, if it is known.
func (v *lockView) heldBy() string {
	if len(v.Holders) == 0 {
		return ""
	}
	return ": held by " + v.Holders[0].words()
}
