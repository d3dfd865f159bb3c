package main

import (
	"strconv"
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
