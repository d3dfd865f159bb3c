package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	url := redisURL(server.Addr())
	hold(t, url, "--label", "web-3", "taken")
	status(t, url, "taken", labelled)
	path := t.TempDir() // has nothing that can be executed
	require.NoError(t, os.WriteFile(filepath.Join(path, "a-text"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(path, "a-directory"), 0o700))
	scripts := t.TempDir()
	for name, first := range map[string]string{"no-interpreter": "#!/no/such/program\n", "no-program": "echo no first line\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(scripts, name), []byte(first), 0o700))
	}
	for _, c := range []struct {
		code int
		args []string
		errs string // a regular expression for what is printed; ^$: nothing
	}{
		{0, []string{"x1", "--", "true"}, `^$`},
		{3, []string{"x2", "-c", "exit 3"}, `^$`},
		{137, []string{"x3", "-c", "kill -9 $$"}, `^$`},
		{143, []string{"x4", "-c", "kill -15 $$"}, `^$`},
		{127, []string{"x5", "--", "no-such-command"}, `no-such-command.*not found`},
		{126, []string{"x6", "--", "/etc/passwd"}, `/etc/passwd.*permission denied`},
		{75, []string{"--wait", "0", "taken", "--", "true"}, `lock "taken": locked by another owner.*; held by .* \(web-3 for `},
		{75, []string{"--wait", "100ms", "taken", "--", "true"}, `lock "taken": .*after \d+ms; held by`},
		{9, []string{"--wait", "0", "-E", "9", "taken", "--", "true"}, `locked by another`},
		{0, []string{"--wait", "0", "-E", "0", "taken", "--", "false"}, `^$`},
		{69, []string{"--redis", "redis://127.0.0.1:1", "x", "--", "true"}, `no quorum.*holdfast doctor`},
		{64, []string{"--wait", "0", "--shared", "taken", "--", "true"}, `another kind of lock.*--shared and --exclusive`},
		{64, []string{"x"}, "command is missing"},
		{64, []string{"x", "true"}, `unexpected "true" before --`},
		{64, []string{"--", "true"}, "name of the lock is missing"},
		{0, []string{"--", "-x", "--", "true"}, `^$`},
		{0, []string{"-c", "true", "--", "-x"}, `^$`},
		{64, []string{"--", "-x", "true"}, "name of the lock is missing"},
		{64, []string{"--", "x", "--", "true"}, "name of the lock is missing"},
		{64, []string{"--no-such-flag", "x", "--", "true"}, "unknown flag"},
		{64, []string{"--fair", "--shared", "x", "--", "true"}, "--fair and --shared are different kinds"},
		{64, []string{"--exclusive", "--permits", "1/2", "x", "--", "true"}, "different kinds"},
		{64, []string{"--permits", "3/2", "x", "--", "true"}, "not n/k"},
		{64, []string{"--permits", "2", "x", "--", "true"}, "not n/k"},
		{64, []string{"--ttl", "30s", "--grace", "13s", "x", "--", "true"}, `--grace 13s does not fit --ttl 30s: it may be 12s at most`},
		{64, []string{"--grace", "-1s", "x", "--", "true"}, "negative"},
		{64, []string{"--ttl", "100ms", "x", "--", "true"}, "too short"},
		{64, []string{"--ttl", "24h", "x", "--", "true"}, "^holdfast: --ttl 24h0m0s is too long: it must be less than 24h0m0s"},
		{0, []string{"--ttl", "23h59m", "x12", "--", "true"}, `^$`},
		{64, []string{"--at-least", "24h", "x", "--", "true"}, "too long"},
		{64, []string{"--restart-guard", "99999h", "x", "--", "true"}, "^holdfast: --restart-guard 99999h0m0s is more than ten years\n$"},
		{64, []string{"--wait", "-1s", "x", "--", "true"}, "must be a time"},
		{64, []string{"--wait", "soon", "x", "--", "true"}, "must be a time"},
		{64, []string{"-E", "0", "x", "--", "true"}, "needs --wait"},
		{64, []string{"--wait", "0", "-E", "256", "x", "--", "true"}, "not from 0 to 255"},
		{64, []string{"--at-least", "2m", "--max-hold", "1m", "x", "--", "true"}, "longer than --max-hold"},
		{64, []string{"--note", "a\nb", "x", "--", "true"}, "cannot be printed"},
		{64, []string{"--label", "a\x1bb", "x", "--", "true"}, "cannot be printed"},
		{64, []string{"--restart-guard", "10s", "x", "--", "true"}, "--ttl 30s is longer than --restart-guard 10s"},
		{126, []string{"x7", "--", "/tmp"}, "/tmp.*is a directory"},
		{126, []string{"x5", "--", "a-text"}, `a-text.*permission denied`},
		{127, []string{"x5", "--", "a-directory"}, `a-directory.*not found`},
		{127, []string{"x10", "--", filepath.Join(scripts, "no-interpreter")}, `no-interpreter: no such file.*interpreter`},
		{126, []string{"x11", "--", filepath.Join(scripts, "no-program")}, `exec format error`},
		{0, []string{"--wait", "1ns", "x8", "--", "true"}, `^$`},
		{75, []string{"--wait", "1ns", "taken", "--", "true"}, `lock "taken": locked by another`},
		{0, []string{"--restart-guard", "1s", "--ttl", "1s", "x9", "--", "true"}, `^$`},
		{64, []string{"--prefix", "", "x", "--", "true"}, "--prefix is empty"},
		{64, []string{"--prefix", "{}", "x", "--", "true"}, `--prefix "{}": the braces in`},
		{64, []string{"--redis", "", "x", "--", "true"}, "--redis is empty"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			cmd := command(t, url, append([]string{"run"}, c.args...)...)
			cmd.Env = append(cmd.Env, "PATH="+path+":"+os.Getenv("PATH"))
			p := begin(t, cmd)
			require.Equal(t, c.code, p.wait(), p.err.String())
			require.Regexp(t, c.errs, p.err.String())
			require.Empty(t, p.out.String())
		})
	}
}

