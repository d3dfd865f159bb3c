package main

import (
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// fullPipe is a pipe that takes nothing more, as one whose reader has stopped.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = read.Close() // which a test may have done
		_ = write.Close()
	})
	size, err := unix.FcntlInt(write.Fd(), unix.F_GETPIPE_SZ, 0)
	require.NoError(t, err)
	_, err = write.Write(make([]byte, size))
	require.NoError(t, err)
	return write
}

func brokenPipe(t *testing.T) *os.File {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, read.Close())
	t.Cleanup(func() { _ = write.Close() })
	return write
}

// What reads stderr has no part in the promise.
func TestCommandIsEndedWhoeverReadsStderr(t *testing.T) {
	t.Parallel()
	for name, stderr := range map[string]func(*testing.T) *os.File{"nobody, and it is full": fullPipe, "nobody, and it is closed": brokenPipe} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			cmd := command(t, redisURL(server.Addr()), "run", "--ttl", "1s", "--grace", "50ms", "--json", "-v", "x", "-c",
				"trap '' TERM; echo pid $$; while :; do sleep 0.02; done")
			cmd.Stderr = stderr(t)
			p := begin(t, cmd)
			p.says("\n")
			pid, err := strconv.Atoi(lines(p.out.String())[0][len("pid "):])
			require.NoError(t, err)
			require.NoError(t, server.Client(t).Del(t.Context(), "lock:{x}").Err())
			require.Equal(t, exitLost, p.wait())
			require.ErrorIs(t, syscall.Kill(-pid, 0), syscall.ESRCH)
		})
	}
}
