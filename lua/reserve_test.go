package lua_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lua"
)

func TestReserveTellsWhatBecameOfTheHoldAndWhoListens(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	client := server.Client(t)
	ask := func(r lua.Reserve) lua.Reserved {
		reply, err := r.Call().Run(bg, client)
		require.NoError(t, err)
		reserved, err := lua.ParseReserved(reply)
		require.NoError(t, err)
		return reserved
	}
	r := lua.Reserve{Keys: orders, Hold: mine, Last: 1 << 52, Retention: kept}
	require.Equal(t, lua.Reserved{Gone: true}, ask(r))
	_, err := take(mine, ttl).Run(bg, client)
	require.NoError(t, err)
	require.Equal(t, lua.Reserved{}, ask(r))
	for n := 1; n <= 2; n++ {
		listener := server.Client(t).Subscribe(bg, orders.Channel())
		defer func() { require.NoError(t, listener.Close()) }()
		_, err := listener.Receive(bg)
		require.NoError(t, err)
		require.Equal(t, lua.Reserved{Listeners: n}, ask(r))
	}
	require.Equal(t, "4503599627370496", client.Get(bg, orders.Token()).Val())
	lower := r
	lower.Last = 7
	ask(lower)
	require.Equal(t, "4503599627370496", client.Get(bg, orders.Token()).Val(), "it does not fall")
	unasked := r
	unasked.Unasked = true
	require.Equal(t, lua.Reserved{Listeners: -1}, ask(unasked))
	for _, c := range []lua.Call{lua.Force{Keys: orders, Hold: mine, Life: marked}.Call(), end(mine, 0)} {
		_, err := c.Run(bg, client)
		require.NoError(t, err)
	}
	require.Equal(t, lua.Reserved{Gone: true, Forced: true}, ask(r))

	for _, reply := range []any{nil, "3", int64(-4), []any{int64(1)}} {
		_, err := lua.ParseReserved(reply)
		require.Error(t, err)
	}
}

// Who may not ask for listeners has its tokens all the same.
func TestReserveWithoutTheRightToAskForListeners(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	admin := server.Client(t)
	require.NoError(t, admin.Do(bg, "ACL", "SETUSER", "default", "-pubsub").Err())
	_, err := take(mine, ttl).Run(bg, admin)
	require.NoError(t, err)
	reply, err := reserve(mine, 1<<52).Run(bg, admin)
	require.NoError(t, err)
	reserved, err := lua.ParseReserved(reply)
	require.NoError(t, err)
	require.Equal(t, lua.Reserved{Listeners: -1}, reserved)
}