func TestCommandIsToldItsLock(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	url := redisURL(server.Addr())
	tokens := make([]int64, 2)
	for i := range tokens {
		p := begin(t, command(t, url, "run", "--ttl", "7s", "x", "-c", "env; exec sleep 600"))
		p.says("HOLDFAST_DEADLINE=")
		p.says("HOLDFAST_ID=")
		env := make(map[string]string)
		for _, line := range lines(p.out.String()) {
			name, value, _ := strings.Cut(line, "=")
			env[name] = value
		}
		require.Equal(t, "x", env["HOLDFAST_NAME"])
		held, err := server.Client(t).HKeys(t.Context(), "lock:{x}").Result()
		require.NoError(t, err)
		require.Equal(t, []string{env["HOLDFAST_ID"]}, held)
		until, err := time.Parse(time.RFC3339Nano, env["HOLDFAST_DEADLINE"])
		require.NoError(t, err)
		require.WithinRange(t, until, time.Now().Add(-longest), time.Now().Add(7*time.Second))
		require.NotContains(t, env, "HOLDFAST_SLOTS")
		require.Equal(t, server.Client(t).Get(t.Context(), "lock:{x}:token").Val(), env["HOLDFAST_TOKEN"])
		tokens[i], err = strconv.ParseInt(env["HOLDFAST_TOKEN"], 10, 64)
		require.NoError(t, err)
		p.signal(syscall.SIGTERM)
		require.Equal(t, 128+15, p.wait())
	}
	require.Greater(t, tokens[1], tokens[0])
	code, out, errs := run(t, url, "run", "--permits", "2/5", "y", "-c", "echo $HOLDFAST_SLOTS")
	require.Zero(t, code, errs)
	require.Equal(t, "0,1\n", out)
}

func TestStdinIsTheCommands(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	cmd := command(t, redisURL(server.Addr()), "run", "x", "--", "cat")
	cmd.Stdin = strings.NewReader("as it is\n")
	p := begin(t, cmd)
	require.Zero(t, p.wait())
	require.Equal(t, "as it is\n", p.out.String())
}

// The command's own flags are its own, and no shell reads its words.
func TestWordsReachTheCommandAsTheyAre(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	code, out, errs := run(t, redisURL(server.Addr()), "run", "x", "--", "printf", "%s|", "-v", "--wait", "--", "$HOME", "a b")
	require.Zero(t, code, errs)
	require.Equal(t, "-v|--wait|--|$HOME|a b|", out)
	code, out, errs = run(t, redisURL(server.Addr()), "run", "x", "-c", `printf '%s|' "$@" | tr a-z A-Z`, "--", "one", "two")
	require.Zero(t, code, errs)
	require.Equal(t, "ONE|TWO|", out)
}

func TestSignalsReachTheGroup(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	p := begin(t, command(t, redisURL(server.Addr()), "run", "x", "-c", `
		for s in USR1 WINCH; do trap "echo got $s" $s; done
		trap 'echo got TERM; exit 7' TERM
		(trap 'echo below' USR1; echo ready; while :; do sleep 0.02; done) &
		while :; do sleep 0.02; done`))
	p.says("ready")
	p.signal(syscall.SIGWINCH)
	p.says("got WINCH")
	p.signal(syscall.SIGUSR1)
	p.says("got USR1")
	p.says("below")
	p.signal(syscall.SIGTERM)
	require.Equal(t, 7, p.wait(), "the command's own code")
	for _, signal := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR2} {
		p := begin(t, command(t, redisURL(server.Addr()), "run", fmt.Sprintf("x%d", signal), "-c", "echo ready; exec sleep 600"))
		p.says("ready")
		p.signal(signal)
		require.Equal(t, 128+int(signal), p.wait())
	}
}

