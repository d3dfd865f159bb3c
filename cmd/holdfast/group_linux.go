package main

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes puts the command into a group of its own. If holdfast is killed, nobody renews the lock any more:
// then the command is killed, too.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// adoptOrphans makes this process the parent of what the command leaves behind, so that it can wait
// for that, and finds what has left the group. Otherwise an init that does not wait for its children, as in a
// container, would leave zombies in the group for ever.
//
// It returns what were children before, as of a shell that has become this process.
func adoptOrphans() (before map[int]string) {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // without it, init does it
	list, _ := processes()                                  // without /proc, the group is all that is known
	before = make(map[int]string)
	for _, p := range below(list, os.Getpid(), nil) {
		before[p.pid] = p.start
	}
	return before
}

// lives reports whether a process of the group is alive. A zombie is not, and its parent may never wait for it.
func (g *group) lives() bool {
	list, err := processes()
	if err != nil {
		return true // as far as kill can tell
	}
	for _, p := range list {
		if p.group == g.pid && !p.dead {
			return true
		}
	}
	return false
}

// spared is an error if a process of the group cannot be sent signals, as it has another user. The system tells of that
// only if it is so of all of them.
func (g *group) spared() error {
	list, _ := processes() // without /proc, none is known
	for _, p := range list {
		if p.group != g.pid || p.dead || !errors.Is(g.kill(p.pid, 0), syscall.EPERM) {
			continue
		}
		if at, err := unix.Getpgid(p.pid); err == nil && at == g.pid { // and the number is not another's by now
			return &partError{p.pid}
		}
	}
	return nil
}

// strays are the command's descendants that have left its group. Those that this user may not signal are left out: nothing
// can be done about them.
func (g *group) strays() (pids []int) {
	list, _ := processes() // without /proc, none is known
	for _, p := range below(list, os.Getpid(), g.before) {
		if p.group != g.pid && !errors.Is(syscall.Kill(p.pid, 0), syscall.EPERM) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}
