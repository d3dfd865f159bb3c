package main

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A screen is the terminal that a user sits in front of.
type screen struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File // its keyboard
	seen vt10x.Terminal
	over chan struct{}
}

func onTerminal(t *testing.T, cmd *exec.Cmd) *screen {
	t.Helper()
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 16, Cols: 100})
	require.NoError(t, err)
	term := &screen{t: t, cmd: cmd, tty: tty, seen: vt10x.New(vt10x.WithSize(100, 16)), over: make(chan struct{})}
	go func() {
		_, _ = io.Copy(term.seen, tty) // it ends with an error when the other side is closed
		_ = cmd.Wait()
		close(term.over)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be over
		<-term.over
		require.NoError(t, tty.Close())
	})
	return term
}

// text is what can be seen, without what is blank at the end of lines.
func (term *screen) text() string {
	var seen []string
	for line := range strings.Lines(term.seen.String()) {
		seen = append(seen, strings.TrimRight(line, " \n"))
	}
	return strings.TrimRight(strings.Join(seen, "\n"), "\n")
}

// shows waits until the screen is as the pattern says.
func (term *screen) shows(pattern string) {
	term.t.Helper()
	re := regexp.MustCompile(pattern)
	var last string
	ok := func() bool {
		last = term.text()
		return re.MatchString(last)
	}
	for until := time.Now().Add(longest); time.Now().Before(until); {
		if ok() {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-term.t.Context().Done():
		}
	}
	term.t.Fatalf("the screen does not match %s:\n%s", pattern, last)
}

func (term *screen) types(keys string) {
	term.t.Helper()
	_, err := term.tty.WriteString(keys)
	require.NoError(term.t, err)
}

func (term *screen) code() int {
	term.t.Helper()
	select {
	case <-term.over:
	case <-time.After(longest):
		term.t.Fatalf("it has not ended:\n%s", term.text())
	}
	return term.cmd.ProcessState.Sys().(syscall.WaitStatus).ExitStatus()
}

func TestTopFollowsTheLocks(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	addrs := redistest.Addrs(servers)
	url := redisURL(addrs[0]) + "," + redisURL(addrs[1]) + "," + redisURL(addrs[2])
	begin(t, command(t, url, "run", "--fair", "--label", "web-3", "--note", "nightly export", "report", "-c", sleeper)).says("ready")
	top := onTerminal(t, command(t, url, "top", "--interval", "100ms"))
	node := func(i int, state string) string { return regexp.QuoteMeta(addrs[i]) + ` +` + state + `\n` }
	top.shows(`^3 of 3 nodes vote, and 1 more may fail; 1 locks\n` +
		`NODE +STATE\n` + node(0, "votes") + node(1, "votes") + node(2, "votes") + `\n` +
		`NAME +STATUS +HOLDER +FOR +TTL +WAITERS +NOTE\n` +
		`report +held +web-3 +\S+s +\S+s +0 +nightly export\n` +
		`q: quit$`)

	waiter := begin(t, command(t, url, "run", "--fair", "report", "--", "true"))
	top.shows(`report +held +web-3 +\S+s +\S+s +1 +nightly export`)
	waiter.signal(syscall.SIGTERM)
	top.shows(`report +held +web-3 +\S+s +\S+s +0 +nightly export`)

	servers[1].Kill()
	top.shows(`^2 of 3 nodes vote, and none may fail; 1 locks\n` + `NODE +STATE\n` + node(0, "votes") + node(1, `silent: .*`) + node(2, "votes") +
		`the list is complete, but not all servers could be asked: `)
	top.types("q")
	require.Zero(t, top.code())
}

func TestTopWithoutATerminalIsATable(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	table := regexp.MustCompile(`^1 of 1 nodes vote, and none may fail; 0 locks\nNODE +STATE\n\S+ +votes\n\nNAME .*\n$`)
	redistest.Eventually(t, longest, func() bool { // a server that is slow for a moment is called silent
		_, out, _ := run(t, redisURL(server.Addr()), "top")
		return table.MatchString(out)
	}, "no such table")
	redistest.Eventually(t, longest, func() bool {
		_, out, _ := run(t, redisURL(server.Addr()), "top", "--json")
		var p picture
		decode(t, out, &p)
		return len(p.Nodes) == 1 && p.Nodes[0] == healthView{Address: server.Addr(), Up: true, Votes: true}
	}, "no such document")
}