func TestSecondInterruptKills(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	p := begin(t, command(t, redisURL(server.Addr()), "run", "x", "-c",
		`trap 'echo interrupted' INT; echo ready; while :; do sleep 0.02; done`))
	p.says("ready")
	p.signal(syscall.SIGINT)
	p.says("interrupted")
	p.signal(syscall.SIGINT)
	require.Equal(t, 128+9, p.wait())
}

// A holdfast that was stopped by Ctrl-Z could not renew.
func TestCtrlZDoesNotStopTheRenewal(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	p := begin(t, command(t, redisURL(server.Addr()), "run", "x", "-c", "echo ready; exec sleep 600"))
	p.says("ready")
	p.signal(syscall.SIGTSTP)
	redistest.Eventually(t, longest, func() bool { return strings.Contains(p.err.String(), "not stopped") }, "no word of it")
	p.signal(syscall.SIGTERM)
	require.Equal(t, 128+15, p.wait())
}

func TestSignalEndsTheWait(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	url, rdb := redisURL(server.Addr()), server.Client(t)
	holder := begin(t, command(t, url, "run", "--fair", "x", "-c", "echo ready; exec sleep 600"))
	holder.says("ready")
	for _, signal := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1} {
		trace := filepath.Join(t.TempDir(), "trace")
		waiter := begin(t, command(t, url, "run", "--fair", "x", "--", "touch", trace))
		redistest.Eventually(t, longest, func() bool { return rdb.ZCard(t.Context(), "lock:{x}:queue").Val() == 1 }, "nobody waits")
		waiter.signal(syscall.SIGWINCH)
		waiter.signal(signal)
		require.Equal(t, 128+int(signal), waiter.wait(), waiter.err.String())
		require.NoFileExists(t, trace)
		redistest.Eventually(t, longest, func() bool { return rdb.ZCard(t.Context(), "lock:{x}:queue").Val() == 0 }, "it still waits")
	}
}

// The command's exit is not the end of its group, and the lock lasts as long as that.
func TestLockIsHeldUntilTheGroupIsGone(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	url := redisURL(server.Addr())
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	p := begin(t, command(t, url, "run", "--ttl", "2s", "x", "-c", `(read line < $1; echo $line) & echo pid $$; exit 5`, "--", fifo))
	p.says("pid ")
	pid, err := strconv.Atoi(regexp.MustCompile(`pid (\d+)`).FindStringSubmatch(p.out.String())[1])
	require.NoError(t, err)
	gone(t, pid) // and waited for
	// It is not only held, but renewed.
	rdb := server.Client(t)
	low := func() bool { return rdb.PTTL(t.Context(), "lock:{x}").Val() < 1700*time.Millisecond }
	redistest.Eventually(t, longest, low, "the TTL stands still")
	redistest.Eventually(t, longest, func() bool { return !low() }, "it is not renewed")
	code, _, errs := run(t, url, "run", "--wait", "0", "x", "--", "true")
	require.Equal(t, exitConflict, code, errs)
	require.NoError(t, os.WriteFile(fifo, []byte("grandchild\n"), 0o600))
	require.Equal(t, 5, p.wait())
	require.Equal(t, "grandchild", lines(p.out.String())[1])
	require.Zero(t, rdb.Exists(t.Context(), "lock:{x}").Val())
}

func TestAtLeastKeepsTheLockTaken(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	url := redisURL(server.Addr())
	code, _, errs := run(t, url, "run", "--at-least", "10m", "x", "--", "true")
	require.Zero(t, code, errs)
	code, _, _ = run(t, url, "run", "--wait", "0", "x", "--", "true")
	require.Equal(t, exitConflict, code)
	_, out, _ := run(t, url, "status", "x")
	require.Contains(t, out, "(gone) ")
}

func TestKindsOfLock(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	url := redisURL(server.Addr())
	try := func(args ...string) int {
		code, _, _ := run(t, url, append(append([]string{"run", "--wait", "0"}, args...), "--", "true")...)
		return code
	}
	begin(t, command(t, url, "run", "--shared", "rw", "-c", "echo ready; exec sleep 600")).says("ready")
	require.Zero(t, try("--shared", "rw"))
	require.Equal(t, exitConflict, try("--exclusive", "rw"))
	begin(t, command(t, url, "run", "--permits", "2/3", "sem", "-c", "echo ready; exec sleep 600")).says("ready")
	require.Zero(t, try("--permits", "1/3", "sem"))
	require.Equal(t, exitConflict, try("--permits", "2/3", "sem"))
	begin(t, command(t, url, "run", "--permits", "1/5", "sem", "-c", "echo ready; exec sleep 600")).says("ready")
	_, out, _ := run(t, url, "status", "sem")
	require.Contains(t, out, "(semaphore, 5 permits)", "the larger number is the limit")
}

