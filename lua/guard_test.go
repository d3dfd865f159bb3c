package lua_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lua"
)

// The uptime that a server tells is the difference of two times that are cut down to whole
// seconds.
func TestAServerMayBeASecondYoungerThanItSays(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client(t)
	up := func() int {
		found := regexp.MustCompile(`uptime_in_seconds:(\d+)`).FindStringSubmatch(client.Info(bg, "server").Val())
		require.NotNil(t, found)
		seconds, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		return seconds
	}
	redistest.Eventually(t, time.Minute, func() bool { return up() >= 2 }, "it is two seconds old")
	var before int
	var refusal error
	redistest.Eventually(t, time.Minute, func() bool { // until a second does not end in between
		before = up()
		_, refusal = lua.Acquire{
			Keys: orders, Hold: mine, TTL: ttl, Retention: kept, Guard: time.Duration(before) * time.Second,
		}.Call().Run(bg, client)
		return up() == before
	}, "it is asked twice within a second")
	require.ErrorContains(t, refusal, "RESTARTED")
	_, err := lua.Acquire{
		Keys: orders, Hold: mine, TTL: ttl, Retention: kept, Guard: time.Duration(before-1) * time.Second,
	}.Call().Run(bg, client)
	require.NoError(t, err)
}

// By its clock, a server may be started only later.
func TestAServerWhoseClockWasSetBackSaysSo(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.uptime = -25
	_, err := lua.Acquire{Keys: orders, Hold: mine, TTL: ttl, Retention: kept, Guard: 3 * time.Second}.Call().Run(bg, f.client)
	require.EqualError(t, err, "RESTARTED or had its clock set back, by which it starts in 25 s, no grants for another 29 s")
}

// A server that has restarted too lately gives nobody anything, nor anything back, whatever it is asked for, and
// changes nothing. Once it is old enough it does.
func TestNothingIsGivenByAServerThatIsTooYoung(t *testing.T) {
	t.Parallel()
	const up = 24 * time.Hour // of a server that stands still
	for name, guarded := range map[string]func(time.Duration) lua.Call{
		"acquire": func(d time.Duration) lua.Call {
			return lua.Acquire{Keys: orders, Hold: mine, TTL: ttl, Retention: kept, Guard: d}.Call()
		},
		"repair": func(d time.Duration) lua.Call {
			return lua.Repair{Keys: orders, Hold: mine, Count: 1, TTL: ttl, Token: 7, Retention: kept, Guard: d}.Call()
		},
		"fair": func(d time.Duration) lua.Call {
			return lua.FairAcquire{Fair: line, Hold: mine, TTL: ttl, Retention: kept, Wait: true, Round: 1, Guard: d}.Call()
		},
		"writer": func(d time.Duration) lua.Call {
			return lua.RWAcquire{RW: rw, Hold: writer, TTL: ttl, Retention: kept, Guard: d}.Call()
		},
		"reader": func(d time.Duration) lua.Call {
			return lua.RWAcquire{RW: rw, Hold: reader, TTL: ttl, Retention: kept, Wait: true, Round: 1, Guard: d}.Call()
		},
		"writer's repair": func(d time.Duration) lua.Call {
			return lua.RWRepair{RW: rw, Hold: writer, Count: 1, TTL: ttl, Token: 7, Retention: kept, Guard: d}.Call()
		},
		"reader's repair": func(d time.Duration) lua.Call {
			return lua.RWRepair{RW: rw, Hold: reader, Count: 1, TTL: ttl, Token: 7, Retention: kept, Reads: true, Guard: d}.Call()
		},
		"permit": func(d time.Duration) lua.Call {
			c := permitCall("a:1p1/2", ttl)
			c.Guard = d
			return c.Call()
		},
		"permit that may be given back": func(d time.Duration) lua.Call {
			c := permitCall("a:1p1/2", ttl)
			c.Guard, c.Wait, c.Round = d, true, 1
			return c.Call()
		},
		"permit's repair": func(d time.Duration) lua.Call {
			held := permitHeld("a:1p1/2", ttl, 7, "0")
			held.Guard = d
			return lua.PermitRepair{PermitExtend: held}.Call()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(lua.Probe{}.Call()) // a script is there
			before := f.contents()
			_, err := guarded(up+time.Second).Run(bg, f.client)
			require.ErrorContains(t, err, "RESTARTED 86400 s ago")
			require.Equal(t, before, f.contents())
			require.NotNil(t, f.run(guarded(up-time.Second)))
			require.True(t, f.memory.Exists(orders.Lock))
			if strings.HasSuffix(name, "repair") {
				return // of a hold that is there says that it is there
			}
			// So does one that has the hold: from a snapshot, and others may have had the lock since.
			before = f.contents()
			_, err = guarded(up+time.Second).Run(bg, f.client)
			require.ErrorContains(t, err, "RESTARTED 86400 s ago")
			require.Equal(t, before, f.contents())
		})
	}

	// Whoever inspects the lock is told so.
	f := freeze(t)
	for _, guard := range []time.Duration{up + time.Second, up - time.Second} {
		in, err := lua.ParseInspected(f.run(lua.Inspect{Keys: orders, Guard: guard}.Call()))
		require.NoError(t, err)
		permits, err := lua.ParsePermitInspected(f.run(lua.PermitInspect{Permit: permit, Guard: guard}.Call()))
		require.NoError(t, err)
		for _, refusal := range []string{in.Refusal, permits.Refusal} {
			if guard > up {
				require.Contains(t, refusal, "RESTARTED 86400 s ago")
			} else {
				require.Empty(t, refusal)
			}
		}
	}
}

