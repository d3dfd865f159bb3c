package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// Whoever reads what holdfast prints must not take a part for the whole.
func TestOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	url := redisURL(redistest.Start(t).Addr())
	hold(t, url, "x")
	for _, args := range []string{"list", "status x", "top", "doctor", "unlock --force --yes y", "man", "--help", "--version", "list --json", "status x --json"} {
		p := begin(t, commandOf(t, url, "/bin/sh", "-c", "exec "+binary+" "+args+" >/dev/full"))
		require.Equal(t, exitFailed, p.wait(), args)
		require.Contains(t, p.err.String(), "write /dev/stdout: no space left on device", args)
	}
	p := begin(t, commandOf(t, "redis://127.0.0.1:1", "/bin/sh", "-c", "exec "+binary+" doctor >/dev/full"))
	require.Equal(t, exitNoQuorum, p.wait(), "what was found out counts")
	require.Contains(t, p.err.String(), "no space left on device")
}