func TestEventsAreJSON(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	code, _, errs := run(t, redisURL(server.Addr()), "run", "--json", "x", "--", "true")
	require.Zero(t, code)
	list := lines(errs)
	require.Len(t, list, 2)
	require.Regexp(t, `^\{"event":"locked","name":"x","id":"[^"]+:1","token":\d+,"deadline":"[^"]+Z"\}$`, list[0])
	require.Regexp(t, `^\{"event":"released","name":"x","id":"[^"]+:1"\}$`, list[1])
	_, _, errs = run(t, redisURL(server.Addr()), "run", "--json", "x", "--", "no-such-command")
	require.JSONEq(t, `{"event":"error","error":"exec: \"no-such-command\": executable file not found in $PATH","exitCode":127}`, errs)
}

// With --json, stderr has JSON and nothing else, what the library logs included.
func TestLogIsJSON(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	p := begin(t, command(t, redisURL(server.Addr()), "run", "--json", "-v", "--ttl", "2s", "--grace", "50ms", "x", "-c", sleeper))
	p.says("ready")
	require.NoError(t, server.Client(t).Del(t.Context(), "lock:{x}").Err())
	require.Equal(t, exitLost, p.wait())
	require.Contains(t, p.err.String(), `"msg":"lock: lease lost"`)
	for _, line := range lines(p.err.String()) {
		require.True(t, json.Valid([]byte(line)), line)
	}
}

// A server that is silent, as behind a firewall, keeps nobody from giving up.
func TestSignalEndsTheConnecting(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"run", "x", "--", "true"}, {"elect", "x", "--", "true"}, {"wait", "x"}} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
			proxy.Blackhole(true)
			p := begin(t, command(t, redisURL(proxy.Addr()), args...))
			redistest.Eventually(t, longest, func() bool { return proxy.Connections() > 0 }, "it does not connect")
			began := time.Now()
			p.signal(syscall.SIGTERM)
			require.Equal(t, 128+15, p.wait())
			require.Less(t, time.Since(began), 2*time.Second)
		})
	}
}

// A lock that is not given back is not said to be.
func TestReleaseThatFailsIsTold(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"run", "elect"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
			p := begin(t, command(t, redisURL(proxy.Addr()), verb, "-v", "--ttl", "10s", "x", "-c", "trap 'exit 0' USR1; echo ready; while :; do sleep 0.02; done"))
			p.says("ready")
			proxy.Refuse(true)
			proxy.Reset()
			p.signal(syscall.SIGUSR1)
			require.Zero(t, p.wait())
			require.Contains(t, p.err.String(), "the lock may stay until its TTL is over")
			require.NotContains(t, p.err.String(), "released\n")
		})
	}
}

func TestErrorsSteerNoTerminal(t *testing.T) {
	t.Parallel()
	var out text
	a := &app{parsed: true, stderr: newTeller(&out)}
	a.complain(errors.New("held by a\x1b[2J\u009bb\nc"))
	a.events("x").warn("\x1b]0;title\a")
	a.stderr.flush()
	require.Equal(t, "holdfast: held by a\ufffd[2J\ufffdb; c\nholdfast: lock \"x\": \ufffd]0;title\ufffd\n", out.String())
}

// The slots of a holdfast around this one are not those of this one's command.
func TestSlotsAreNotInherited(t *testing.T) {
	t.Parallel()
	cmd := command(t, redisURL(redistest.Start(t).Addr()), "run", "x", "-c", `echo "slots $HOLDFAST_SLOTS."`)
	cmd.Env = append(cmd.Env, slotsEnv+"=3,4")
	p := begin(t, cmd)
	require.Zero(t, p.wait(), p.err.String())
	require.Equal(t, "slots .\n", p.out.String())
}

// A TTL that is longer than the guard is refused, however little.
func TestTTLFitsTheRestartGuard(t *testing.T) {
	t.Parallel()
	url := redisURL(redistest.Start(t).Addr())
	for _, command := range []string{"run", "elect"} {
		code, _, errs := run(t, url, command, "--restart-guard", "2s", "--ttl", "2001ms", "x", "--", "true")
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, "--ttl 2.001s is longer than --restart-guard 2s")
	}
}