func TestUnlockAsksOnATerminal(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	url := redisURL(server.Addr())
	p := hold(t, url, "--label", "web-3", "--ttl", "3s", "x")
	status(t, url, "x", labelled)
	no := onTerminal(t, command(t, url, "unlock", "--force", "x"))
	no.shows(`x: held \(mutex\)\n  held by  web-3, (.|\n)*End lock "x" by force\? Its holder may still be at work. \[y/N\]`)
	no.types("\r")
	require.Equal(t, exitFailed, no.code())
	require.Equal(t, int64(1), server.Client(t).Exists(t.Context(), "lock:{x}").Val())
	yes := onTerminal(t, command(t, url, "unlock", "--force", "x"))
	yes.shows(`\[y/N\]`)
	yes.types("y\r")
	require.Zero(t, yes.code())
	require.Equal(t, exitLost, p.wait())
}

// What the command reads from the terminal, and Ctrl-C.
func TestRunOnATerminal(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	term := onTerminal(t, command(t, redisURL(server.Addr()), "run", "x", "-c", `printf 'name? '; read name; echo "hello $name"; exit 3`))
	term.shows(`name\?`)
	term.types("ann\r")
	term.shows(`hello ann`)
	require.Equal(t, 3, term.code())

	// It is given back, here to a script.
	script := command(t, redisURL(server.Addr()))
	script.Path, script.Args = "/bin/sh", []string{"sh", "-c", `"$0" run x -c 'read name; echo "hello $name"'; read next; echo "next is $next"`, binary}
	term = onTerminal(t, script)
	term.types("ann\r")
	term.shows(`hello ann`)
	term.types("bob\r")
	term.shows(`next is bob`)
	require.Zero(t, term.code())

	// Stdin is something else.
	script = command(t, redisURL(server.Addr()))
	script.Path, script.Args = "/bin/sh", []string{"sh", "-c", `"$0" run x -c 'read name </dev/tty; echo "hello $name"' </dev/null`, binary}
	term = onTerminal(t, script)
	term.types("ann\r")
	term.shows(`hello ann`)
	require.Zero(t, term.code())

	// Whoever is in the background is stopped when it writes, but holdfast is not, and the next command is not told to ignore it.
	script = command(t, redisURL(server.Addr()))
	script.Path, script.Args = "/bin/sh", []string{"sh", "-c", `stty tostop; "$0" run x -c 'read name; kill -TSTP $PPID; sleep 0.1; echo "hello $name"'`, binary}
	term = onTerminal(t, script)
	term.types("ann\r")
	term.shows(`not stopped`)
	term.shows(`hello ann`)
	require.Zero(t, term.code())

	term = onTerminal(t, command(t, redisURL(server.Addr()), "run", "x", "-c", `trap 'echo once' INT; echo ready; while :; do sleep 0.02; done`))
	term.shows(`ready`)
	term.types("\x03")
	term.shows(`once`)
	term.types("\x03")
	require.Equal(t, 128+9, term.code())
}

// A shell's background job has a terminal that it must not read from. What it runs is stopped, and says nothing.
func TestCommandThatIsStoppedInTheBackgroundIsToldOf(t *testing.T) {
	t.Parallel()
	script := command(t, redisURL(redistest.Start(t).Addr()))
	script.Path, script.Args = "/bin/sh", []string{
		"sh", "-c", `set -m; "$0" run x -c 'read name </dev/tty' & echo "pid $!"; read go; kill $!; wait $!; echo "code $?"`, binary,
	}
	term := onTerminal(t, script)
	term.shows(`pid \d+`)
	pid, err := strconv.Atoi(regexp.MustCompile(`pid (\d+)`).FindStringSubmatch(term.text())[1])
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // no hang-up reaches it if the test has failed
	term.shows(`lock "x": the command is stopped \(SIGTTIN\): it wants the terminal`)
	term.types("\r")
	term.shows(`code 143`)
}
