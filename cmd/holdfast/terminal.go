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
type terminal struct {
	fd    int
	own   int  // holdfast's group
	given bool // the command has the foreground
}

// findTerminal returns nil if stdin is no terminal, or one that others have the foreground of.
func findTerminal() *terminal {
	t := &terminal{fd: int(os.Stdin.Fd()), own: unix.Getpgrp()}
	front, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	if err != nil || front != t.own {
		return nil
	}
	return t
}

// stopped sees that the group was stopped by a signal.
func (t *terminal) stopped(g *group, by syscall.Signal) {
	switch {
	case t == nil:
	case by == syscall.SIGTTIN || by == syscall.SIGTTOU:
		t.given = true
		if unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, g.pid) == nil {
			g.signal(syscall.SIGCONT)
		}
	case by == syscall.SIGTSTP && t.given:
		// Ctrl-Z. Nobody's prompt would come back, as holdfast goes on: it has a lock to renew.
		g.signal(syscall.SIGCONT)
	}
}

// takeBack returns the foreground to holdfast's own group, and so to whoever began that.
func (t *terminal) takeBack() {
	if t == nil || !t.given {
		return
	}
	signal.Ignore(syscall.SIGTTOU) // which stops a group in the background that does this
	_ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, t.own)
}
