package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// longest is how long a test waits for what must happen: so long that a busy machine is no excuse.
const longest = time.Minute

// holdfastEnv has the test's own binary be holdfast.
const holdfastEnv = "TEST_HOLDFAST"

// binary is the holdfast that a user has.
var binary string

// TestMain builds it once. Some children are this test's own binary, and so is a holdfast that is to run with the race
// detector, which takes half a second more of a processor to start.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(holdfastEnv) != "" && os.Getenv("HOLDFAST_TOKEN") == "":
		os.Exit(execute(os.Args[1:]))
	case beWanderer(), beChild():
		return
	}
	heed()
	os.Exit(withBinary(func() int { return redistest.Run(m) }))
}

// heed has children begin with the default for signals that this process was started to ignore, as nohup and a shell's & have
// it: whoever ignores a signal passes that on, and holdfast would not be ended by it.
func heed() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

func withBinary(run func() int) int {
	dir, err := os.MkdirTemp("", "holdfast-cli")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "holdfast")
	// git refuses to tell of a checkout that another user owns, as in a container.
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return run()
}

// A text collects what a process prints. It is safe for concurrent use.
type text struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *text) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *text) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// A process is a holdfast that runs.
type process struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err text
	over     chan struct{}
}

// command is holdfast with these servers and arguments. Nothing of the environment that tests are run in
// says where servers are.
func command(t *testing.T, servers string, args ...string) *exec.Cmd {
	return commandOf(t, servers, binary, args...)
}

// commandOf is another program in the same environment.
func commandOf(t *testing.T, servers, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), program, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "HOLDFAST_") && !strings.HasPrefix(v, "GORACE=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, serversEnv+"="+servers, "GORACE=atexit_sleep_ms=0")
	return cmd
}

// begin starts cmd. It ends with the test, with its children.
func begin(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, over: make(chan struct{})}
	cmd.Stdout = &p.out
	if cmd.Stderr == nil {
		cmd.Stderr = &p.err
	}
	cmd.WaitDelay = longest
	require.NoError(t, cmd.Start())
	go func() {
		_ = cmd.Wait() // its state tells
		close(p.over)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be over
		<-p.over
	})
	return p
}

// run runs holdfast to its end.
func run(t *testing.T, servers string, args ...string) (code int, out, errs string) {
	t.Helper()
	p := begin(t, command(t, servers, args...))
	return p.wait(), p.out.String(), p.err.String()
}

// wait returns the exit code.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.over:
	case <-time.After(longest):
		p.t.Fatalf("%v has not ended.\nstdout: %s\nstderr: %s", p.cmd.Args, &p.out, &p.err)
	}
	status := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		p.t.Fatalf("holdfast itself died by %v\nstderr: %s", status.Signal(), &p.err)
	}
	return status.ExitStatus()
}

// says waits until the process has printed this to stdout.
func (p *process) says(what string) {
	p.t.Helper()
	redistest.Eventually(p.t, longest, func() bool { return strings.Contains(p.out.String(), what) },
		"%q is not in what the command printed", what)
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(s))
}

// redisURL is how holdfast is told of a server.
func redisURL(addr string) string { return "redis://" + addr }

// gone waits until there is no such process.
func gone(t *testing.T, pid int) {
	t.Helper()
	redistest.Eventually(t, longest, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }, "process %d is alive", pid)
}