// A server that has restarted too lately may have a hold as of a request whose grant was given back since: others may
// have had the lock, and be forgotten. It confirms only a hold that was asked for no earlier than the grant that counts.
func TestAServerThatIsTooYoungConfirmsNoGrantOfAnEarlierRequest(t *testing.T) {
	t.Parallel()
	const (
		up   = 24 * time.Hour // of a server that stands still
		slot = "a:1p1/2"
	)
	held := func(round int64, d time.Duration) lua.PermitExtend {
		e := permitHeld(slot, ttl, 7, "0")
		e.Round, e.Guard = round, d
		return e
	}
	asked := map[string]lua.Call{ // in their first round
		"fair":   lua.FairAcquire{Fair: line, Hold: mine, TTL: ttl, Retention: kept, Wait: true, Round: 1}.Call(),
		"writer": lua.RWAcquire{RW: rw, Hold: writer, TTL: ttl, Retention: kept, Wait: true, Round: 1}.Call(),
		"reader": lua.RWAcquire{RW: rw, Hold: reader, TTL: ttl, Retention: kept, Wait: true, Round: 1}.Call(),
		"permit": func() lua.Call {
			c := permitCall(slot, ttl)
			c.Wait, c.Round = true, 1
			return c.Call()
		}(),
	}
	for name, of := range map[string]struct {
		kind string
		call func(round int64, d time.Duration) lua.Call
	}{
		"extend": {"fair", func(round int64, d time.Duration) lua.Call {
			return lua.Extend{Keys: orders, Hold: mine, Count: 1, TTL: ttl, Token: 7, Retention: kept, Queued: true, Round: round, Guard: d}.Call()
		}},
		"restore": {"fair", func(round int64, d time.Duration) lua.Call {
			return lua.Restore{Keys: orders, Hold: mine, Count: 1, TTL: ttl, Token: 7, Retention: kept, Queued: true, Round: round, Guard: d}.Call()
		}},
		"fence": {"fair", func(round int64, d time.Duration) lua.Call {
			return lua.Fence{Keys: orders, Hold: mine, Token: 7, Retention: kept, Round: round, Guard: d}.Call()
		}},
		"writer's extend": {"writer", func(round int64, d time.Duration) lua.Call {
			return lua.RWExtend{RW: rw, Hold: writer, Count: 1, TTL: ttl, Token: 7, Retention: kept, Round: round, Guard: d}.Call()
		}},
		"reader's extend": {"reader", func(round int64, d time.Duration) lua.Call {
			return lua.RWExtend{RW: rw, Hold: reader, Count: 1, TTL: ttl, Token: 7, Retention: kept, Reads: true, Round: round, Guard: d}.Call()
		}},
		"writer's restore": {"writer", func(round int64, d time.Duration) lua.Call {
			return lua.RWRestore{RW: rw, Hold: writer, Count: 1, TTL: ttl, Token: 7, Retention: kept, Round: round, Guard: d}.Call()
		}},
		"reader's restore": {"reader", func(round int64, d time.Duration) lua.Call {
			return lua.RWRestore{RW: rw, Hold: reader, Count: 1, TTL: ttl, Token: 7, Retention: kept, Reads: true, Round: round, Guard: d}.Call()
		}},
		"permit's extend": {"permit", func(round int64, d time.Duration) lua.Call { return held(round, d).Call() }},
		"permit's restore": {"permit", func(round int64, d time.Duration) lua.Call {
			return lua.PermitRestore{PermitExtend: held(round, d)}.Call()
		}},
		"permit's fence": {"permit", func(round int64, d time.Duration) lua.Call {
			return lua.PermitFence{Permit: permit, Hold: slot, Token: 7, Retention: kept, Slots: "0", Round: round, Guard: d}.Call()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range []struct {
				what  string
				round int64
				guard time.Duration
				lasts bool // it is known to
				sure  bool
			}{
				{"of an earlier request", 2, up + time.Second, false, false},
				{"of this request", 1, up + time.Second, false, true},
				{"that lasts", 2, up + time.Second, true, true},
				{"of an earlier request, on a server that is old enough", 2, up - time.Second, false, true},
			} {
				f := freeze(t)
				f.run(asked[of.kind])
				if c.lasts {
					f.memory.HDel(orders.Waiters(), mine+" round")
					f.memory.HDel(orders.Waiters(), writer+" round")
					f.memory.HDel(orders.Waiters(), reader+" round")
					f.memory.HDel(orders.Waiters(), slot+" round")
				}
				before := f.contents()
				reply, err := of.call(c.round, c.guard).Run(bg, f.client)
				if c.sure {
					require.NoError(t, err, c.what)
					require.NotEqual(t, int64(0), reply, c.what)
					continue
				}
				require.ErrorContains(t, err, "RESTARTED 86400 s ago", c.what)
				require.Equal(t, before, f.contents(), c.what)
			}
		})
	}

	// As a slot of a Cluster moves, what is known of a hold is out of reach: a server that is too young is not believed.
	f := freeze(t)
	f.run(asked["fair"])
	narrow := func(d time.Duration) lua.Call {
		return lua.Extend{Keys: orders, Hold: mine, Count: 1, TTL: ttl, Token: 7, Retention: kept, Queued: true, Round: 1, Guard: d, Narrow: true}.Call()
	}
	_, err := narrow(up+time.Second).Run(bg, f.client)
	require.ErrorContains(t, err, "RESTARTED 86400 s ago")
	require.Equal(t, int64(1), f.run(narrow(up-time.Second)))
}

// A server that may have forgotten that a hold was ended by force does not say that it was not.
func TestAServerThatIsTooYoungDoesNotKnowWhatWasEndedByForce(t *testing.T) {
	t.Parallel()
	const up = 24 * time.Hour // of a server that stands still
	f := freeze(t)
	asks := func(d time.Duration) lua.Call { return lua.Forced{Keys: orders, Hold: mine, Guard: d}.Call() }
	_, err := asks(up+time.Second).Run(bg, f.client)
	require.ErrorContains(t, err, "RESTARTED 86400 s ago")
	require.Equal(t, int64(0), f.run(asks(up-time.Second)))
	f.run(lua.Force{Keys: orders, Hold: mine, Life: marked}.Call())
	require.Equal(t, int64(1), f.run(asks(up+time.Second)), "what it remembers counts")
}
