package main

import (
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// While the first term's command has the terminal, holdfast ignores SIGTTOU. The second term's must not inherit that, and
// has the terminal as well.
func TestSecondTermHasTheTerminalAsTheFirst(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	ttou := strconv.Itoa(1 << (int(syscall.SIGTTOU) - 1)) // in a mask of signals
	term := onTerminal(t, command(t, redisURL(server.Addr()), "elect", "--ttl", "2s", "--grace", "50ms", "x", "-c",
		`read name; ignored=$(sed -n 's/^SigIgn:[[:space:]]*/0x/p' /proc/self/status); echo "hello $name, $((ignored & $1))"; exec sleep 600`, "--", ttou))
	term.types("ann\r")
	term.shows(`hello ann, 0`)
	require.NoError(t, server.Client(t).Del(t.Context(), "lock:{x}").Err())
	term.shows(`candidate again`)
	term.types("bob\r")
	term.shows(`hello bob, 0`)
}

// Where there is no lock to renew, Ctrl-Z stops holdfast as it stops others.
func TestWaitCanBeStopped(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	require.NoError(t, server.Client(t).HSet(t.Context(), "lock:{x}", "c:7", "1").Err())
	script := command(t, redisURL(server.Addr()))
	script.Path, script.Args = "/bin/sh", []string{"sh", "-c", `set -m; "$0" wait x; echo "code $?"; kill -9 %1`, binary}
	term := onTerminal(t, script)
	redistest.Eventually(t, longest, func() bool {
		return strings.Contains(server.Client(t).Info(t.Context(), "commandstats").Val(), "cmdstat_evalsha")
	}, "it does not look at the lock")
	term.types("\x1a") // once: it also drops what the terminal has yet to show
	term.shows(`code ` + strconv.Itoa(128+int(syscall.SIGTSTP)))
}

// What a command leaves behind is waited for, and has the terminal as the command would.
func TestWhatIsLeftOfACommandHasTheTerminal(t *testing.T) {
	t.Parallel()
	url := redisURL(redistest.Start(t).Addr())
	const left = `(while kill -0 $$; do sleep 0.01; done 2>/dev/null; echo alone; read name </dev/tty; echo "hello $name") & exit 3`

	term := onTerminal(t, command(t, url, "run", "x", "-c", left))
	term.shows(`alone`)
	term.types("ann\r")
	term.shows(`hello ann`)
	require.Equal(t, 3, term.code())

	term = onTerminal(t, command(t, url, "run", "x", "-c", `read go; `+left))
	term.types("\r")
	term.shows(`alone`)
	term.types("\x1a") // nobody's prompt would come back
	term.types("bob\r")
	term.shows(`hello bob`)
	require.Equal(t, 3, term.code())
}
