package semaphore_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/semaphore"
)

// Nodes may tell different things of the same permits. What counts is what a quorum has.
func TestInspectTellsWhatAQuorumHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const guard = time.Minute
		nodes := virtual.StartN(t, 3)
		host := virtual.NewHost(nodes)
		clients := host.Clients(t)
		c, err := lock.NewClient(clients, lock.WithRestartGuard(guard))
		require.NoError(t, err)
		defer func() { require.NoError(t, c.Close()) }()
		keys, err := lua.NewKeys("lock", "limit")
		require.NoError(t, err)
		permit := lua.Permit{Fair: lua.Fair{Keys: keys}}

		run := func(node int, call lua.Call) {
			_, err := call.Run(bg, clients[node])
			require.NoError(t, err)
		}
		grant := func(node int, hold string, ttl time.Duration) {
			run(node, lua.PermitAcquire{Permit: permit, Hold: hold, TTL: ttl, Retention: time.Hour}.Call())
		}
		counter := func(node int, token int64) {
			require.NoError(t, nodes[node].Memory().Set(keys.Token(), strconv.FormatInt(token, 10)))
		}
		most, none, few := "a:1"+lua.PermitMark(1, 3), "b:1"+lua.PermitMark(1, 3), "c:1"+lua.PermitMark(1, 3)
		for node, counted := range []int64{200, 100, 100} {
			counter(node, counted)
			grant(node, most, time.Duration(node+1)*10*time.Second)
			run(node, lua.PermitNote{Permit: permit, Hold: most, Label: "web-3", Age: time.Duration(3-node) * time.Second}.Call())
		}
		for node, counted := range []int64{300, 400, 500} {
			counter(node, counted)
			grant(node, none, time.Minute)
		}
		grant(2, few, time.Minute)

		state, err := semaphore.New(c, "limit", 3).Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, []semaphore.Slot{
			{Number: 0, Holder: most, Label: "web-3", HeldFor: 3 * time.Second, TTL: 20 * time.Second, Token: 101},
			{Number: 1, Holder: none, TTL: time.Minute}, // its nodes differ about its token
		}, state.Slots)
		require.Equal(t, 2, state.InUse, "a minority holds nothing")
		require.Equal(t, int64(401), state.Token, "another node has counted further")
		for node, n := range state.Nodes {
			require.Equal(t, time.Duration(node+1)*10*time.Second, n.Slots[0].TTL)
			require.ErrorIs(t, n.Err, lock.ErrRestarted)
		}
		require.Len(t, state.Nodes[2].Slots, 3)

		time.Sleep(guard + time.Second)
		state, err = semaphore.New(c, "limit", 3).Inspect(bg)
		require.NoError(t, err)
		for _, n := range state.Nodes {
			require.NoError(t, n.Err)
		}
	})
}
