package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// forwarded are the signals that the command gets when holdfast gets them.
var forwarded = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH,
}

// listen catches signals from now on. SIGHUP or SIGINT that was ignored when holdfast began, as by nohup or in a script's
// background, stays ignored, here and in the command; of other signals, Go does not tell.
//
// Whoever has a lock to renew, or is about to, catches SIGTSTP, too: a holdfast that is stopped by Ctrl-Z could not
// renew it, and the command would run on without it.
func listen(too ...os.Signal) (caught <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 16)
	for _, s := range append(too, forwarded...) {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	return c, func() { signal.Stop(c) }
}

// interruptible runs fn with a context that ends with the first signal that would end a process. The error is
// then an exit with 128 + n, and whatever fn has got must be given back.
func interruptible(caught <-chan os.Signal, fn func(context.Context) error) (interrupted, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case s := <-caught:
				if s != syscall.SIGWINCH && s != syscall.SIGTSTP {
					n := s.(syscall.Signal)
					interrupted = bySignal(n, fmt.Errorf("ended by signal %d (%v) before the command began", int(n), n))
					cancel()
					return
				}
			case <-over:
				return
			}
		}
	}()
	err = fn(ctx)
	close(over)
	<-ended
	return interrupted, err
}
