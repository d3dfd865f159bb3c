package lua_test

import (
	"fmt"
	"strings"
	"testing"

	peers "github.com/alicebob/miniredis/v2/server"
	"github.com/stretchr/testify/require"
)

// records are what is known of holds of the clients called so that were granted and may yield.
func (f *frozen) records(clients ...string) (n int) {
	for _, field := range f.client.HKeys(bg, orders.Waiters()).Val() {
		for _, client := range clients {
			if strings.HasPrefix(field, client+":") && strings.Contains(field, " ") {
				n++
			}
		}
	}
	return n
}

// A process that dies as soon as it has a lock leaves a record of its grant. While the name is in use, the key
// lives on, however many die.
func TestWhoDiesWithALockLeavesNoRecordForLong(t *testing.T) {
	t.Parallel()
	for kind, k := range queued {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			for i := range 50 {
				f.run(k.ask(fmt.Sprintf("a:%d%s", i, k.mark), proposal(0), 1))
				f.pass(ttl)
			}
			require.NotZero(t, f.records("a"))
			require.LessOrEqual(t, f.records("a"), 2)
		})
	}
}

// Those that wait give signs of life, which keep the key.
func TestWhatTheDeadLeftIsForgottenWhileOthersWait(t *testing.T) {
	t.Parallel()
	for kind, k := range queued {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			holder, waiter := "b:1"+k.mark, "c:1"+k.mark
			if kind == "readers" {
				waiter = "c:1w"
			}
			require.IsType(t, int64(0), first(f.run(k.ask(holder, proposal(3), 1))))
			f.run(k.ask(waiter, proposal(0), 1))
			for i := range 400 {
				for _, about := range []string{"round", "floor"} {
					require.NoError(t, f.client.HSet(bg, orders.Waiters(), fmt.Sprintf("a:%d%s %s", i, k.mark, about), "1 2").Err())
				}
			}
			living := f.records("b")
			require.NotZero(t, living)
			f.run(k.beat(waiter))
			require.Zero(t, f.records("a"), "all within one call, as each finds almost only these")
			require.Equal(t, living, f.records("b"))
			require.True(t, f.client.HExists(bg, orders.Waiters(), waiter).Val())
			if kind == "permits" {
				require.True(t, f.client.HExists(bg, orders.Waiters(), "last round").Val())
			}
		})
	}
}

// A key of another type at the lock's name is told to those who ask for the lock.
func TestWhatIsLeftBesideAKeyOfAnotherTypeStays(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	require.NoError(t, f.client.HSet(bg, orders.Waiters(), "a:1 round", "1 2").Err())
	require.NoError(t, f.client.Set(bg, orders.Lock, "a text", 0).Err())
	f.run(beat("c:1"))
	require.Equal(t, 1, f.records("a"))
}

// A user whose rights are from before that command is used has locks all the same.
func TestWhoMayNotDrawASampleHasLocksAllTheSame(t *testing.T) {
	t.Parallel()
	for kind, k := range queued {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			asked := 0
			f.memory.Server().SetPreHook(func(c *peers.Peer, name string, _ ...string) bool {
				if name != "HRANDFIELD" {
					return false
				}
				asked++
				c.WriteError("NOPERM this user has no permissions to run the 'hrandfield' command")
				return true
			})
			require.IsType(t, int64(0), first(f.run(k.ask("a:1"+k.mark, proposal(0), 1))))
			f.run(k.beat("a:2" + k.mark))
			require.Equal(t, 2, asked)
		})
	}
}
