package lua_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// restored is what a node answers to restore.lua after before.
func restored(t *testing.T, token int64, before ...lua.Call) lua.Extended {
	t.Helper()
	f := freeze(t)
	f.run(before...)
	e, err := lua.ParseRestored(f.run(restore(mine, token)))
	require.NoError(t, err)
	return e
}

func TestNodeVouchesUnlessItMayHaveGrantedTheLockSince(t *testing.T) {
	t.Parallel()
	const now = 1_000_000_000_000_000 // the first token of a frozen server
	for name, c := range map[string]struct {
		want   lua.Extended
		token  int64
		before []lua.Call
	}{
		"it is there":                 {lua.ExtendDone, now, calls(take(mine, ttl))},
		"the counter is the token":    {lua.ExtendBack, now, calls(take(mine, ttl), end(mine, 0))},
		"the counter is less":         {lua.ExtendBack, now + 9, calls(take(mine, ttl), end(mine, 0))},
		"the counter is greater":      {lua.ExtendFree, now - 1, calls(take(mine, ttl), end(mine, 0))},
		"another was granted it":      {lua.ExtendFree, now, calls(take(mine, ttl), end(mine, 0), take(other, ttl), end(other, 0))},
		"another's token was fenced":  {lua.ExtendFree, now, calls(take(mine, ttl), end(mine, 0), take(other, ttl), fence(other, now+9), end(other, 0))},
		"another tried":               {lua.ExtendBack, now, calls(take(mine, ttl), end(mine, 0), take(other, ttl), undo(other))},
		"another tried, in a queue":   {lua.ExtendBack, now, calls(take(mine, ttl), end(mine, 0), ask(other, proposal(0), 1), yield(other, proposal(0), 1))},
		"another tried, and has left": {lua.ExtendBack, now, calls(take(mine, ttl), end(mine, 0), ask(other, proposal(0), 1), leaveUndone(other))},
		"another has it":              {lua.ExtendTaken, now, calls(take(other, ttl))},
		"nothing is known":            {lua.ExtendFree, now, nil},
		"it was voided":               {lua.ExtendTaken, now, calls(take(mine, ttl), end(mine, marked))},
		"it was ended by force":       {lua.ExtendForced, now, calls(take(mine, ttl), lua.Force{Keys: orders, Hold: mine, Life: marked}.Call(), end(mine, 0))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, restored(t, c.token, c.before...))
		})
	}
}

// A server that was started since may have forgotten more than it knows.
func TestNodeVouchesOnlyForTheTimeThatItHasRun(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.run(take(mine, ttl), end(mine, 0))
	call := func(uptime time.Duration) any {
		return f.run(lua.Restore{Keys: orders, Hold: mine, Count: 2, TTL: ttl, Token: 1 << 52, Retention: kept, Uptime: uptime}.Call())
	}
	require.EqualValues(t, lua.ExtendFree, call(24*time.Hour), "it may be a second younger than it says")
	require.Empty(t, f.memory.HGet(orders.Lock, mine))
	require.EqualValues(t, lua.ExtendBack, call(24*time.Hour-time.Second))
	require.Equal(t, "2", f.memory.HGet(orders.Lock, mine))
	require.Equal(t, ttl, f.memory.TTL(orders.Lock))
	require.Equal(t, kept, f.memory.TTL(orders.Token()))
}

// A token that was taken back is the next one's, and the counter lives no longer for it.
func TestTokenThatNobodyWasToldIsTakenBack(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	first := f.run(take(mine, ttl))
	f.run(end(mine, 0))
	second := f.run(take(other, ttl))
	require.Equal(t, first.(int64)+1, second)
	f.pass(time.Second)
	f.run(undo(other))
	require.Equal(t, kept-time.Second, f.memory.TTL(orders.Token()))
	require.Equal(t, second, f.run(take(third, ttl)))
	f.run(end(third, 0))
	require.Equal(t, second.(int64)+1, f.run(take("d:1", ttl)), "that one was told")
}

// So does it for those that share a lock.
func TestNodeVouchesForThoseWhoShareOnlyForTheTimeThatItHasRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		take, end lua.Call
		restore   func(uptime time.Duration) lua.Call
	}{
		"reader": {rwTry(reader), rwEnd(reader, 0), func(uptime time.Duration) lua.Call {
			return lua.RWRestore{RW: rw, Hold: reader, Count: 1, TTL: ttl, Token: 1 << 52, Retention: kept, Reads: true, Uptime: uptime}.Call()
		}},
		"permits": {permitTry(two), permitEnd(two, 0), func(uptime time.Duration) lua.Call {
			return lua.PermitRestore{PermitExtend: permitHeld(two, ttl, 1<<52, "0-1"), Uptime: uptime}.Call()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(c.take, c.end)
			require.EqualValues(t, lua.ExtendFree, f.run(c.restore(24*time.Hour)), "it may be a second younger than it says")
			require.EqualValues(t, lua.ExtendBack, f.run(c.restore(24*time.Hour-time.Second)))
		})
	}
}
