package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/lock"
)

// lookAgain is the pause between two looks at a lock.
const lookAgain = 200 * time.Millisecond

func (a *app) waitCommand() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "wait NAME",
		Short: "Wait until nobody has a lock",
		Long: `Wait until nobody has a lock, without taking it: somebody else may have it a moment later. To do something while
nobody else has the lock, use ` + "`holdfast run`" + `. The lock is checked five times per second.

With --json, one document when the wait is over, as ` + "`holdfast status --json`" + ` prints it.
Exit code 75 if the lock is still held after --timeout, and 69 if too few servers answered then.`,
		Example: `  holdfast wait migration && ./start-server
  holdfast wait --timeout 1m migration`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("timeout") && timeout <= 0 {
				return usagef("--timeout %v must be positive", timeout)
			}
			caught, stop := listen()
			defer stop()
			interrupted, err := interruptible(caught, func(ctx context.Context) error {
				c, closing, err := a.open()
				if err != nil {
					return err
				}
				defer closing()
				v, err := untilFree(ctx, c, args[0], timeout)
				if a.json && v.Name != "" {
					if err := document(cmd.OutOrStdout(), v); err != nil {
						return err
					}
				}
				return err
			})
			if interrupted != nil {
				var e *exitError
				errors.As(interrupted, &e)
				return bySignal(syscall.Signal(e.code-exitSignalBase), nil)
			}
			return err
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait (default: no limit)")
	return cmd
}

// untilFree looks at the lock until it is free. A time without a quorum does not end the wait.
// It looks once in any case.
func untilFree(ctx context.Context, c *lock.Client, name string, timeout time.Duration) (lockView, error) {
	unlimited := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
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
