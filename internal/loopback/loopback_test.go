package loopback

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnAddressIsOnesOwnWhereThereAreMany(t *testing.T) {
	seen := map[string]bool{}
	for range 10 {
		addr, err := netip.ParseAddr(own("linux"))
		require.NoError(t, err)
		require.True(t, addr.IsLoopback())
		seen[addr.String()] = true
	}
	require.Greater(t, len(seen), 1)
	require.Equal(t, "127.0.0.1", own("darwin"))
}
