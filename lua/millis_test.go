package lua_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// A key that died before the validity computed from its TTL would be no lock.
func TestTTLsAreRoundedUpwards(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		0: 0, 1: 1, time.Millisecond - 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, time.Hour: 3_600_000,
	} {
		require.Equal(t, want, lua.Millis(d), "%v", d)
	}
}

// What has less left than a unit is there all the same: who waits for its end must not take
// it for a key without a TTL, nor for one that is gone.
func TestKeyInItsLastMillisecondHasATTL(t *testing.T) {
	for pttl, want := range map[int64]time.Duration{0: time.Millisecond, 1: time.Millisecond, 7: 7 * time.Millisecond} {
		a, err := lua.ParseAcquired([]any{pttl, "client:1", "1"})
		require.NoError(t, err)
		require.Equal(t, want, a.TTL)
		a, err = lua.ParseFairAcquired([]any{pttl, "client:1", "1", int64(2), "client:2"})
		require.NoError(t, err)
		require.Equal(t, want, a.TTL)
	}
	a, err := lua.ParseAcquired([]any{int64(-1), "client:1", "1"})
	require.NoError(t, err)
	require.Negative(t, a.TTL, "it has none")
}
