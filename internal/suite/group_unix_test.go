//go:build unix

package main

import (
	"context"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The pipe's end is seen when the last process that has its other end is gone.
func TestWhatACommandHasStartedEndsWithIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	cmd := exec.CommandContext(ctx, "sh", "-c", "sleep 1000 & echo started; wait")
	cmd.Stdout = w
	together(cmd)
	require.NoError(t, cmd.Start())
	started := make([]byte, len("started\n"))
	_, err := io.ReadFull(r, started)
	require.NoError(t, err)
	cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // for all that may write to the pipe
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("what it has started goes on")
	}
}
