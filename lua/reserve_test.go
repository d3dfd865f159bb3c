package lua_test

import (
	"fmt"
	"testing"
	"time"

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

// The marks of those that are far are read until they are over, beside one of somebody who is deaf.
func TestReserveTellsWhoIsFar(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	mark := func(id string, chance time.Duration) lua.FarMark { return lua.FarMark{ID: id, Chance: chance} }
	far := func(life time.Duration, m lua.FarMark) lua.Call {
		return lua.Far{Keys: orders, Life: life, FarMark: m}.Call()
	}
	read := func() lua.Reserved {
		r, err := lua.ParseReserved(f.run(reserve(mine, 1<<52)))
		require.NoError(t, err)
		return r
	}
	f.run(take(mine, time.Hour), end(other, time.Hour)) // a mark of another kind, which lives for longer
	require.Empty(t, read())
	f.run(far(10*time.Second, mark("b:9", time.Millisecond)), far(9*time.Second, mark("c:1", 30*time.Millisecond)))
	require.Equal(t, lua.Reserved{Far: []lua.FarMark{mark("b:9", time.Millisecond), mark("c:1", 30*time.Millisecond)}}, read())
	f.run(far(10*time.Second, mark("b:10", time.Microsecond)), deaf)
	require.Equal(t, lua.Reserved{Deaf: true, Far: []lua.FarMark{mark("b:10", time.Millisecond), mark("c:1", 30*time.Millisecond)}}, read())
	f.run(end(third, time.Millisecond)) // it takes marks away that are over
	f.pass(9 * time.Second)
	require.Equal(t, lua.Reserved{Far: []lua.FarMark{mark("b:10", time.Millisecond)}}, read())
	f.pass(time.Second)
	require.Empty(t, read())
	f.run(far(time.Second, mark("d:1", time.Millisecond)))
	marks, err := f.memory.SortedSet(orders.Void())
	require.NoError(t, err)
	require.NotContains(t, marks, "far b:10 1")
	for i := range 20 {
		f.run(far(time.Second, mark(fmt.Sprintf("e%d:1", i), 0)))
	}
	require.Len(t, read().Far, 16)

	for _, reply := range []any{
		[]any{int64(1), int64(0), "far"}, []any{int64(1), int64(0), "far a:1 x"}, []any{int64(1), int64(0), int64(1)},
		[]any{int64(-1), int64(0), "far a:1 1"}, []any{int64(1), int64(2)}, []any{int64(1), int64(0), "near a:1 1"},
		[]any{int64(1), int64(0), "far a:1 -1"},
	} {
		_, err := lua.ParseReserved(reply)
		require.Error(t, err, "%v", reply)
	}
}

// A grant tells of the same others as a reserve does, and nothing else does.
func TestAGrantTellsWhoIsFar(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	read := func(call lua.Call) lua.Acquired {
		a, err := lua.ParseAcquired(f.run(call))
		require.NoError(t, err)
		return a
	}
	first := read(take(mine, ttl))
	require.Empty(t, first.Far)
	f.run(end(mine, time.Hour)) // a mark of another kind
	require.Equal(t, lua.Acquired{Token: first.Token + 1}, read(take(other, ttl)))
	f.run(far("b:9"))
	require.Equal(t, other, read(take(third, ttl)).Holder, "refused")
	f.run(end(other, 0))
	mark := lua.FarMark{ID: "b:9", Chance: time.Millisecond}
	require.Equal(t, lua.Acquired{Token: first.Token + 2, Far: []lua.FarMark{mark}}, read(take(third, ttl)))
	f.run(deaf, end(third, 0))
	require.Equal(t, lua.Acquired{Token: first.Token + 3, Deaf: true, Far: []lua.FarMark{mark}}, read(take("client:4", ttl)))
	f.run(end("client:4", 0))
	f.pass(2 * time.Second)
	require.Equal(t, lua.Acquired{Token: first.Token + 4}, read(take("client:5", ttl)), "their time is over")

	for _, reply := range []any{
		[]any{int64(7), int64(0), "far"}, []any{int64(7), int64(2)}, []any{int64(0), int64(0), "far a:1 1"}, []any{int64(7)},
		[]any{int64(7), int64(0), int64(1)},
	} {
		_, err := lua.ParseAcquired(reply)
		require.Error(t, err, "%v", reply)
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
