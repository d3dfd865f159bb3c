package main

import (
	"errors"
	"io/fs"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

const (
	pollFirst = time.Millisecond
	pollMost  = 20 * time.Millisecond
)

// A group is the process group of a command: the command and all of its descendants that have not left it.
type group struct {
	pid  int           // of the command, and of the group
	gone chan struct{} // closed when no process of the group is left

	status   syscall.WaitStatus // of the command, once it has ended
	terminal *terminal          // nil: there is none
}

// find looks the command up as a shell does, so that a command that does not exist is told
// before the wait for the lock.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, fs.ErrPermission):
		return "", exit(exitCannotRun, err)
	default:
		return "", exit(exitNotFound, err)
	}
}

// start starts cmd in a group of its own.
func start(cmd *exec.Cmd) (*group, error) {
	g := &group{gone: make(chan struct{}), terminal: findTerminal()}
	adoptOrphans()
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
	if err := <-started; err != nil {
		return nil, exit(exitCannotRun, err)
	}
	return g, nil
}

// wait returns when the command has ended. On the way it sees the command being stopped.
func (g *group) wait() {
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(g.pid, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err == nil && status.Stopped():
			g.terminal.stopped(g, status.StopSignal())
		default:
			g.status = status
			return
		}
	}
}

// await returns when the group is empty. The command has been waited for; what it left behind is waited for here,
// if it has become a child of this process: a zombie would count as alive.
func (g *group) await() {
	for pause := pollFirst; ; pause = min(2*pause, pollMost) {
		for {
			if pid, err := syscall.Wait4(-g.pid, nil, syscall.WNOHANG, nil); pid <= 0 && !errors.Is(err, syscall.EINTR) {
				break
			}
		}
		// EPERM tells of a process that has changed its user, and is alive.
		if err := syscall.Kill(-g.pid, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
		time.Sleep(pause)
	}
}

// signal sends s to every process of the group. A number is given to no other group while a process is left
// in this one.
func (g *group) signal(s syscall.Signal) {
	select {
	case <-g.gone:
	default:
		_ = syscall.Kill(-g.pid, s) // it may have gone by now
	}
}

// code is what the command has ended with, as a shell would put it. Call it when the group is gone.
func (g *group) code() int {
	if g.status.Signaled() {
		return exitSignalBase + int(g.status.Signal())
	}
	return g.status.ExitStatus()
}
