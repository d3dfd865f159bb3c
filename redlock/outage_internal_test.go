package redlock

import (
	"fmt"
	"io"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// Of a process that has no connection to spare, nobody must be told that its nodes are down.
func TestWantOfAConnectionIsNoOutage(t *testing.T) {
	for _, err := range []error{redis.ErrPoolTimeout, redis.ErrPoolExhausted} {
		require.False(t, isOutage(err))
		require.False(t, isOutage(fmt.Errorf("acquire: %w", err)))
	}
	require.True(t, isOutage(io.EOF))
	require.True(t, isOutage(ErrSilent))
}
