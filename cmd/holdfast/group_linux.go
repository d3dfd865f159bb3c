package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes puts the command into a group of its own. If holdfast is killed, nobody renews the lock any more:
// then the command is killed, too.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// adoptOrphans makes this process the parent of what the command leaves behind, so that it can wait
// for that. Otherwise an init that does not wait for its children, as in a container, would leave zombies in
// the group for ever.
func adoptOrphans() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // without it, init does it
}
