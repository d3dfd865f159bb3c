package main

import (
	"bufio"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// Nobody renews for a command whose holdfast was killed.
func TestCommandDiesWithHoldfast(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	cmd := command(t, redisURL(server.Addr()), "run", "x", "--", "/bin/sh", "-c", "echo ready; exec sleep 600")
	cmd.Stdout = write
	require.NoError(t, cmd.Start())
	require.NoError(t, write.Close())
	require.NoError(t, read.SetReadDeadline(time.Now().Add(longest)))
	out := bufio.NewReader(read)
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	require.NoError(t, cmd.Process.Signal(syscall.SIGKILL))
	_, err = io.ReadAll(out) // ends when no process has the other end any more
	require.NoError(t, err)
	require.Error(t, cmd.Wait())
}
