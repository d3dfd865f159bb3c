package lua_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lua"
)

func TestWhoIsRefusedReadsTheNoteOfWhoHasIt(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client(t)
	run := func(c lua.Call) any {
		reply, err := c.Run(bg, client)
		require.NoError(t, err)
		return reply
	}
	asks := map[string]func() lua.Noted{
		"acquire": func() lua.Noted {
			a, err := lua.ParseAcquired(run(lua.Acquire{Keys: orders, Hold: other, TTL: ttl, Retention: kept, Noted: true}.Call()))
			require.NoError(t, err)
			require.Equal(t, mine, a.Holder)
			return a.Noted
		},
		"fair_acquire": func() lua.Noted {
			a, err := lua.ParseFairAcquired(run(lua.FairAcquire{Fair: line, Hold: other, TTL: ttl, Retention: kept, Noted: true}.Call()))
			require.NoError(t, err)
			require.Equal(t, mine, a.Holder)
			return a.Noted
		},
		"inspect": func() lua.Noted {
			in, err := lua.ParseInspected(run(lua.Inspect{Keys: orders}.Call()))
			require.NoError(t, err)
			require.Equal(t, mine, in.Holder)
			return in.Noted
		},
	}
	require.EqualValues(t, 0, run(note(mine, "too early")))
	run(take(mine, ttl))
	each := func(check func(lua.Noted)) {
		for name, ask := range asks {
			t.Log(name)
			check(ask())
		}
	}
	each(func(n lua.Noted) { require.Zero(t, n) })

	written := lua.Note{Keys: orders, Hold: mine, Label: "web-3/812 billing", Text: "nightly export: 5 % done", Age: time.Hour, Life: ttl}
	require.EqualValues(t, 1, run(written.Call()))
	each(func(n lua.Noted) {
		require.Equal(t, written.Label, n.Label)
		require.Equal(t, written.Text, n.Text)
		require.GreaterOrEqual(t, n.Age, time.Hour)
		require.Less(t, n.Age, 2*time.Hour)
	})
	require.Positive(t, client.PTTL(bg, orders.Note()).Val())
	require.LessOrEqual(t, client.PTTL(bg, orders.Note()).Val(), ttl)

	// What is written about another hold, and what nobody has written, is not shown.
	for _, odd := range []string{other + " 1 no label\nof another", "hello", mine + " never label", ""} {
		require.NoError(t, client.Set(bg, orders.Note(), odd, 0).Err())
		each(func(n lua.Noted) { require.Zero(t, n, odd) })
	}
	require.NoError(t, client.Del(bg, orders.Note()).Err())
	require.NoError(t, client.LPush(bg, orders.Note(), "a list").Err())
	each(func(n lua.Noted) { require.Zero(t, n) })
	require.NoError(t, client.Del(bg, orders.Note()).Err())

	for name, release := range map[string]func(hold string) lua.Call{"release": endNoted, "fair_release": leaveNoted} {
		run(take(mine, ttl))
		run(note(mine, "done soon"))
		require.EqualValues(t, 0, run(release(other)), "it is not about that hold")
		require.EqualValues(t, 1, client.Exists(bg, orders.Note()).Val(), name)
		require.EqualValues(t, 1, run(release(mine)))
		require.Zero(t, client.Exists(bg, orders.Note()).Val(), name)

		run(take(mine, ttl))
		run(note(mine, "deleted by hand"))
		require.NoError(t, client.Del(bg, orders.Lock).Err())
		require.EqualValues(t, 0, run(release(mine)))
		require.Zero(t, client.Exists(bg, orders.Note()).Val(), name)
	}

	for _, reply := range []any{
		[]any{int64(1), mine, "1", "text"},
		[]any{int64(1), mine, "1", int64(3), "text"},
		[]any{int64(1), mine, "1", "text", "3"},
		[]any{int64(1), mine, "1", "text", int64(3), "more"},
	} {
		_, err := lua.ParseAcquired(reply)
		require.Error(t, err, reply)
	}
}
