package redistest

import (
	"net/netip"
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

func TestAProcessHasAnAddressOfItsOwnWhereThereAreMany(t *testing.T) {
	seen := map[string]bool{}
	for range 10 {
		addr, err := netip.ParseAddr(ownLoopback("linux"))
		require.NoError(t, err)
		require.True(t, addr.IsLoopback())
		seen[addr.String()] = true
	}
	require.Greater(t, len(seen), 1)
	require.Equal(t, "127.0.0.1", ownLoopback("darwin"))
}
