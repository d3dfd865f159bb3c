package redlock_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A server that has ended since the last command costs no command: the dead connection is noticed
// before.
func TestARestartBetweenCommandsFailsNone(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	g := met(t, server.Client(t))
	for range 3 {
		for range 100 {
			require.True(t, decide(t, g, probe()).Won())
		}
		server.Restart()
		b := decide(t, g, probe())
		require.NoError(t, b.Err())
		require.True(t, b.Won())
	}
}
