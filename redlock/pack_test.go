package redlock

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

func TestTooFewCallsAreNoBatch(t *testing.T) {
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	parts := func(calls int, batches bool) (sizes []int) {
		all := make([]lua.Call, calls)
		for i := range all {
			all[i] = lua.Release{Keys: keys, Hold: "client:1"}.Call()
		}
		for _, p := range pack(nil, all, batches) {
			sizes = append(sizes, p.n)
		}
		return sizes
	}
	require.Equal(t, []int{1, 1, 1}, parts(3, true))
	require.Equal(t, []int{4}, parts(4, true))
	require.Equal(t, []int{1, 1, 1, 1}, parts(4, false))
	require.Equal(t, []int{lua.MaxBatch, 1}, parts(lua.MaxBatch+1, true))
	require.Equal(t, []int{lua.MaxBatch, 4}, parts(lua.MaxBatch+4, true))
}
