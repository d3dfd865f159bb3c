package main

import (
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// A process is a server or a worker, from fork to reaping. It dies with the driver.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once reaped
	err  error         // how it ended; to be read after done
}

// start starts cmd.
func start(cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		defer close(p.done)
		// The kernel sends the death signal when the thread ends that forked, so that
		// one is kept for as long as the process lives.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
	}()
	return p, <-started
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// pause stops the process, and returns when none of it runs any more.
func (p *process) pause() {
	p.signal(syscall.SIGSTOP)
	// A signal takes its time, and the process its turns until then. It may end
	// meanwhile: then there is nothing to wait for.
	for unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WSTOPPED, nil) == unix.EINTR {
	}
}

// kill ends the process at once and waits until it is gone.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

func (p *process) gone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
