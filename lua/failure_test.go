package lua_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lua"
)

// An error has a code, by which it is told apart; so has one of a call in a batch, whether Redis
// refused a command or the script itself went wrong on what somebody had written there.
func TestAFailureInABatchHasTheCodeThatItHasByItself(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client(t)
	wrong, err := lua.NewKeys("lock", "wrong")
	require.NoError(t, err)
	require.NoError(t, client.Set(bg, wrong.Lock, "taken", 0).Err())
	require.NoError(t, client.ZAdd(bg, orders.Queue(), redis.Z{Score: 1, Member: mine}).Err())
	require.NoError(t, client.HSet(bg, orders.Waiters(), mine, "never").Err())
	for code, call := range map[string]lua.Call{
		"WRONGTYPE": lua.Acquire{Keys: wrong, Hold: mine, TTL: ttl, Retention: kept}.Call(),
		"ERR":       beat(mine),
	} {
		_, err := call.Run(bg, client)
		require.ErrorContains(t, err, code+" ")
		alone := err.Error()
		reply, err := lua.Batch(calls(lua.Server{Keys: orders}.Call(), call, call)).Run(bg, client)
		require.NoError(t, err)
		replies, err := lua.ParseBatch(reply, 3)
		require.NoError(t, err)
		for _, r := range replies[1:] {
			failure, ok := r.(lua.Failure)
			require.True(t, ok, "%v", r)
			require.True(t, strings.HasPrefix(failure.Error(), code+" "), "%q, and by itself %q", failure, alone)
		}
	}
}
