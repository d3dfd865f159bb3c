package redistest

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"go.uber.org/goleak"
)

// process is one run of one executable, from fork to reaping.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once reaped
}

func startProcess(dir string, log *os.File, path string, args ...string) (*process, error) {
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	// A file, not a pipe: a pipe would need a goroutine, and stall the server when
	// nobody reads.
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = sysProcAttr()

	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(started)
	return p, <-started
}

// run starts the process and waits for it on one OS thread. The kernel sends the
// parent-death signal when the thread that forked exits, not when the whole
// parent does; a thread of the scheduler's choice could exit at any time and take
// the server with it.
//
// Owner: startProcess. Stop signal: the death of the process. Join: done.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.done)
	err := p.cmd.Start()
	started <- err
	if err == nil {
		// How it ended is judged by whoever ended it.
		_ = p.cmd.Wait()
	}
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// signal reports false when the process is gone. It goes through os.Process,
// which never hits a stranger that was given the same pid.
func (p *process) signal(sig syscall.Signal) bool {
	return p.cmd.Process.Signal(sig) == nil
}

func (p *process) exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill ends the process, if it still runs, and waits until it is reaped: only then
// is its port free.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// IgnoreGoroutines tells goleak to overlook the goroutines that wait for running
// servers. They end with the server, at the latest in the test's cleanup; a check
// that runs while servers are up needs these options, one in TestMain does not.
func IgnoreGoroutines() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreAnyFunction("github.com/holdfast-go/holdfast/internal/redistest.(*process).run"),
	}
}

// IgnoreRedials tells goleak to overlook the goroutine of a go-redis client whose
// every dial has failed: it tries once a second whether its server is back, and sees
// only between two tries that the client was closed. For TestMain where servers die.
func IgnoreRedials() goleak.Option {
	return goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial")
}
