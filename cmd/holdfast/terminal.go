package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// A terminal is the one that holdfast is in the foreground of.
//
// The command's group begins in the background, so that Ctrl-C goes to holdfast, which passes it on and kills at
// the second one. A command that reads from the terminal there is stopped by the kernel, with SIGTTIN. That is
// when it gets the foreground: from then on keys go to it, as without holdfast.
//
// Meanwhile holdfast is in the background itself. Where `stty tostop` is set, the kernel would stop it when it writes,
// and nobody would renew the lock.
type terminal struct {
	tty   *os.File
	own   int  // holdfast's group
	given bool // the command has the foreground
}

// findTerminal returns nil if there is no terminal, or one that others have the foreground of. Stdin may be something else:
// a command can open /dev/tty, too.
func findTerminal() *terminal {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	t := &terminal{tty: tty, own: unix.Getpgrp()}
	if front, err := t.foreground(); err != nil || front != t.own {
		_ = tty.Close() // nothing was written to it
		return nil
	}
	return t
}

func (t *terminal) foreground() (group int, err error) {
	return unix.IoctlGetInt(int(t.tty.Fd()), unix.TIOCGPGRP)
}

// stopped sees that the group was stopped by a signal, and tells whether it goes on.
func (t *terminal) stopped(g *group, by syscall.Signal) bool {
	switch {
	case t == nil:
	case by == syscall.SIGTTIN || by == syscall.SIGTTOU:
		t.given = true
		signal.Ignore(syscall.SIGTTOU)
		if unix.IoctlSetPointerInt(int(t.tty.Fd()), unix.TIOCSPGRP, g.pid) == nil {
			_ = g.signal(syscall.SIGCONT) // it may have been killed
			return true
		}
	case by == syscall.SIGTSTP && t.given:
		// Ctrl-Z. Nobody's prompt would come back, as holdfast goes on: it has a lock to renew.
		_ = g.signal(syscall.SIGCONT) // it may have been killed
		return true
	}
	return false
}

// takeBack returns the foreground to holdfast's own group, and so to whoever began that.
func (t *terminal) takeBack() {
	if t == nil {
		return
	}
	defer t.tty.Close()
	if !t.given {
		return
	}
	_ = unix.IoctlSetPointerInt(int(t.tty.Fd()), unix.TIOCSPGRP, t.own) // the terminal may have gone
	// The next command would inherit a signal that is ignored, and not one that is caught; signal.Reset
	// leaves it ignored. In the foreground it does not come.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTTOU)
}
