package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	pollFirst = time.Millisecond
	pollMost  = 20 * time.Millisecond
	pollDead  = 200 * time.Millisecond // between two looks for zombies
)

// A group is the process group of a command: the command and all of its descendants that have not left it.
type group struct {
	pid    int            // of the command, and of the group
	cmd    *exec.Cmd      // started
	before map[int]string // what this process was the parent of before: pids, and when they began
	gone   chan struct{}  // closed when no process of the group is left, and none at all once it is being ended

	ending atomic.Bool // the lock is lost: nothing that descends from the command may stay
	empty  atomic.Bool // the group's number is no longer its own

	// Owned by the goroutine that waits.
	looked    time.Time // for zombies
	deadLooks int       // in a row that found nothing else

	status   syscall.WaitStatus // of the command, once it has ended
	terminal *terminal          // nil: there is none
	warn     func(text string)  // tells the user
	warned   bool               // that the command is stopped

	kill func(pid int, s syscall.Signal) error // the system's
}

// A partError says that a process of a group cannot be sent signals, while others can.
type partError struct{ pid int }

func (e *partError) Error() string { return fmt.Sprintf("process %d: %v", e.pid, syscall.EPERM) }
func (e *partError) Unwrap() error { return syscall.EPERM }

// find looks the command up as a shell does, so that a command that does not exist is told
// before the wait for the lock.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EISDIR):
		return "", exit(exitCannotRun, err)
	case errors.Is(err, exec.ErrNotFound) && isOnPath(name):
		return "", exit(exitCannotRun, &exec.Error{Name: name, Err: fs.ErrPermission})
	default:
		return "", exit(exitNotFound, err)
	}
}

// isOnPath reports whether a directory of PATH has a file of that name. LookPath passes over those that cannot be
// executed, and says that there is none.
func isOnPath(name string) bool {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// start starts cmd in a group of its own. What the user must know of it is told by warn.
func start(cmd *exec.Cmd, warn func(text string)) (*group, error) {
	g := &group{
		cmd: cmd, gone: make(chan struct{}), terminal: findTerminal(), before: adoptOrphans(), warn: warn, kill: syscall.Kill,
	}
	cmd.SysProcAttr = attributes()
	started := make(chan error)
	go func() {
		// The signal that tells of a parent's death is tied to the thread that began the child. It must not
		// end while the child lives.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			g.pid = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		g.wait()
		g.await()
		g.terminal.takeBack()
		close(g.gone)
	}()
	switch err := <-started; {
	case errors.Is(err, fs.ErrNotExist): // find has seen the command itself
		return nil, exit(exitNotFound, fmt.Errorf("%w: the interpreter in its first line does not exist, or the command has just been removed", err))
	case err != nil:
		return nil, exit(exitCannotRun, err)
	}
	return g, nil
}

// wait returns when the command has ended. On the way it sees processes being stopped, and waits for orphans that have
// become children of this process.
func (g *group) wait() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err == nil && status.Stopped():
			g.stopped(pid, status.StopSignal())
		case err == nil && pid != g.pid:
		default:
			g.status = status
			return
		}
	}
}

// stopped sees that a process was stopped by a signal: the command, or what it has left behind. Where the terminal is
// not holdfast's to give, nobody else will say why the command does not go on, and the lock stays held all the while.
func (g *group) stopped(pid int, by syscall.Signal) {
	if at, err := unix.Getpgid(pid); err != nil || at != g.pid {
		return // it has left the group, or was a child of this process before
	}
	if g.terminal.stopped(g, by) || g.warned || by != syscall.SIGTTIN && by != syscall.SIGTTOU {
		return
	}
	g.warned = true
	g.warn(fmt.Sprintf("the command is stopped (%v): it wants the terminal, and holdfast runs in the background. "+
		"The lock stays held. End it, and run it in the foreground or without a terminal", unix.SignalName(by)))
}

// await returns when the group is empty, and nothing else is left of a command that is being ended. The command has been
// waited for; what it left behind is waited for here, if it has become a child of this process: a zombie would
// count as alive.
func (g *group) await() {
	quiet := 0 // looks in a row that found nothing: one may miss a process that is just being born
	for pause := pollFirst; ; pause = min(2*pause, pollMost) {
		g.reap()
		if !g.empty.Load() && g.isEmpty() {
			g.empty.Store(true)
		}
		switch {
		case !g.empty.Load():
		case !g.ending.Load():
			return
		case len(g.strays()) > 0:
			quiet = 0
		default:
			if quiet++; quiet > 1 {
				return
			}
		}
		time.Sleep(pause)
	}
}

// reap waits for all children that have ended, and sees those that were stopped.
func (g *group) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG|syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case pid <= 0:
			return
		case status.Stopped():
			g.stopped(pid, status.StopSignal())
		}
	}
}

// isEmpty reports whether no process of the group is alive. Only await calls it.
func (g *group) isEmpty() bool {
	// EPERM tells of a process that has changed its user, and is alive.
	if err := syscall.Kill(-g.pid, 0); errors.Is(err, syscall.ESRCH) {
		return true
	}
	if time.Since(g.looked) < pollDead {
		return false
	}
	g.looked = time.Now()
	if g.lives() {
		g.deadLooks = 0
		return false
	}
	g.deadLooks++
	return g.deadLooks > 1 // as in await
}

// signal sends s to every process of the group, and to the command if it has left its group. A number is given to no other
// group while a process is left in this one. The error is that none of the group could be sent it, or a [*partError].
func (g *group) signal(s syscall.Signal) (err error) {
	select {
	case <-g.gone:
		return nil
	default:
	}
	if !g.empty.Load() {
		if err = g.kill(-g.pid, s); err == nil {
			err = g.spared()
		}
	}
	if at, e := unix.Getpgid(g.pid); e == nil && at != g.pid {
		_ = g.cmd.Process.Signal(s) // it may have ended by now
	}
	if errors.Is(err, syscall.ESRCH) {
		return nil // it may have gone by now
	}
	return err
}

// over is closed when nothing is left that is waited for.
func (g *group) over() <-chan struct{} { return g.gone }

// end sends s to everything that descends from the command, whether or not it is in the group, and has gone wait for all of
// it from now on.
func (g *group) end(s syscall.Signal) error {
	g.ending.Store(true)
	err := g.signal(s)
	select {
	case <-g.gone:
		return err
	default:
	}
	for _, pid := range g.strays() {
		if pid != g.pid {
			_ = syscall.Kill(pid, s) // it may have ended by now
		}
	}
	return err
}

// code is what the command has ended with, as a shell would put it. Call it when the group is gone.
func (g *group) code() int {
	if g.status.Signaled() {
		return exitSignalBase + int(g.status.Signal())
	}
	return g.status.ExitStatus()
}
