package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// wandererEnv has the test's own binary be a process that leaves its group.
const wandererEnv = "TEST_WANDERER"

// beWanderer leaves its group: for that of holdfast, or for one of its own, and a zombie behind.
func beWanderer() bool {
	var err error
	switch os.Getenv(wandererEnv) {
	case "":
		return false
	case "joins":
		var group int
		if group, err = syscall.Getpgid(os.Getppid()); err == nil {
			err = syscall.Setpgid(0, group)
		}
	case "leaves a zombie":
		if err = exec.Command("true").Start(); err == nil {
			err = syscall.Setpgid(0, 0)
		}
	}
	fmt.Println("pid", os.Getpid(), err)
	<-time.After(longest) // it is ended before
	return true
}

// pids are those that the process has printed; it waits for as many.
func (p *process) pids(n int) (pids []int) {
	p.t.Helper()
	re := regexp.MustCompile(`(?m)^pid (\d+)`)
	redistest.Eventually(p.t, longest, func() bool { return len(re.FindAllString(p.out.String(), -1)) >= n }, "too few pids")
	for _, m := range re.FindAllStringSubmatch(p.out.String(), -1) {
		pid, err := strconv.Atoi(m[1])
		require.NoError(p.t, err)
		pids = append(pids, pid)
	}
	return pids
}

const ignoresTerm = `sh -c 'trap "" TERM; echo pid $$; while :; do sleep 0.02; done'`

// What descends from the command is gone after a loss, also what has left its group and ignores SIGTERM.
func TestNothingOutlivesALoss(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	url := redisURL(server.Addr())
	cmd := command(t, url, "run", "--ttl", "1s", "--grace", "50ms", "x", "-c",
		ignoresTerm+" & timeout 600 "+ignoresTerm+" & setsid "+ignoresTerm+` & "$1" run y -c "$2" & (setsid `+ignoresTerm+" &) ; wait", "--", binary, ignoresTerm)
	p := begin(t, cmd)
	pids := p.pids(5)
	require.NoError(t, server.Client(t).Del(t.Context(), "lock:{x}").Err())
	require.Equal(t, exitLost, p.wait(), p.err.String())
	for _, pid := range pids {
		require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
	}
}

// The end of the group releases the lock, and what has left it is left alone.
func TestDaemonOutlivesItsGroup(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	cmd := command(t, redisURL(server.Addr()), "run", "x", "-c", "setsid sh -c 'echo pid $$; exec >&- 2>&-; exec sleep 600' & sleep 0.2")
	p := begin(t, cmd)
	pid := p.pids(1)[0]
	require.Zero(t, p.wait(), p.err.String())
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

func TestOrphansAreWaitedFor(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	p := begin(t, command(t, redisURL(server.Addr()), "run", "x", "-c",
		"for i in 1 2 3 4 5; do (sh -c 'echo pid $$' &); done; echo pid $$; exec sleep 600"))
	pids := p.pids(6)
	alive := 0
	for _, pid := range pids {
		if stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); strings.TrimSpace(string(stat)) == "sleep" {
			alive++
			continue
		}
		gone(t, pid)
	}
	require.LessOrEqual(t, alive, 1)
}

// kill tells of processes that it may not signal only if there are no others.
func TestPartOfAGroupThatCannotBeSignalledIsFound(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T, user *syscall.Credential, group int) int {
		cmd := exec.CommandContext(t.Context(), "sleep", "600")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group, Credential: user}
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return cmd.Process.Pid
	}
	requireFound := func(t *testing.T, g *group, other int) {
		err := g.signal(syscall.SIGCONT)
		require.Equal(t, &partError{other}, err)
		require.ErrorIs(t, err, syscall.EPERM)
	}
	t.Run("as if it were another user's", func(t *testing.T) {
		t.Parallel()
		g := &group{pid: begin(t, nil, 0), gone: make(chan struct{}), kill: syscall.Kill}
		other := begin(t, nil, g.pid)
		require.NoError(t, g.signal(syscall.SIGCONT))
		g.kill = func(pid int, s syscall.Signal) error {
			if pid == other {
				return syscall.EPERM
			}
			return syscall.Kill(pid, s)
		}
		requireFound(t, g, other)
	})
	if os.Geteuid() != 0 {
		return // nobody else may become another user
	}
	t.Run("another user's", func(t *testing.T) {
		t.Parallel()
		const nobody = 65534
		g := &group{pid: begin(t, &syscall.Credential{Uid: nobody, Gid: nobody}, 0), gone: make(chan struct{})}
		other := begin(t, nil, g.pid)
		g.kill = func(pid int, s syscall.Signal) error {
			killed := make(chan error)
			go func() {
				runtime.LockOSThread() // it ends with its goroutine, and nothing else has its user
				if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); e != 0 {
					killed <- e
					return
				}
				killed <- syscall.Kill(pid, s)
			}()
			return <-killed
		}
		require.NoError(t, g.kill(-g.pid, 0), "as the system sees it, that has gone well")
		requireFound(t, g, other)
	})
}

func wanderer(t *testing.T, server *redistest.Server, how, script string) *process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := command(t, redisURL(server.Addr()), "run", "x", "-c", script, "--", self)
	cmd.Env = append(cmd.Env, wandererEnv+"="+how)
	return begin(t, cmd)
}

func TestCommandThatLeavesItsGroupGetsSignals(t *testing.T) {
	t.Parallel()
	p := wanderer(t, redistest.Start(t), "joins", `exec "$1"`)
	p.says(" <nil>\n")
	p.signal(syscall.SIGTERM)
	require.Equal(t, 128+15, p.wait())
}

// A zombie whose parent has left the group is not the group.
func TestZombieKeepsNoLock(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	p := wanderer(t, server, "leaves a zombie", `"$1" & exec sleep 0.3`)
	p.says(" <nil>\n")
	pid := p.pids(1)[0]
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	free := func() bool { return server.Client(t).Exists(t.Context(), "lock:{x}").Val() == 0 }
	redistest.Eventually(t, 20*time.Second, free, "the lock is still held")
	require.NoError(t, syscall.Kill(pid, 0))
}

// A group that is stopped acts on a signal that asks it to end.
func TestStoppedGroupEnds(t *testing.T) {
	t.Parallel()
	p := begin(t, command(t, redisURL(redistest.Start(t).Addr()), "run", "x", "-c", "echo pid $$; exec sleep 600"))
	pid := p.pids(1)[0]
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	redistest.Eventually(t, longest, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err == nil && strings.Contains(string(stat), ") T ")
	}, "it is not stopped")
	p.signal(syscall.SIGTERM)
	require.Equal(t, 128+15, p.wait())
}
