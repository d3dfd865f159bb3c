package redistest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNoPortIsGivenTwice(t *testing.T) {
	seen := map[int]bool{}
	for range 500 {
		port, err := freePort()
		require.NoError(t, err)
		require.False(t, seen[port], "%d", port)
		seen[port] = true
	}
}
