package lua_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lua"
)

// A server that is full refuses what needs memory; but who has a lock keeps it, can go on to read, and can leave it taken.
func TestAHoldIsKeptOnAServerThatIsFull(t *testing.T) {
	t.Parallel()
	fair := lua.Fair{Keys: orders, Life: time.Minute, Channel: "channel:"}
	rw, permit := lua.RW{Fair: fair}, lua.Permit{Fair: fair}
	const one, two, life = "c:1", "c:2", time.Hour
	plain := lua.Acquire{Keys: orders, Hold: one, TTL: ttl, Retention: life}.Call()
	first, second := one+lua.PermitMark(2, 5), two+lua.PermitMark(1, 5)
	permits := []lua.Call{
		lua.PermitAcquire{Permit: permit, Hold: first, TTL: ttl, Retention: life}.Call(),
		lua.PermitAcquire{Permit: permit, Hold: second, TTL: ttl, Retention: life}.Call(),
	}
	acquire := func(hold string) lua.Call {
		return lua.RWAcquire{RW: rw, Hold: hold, TTL: ttl, Retention: life}.Call()
	}
	const reader, writer = one + "r", one + "w"
	for name, c := range map[string]struct {
		before []lua.Call
		call   lua.Call
	}{
		"a hold that was re-entered":    {[]lua.Call{plain}, lua.Extend{Keys: orders, Hold: one, Count: 2, TTL: 2 * ttl, Token: 1, Retention: life}.Call()},
		"one that lingers":              {[]lua.Call{plain}, lua.Keep{Fair: lua.Fair{Keys: orders}, Hold: one, For: ttl}.Call()},
		"a reader":                      {[]lua.Call{acquire(reader), acquire(two + "r")}, lua.RWExtend{RW: rw, Hold: reader, Count: 2, TTL: 2 * ttl, Token: 1, Retention: life, Reads: true}.Call()},
		"a downgrade":                   {[]lua.Call{acquire(writer)}, lua.RWExtend{RW: rw, Hold: writer, Count: 1, TTL: 2 * ttl, Token: 1, Retention: life, Reads: true}.Call()},
		"one that lingers, marked":      {[]lua.Call{plain}, lua.Keep{Fair: lua.Fair{Keys: orders}, Hold: one, For: ttl, Mark: marked}.Call()},
		"a reader that lingers, marked": {[]lua.Call{acquire(reader)}, lua.RWKeep{RW: rw, Hold: reader, For: ttl, Mark: marked}.Call()},
		"permits that linger, marked":   {permits, lua.PermitKeep{Permit: permit, Hold: first, For: ttl, Mark: marked}.Call()},
		"a reader that lingers":         {[]lua.Call{acquire(reader)}, lua.RWKeep{RW: rw, Hold: reader, For: ttl}.Call()},
		"permits":                       {permits, lua.PermitExtend{Permit: permit, Hold: first, Count: 2, TTL: 2 * ttl, Token: 1, Retention: life, Slots: "0-1"}.Call()},
		"permits of one":                {permits[:1], lua.PermitExtend{Permit: permit, Hold: first, Count: 1, TTL: 2 * ttl, Token: 1, Retention: life, Slots: "0-1"}.Call()},
		"permits that linger":           {permits, lua.PermitKeep{Permit: permit, Hold: first, For: ttl}.Call()},
		"permits of one that linger":    {permits[:1], lua.PermitKeep{Permit: permit, Hold: first, For: ttl}.Call()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := redistest.Start(t).Client(t)
			for _, before := range c.before {
				reply, err := before.Run(t.Context(), client)
				require.NoError(t, err)
				require.NotEmpty(t, reply)
			}
			require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
			_, err := lua.Acquire{Keys: lua.Keys{Lock: "another"}, Hold: one, TTL: ttl, Retention: life}.Call().Run(t.Context(), client)
			require.ErrorContains(t, err, "OOM")
			reply, err := c.call.Run(t.Context(), client)
			require.NoError(t, err)
			require.EqualValues(t, 1, reply)
		})
	}
}
