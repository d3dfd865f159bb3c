package lua_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// counter is the fencing counter, and how long it lives; 0: there is none.
func (f *frozen) counter() (n int64, lives time.Duration) {
	f.t.Helper()
	if !f.memory.Exists(orders.Token()) {
		return 0, 0
	}
	text, err := f.memory.Get(orders.Token())
	require.NoError(f.t, err)
	n, err = strconv.ParseInt(text, 10, 64)
	require.NoError(f.t, err)
	return n, f.memory.TTL(orders.Token())
}

func (f *frozen) setCounter(n int64) {
	f.t.Helper()
	require.NoError(f.t, f.memory.Set(orders.Token(), strconv.FormatInt(n, 10)))
	f.memory.SetTTL(orders.Token(), time.Minute)
}

func (f *frozen) holder() string {
	fields, err := f.memory.HKeys(orders.Lock)
	if err != nil {
		return ""
	}
	require.Len(f.t, fields, 1)
	return fields[0]
}

// A node may lose its counter, or may never have had the hold's token, as the nodes' counters
// are apart. Whatever tells it of the token sees to it that the next hold gets a greater one
// (I3); and nothing has it forget a greater one.
func TestANodeThatIsToldOfATokenRemembersIt(t *testing.T) {
	t.Parallel()
	const token = 1000 // as text it is less than 999
	for name, told := range map[string]struct {
		call   lua.Call
		absent bool  // the hold is not there
		lesser int64 // what becomes of a counter of 999
	}{
		"extend":  {call: extend(mine, ttl, token), lesser: 999}, // that of a node which the quorum outvoted
		"fence":   {call: fence(mine, token), lesser: token},
		"reserve": {call: reserve(mine, token), lesser: token},
		"repair":  {call: repair(mine, 2, token), absent: true, lesser: token},
	} {
		for before, want := range map[int64]int64{0: token, 999: told.lesser, token: token, token + 1: token + 1} {
			t.Run(name+" with "+strconv.FormatInt(before, 10), func(t *testing.T) {
				t.Parallel()
				f := freeze(t)
				if !told.absent {
					f.run(take(mine, ttl))
				}
				f.memory.Del(orders.Token())
				if before > 0 {
					f.setCounter(before)
				}
				reply := f.run(told.call)
				if name != "reserve" { // which tells who listens
					require.EqualValues(t, 1, reply)
				}
				require.Equal(t, mine, f.holder())
				got, lives := f.counter()
				require.Equal(t, want, got)
				if before < want || name != "fence" && name != "reserve" {
					require.Equal(t, kept, lives, "as long as the name is used")
				}
				next := f.run(end(mine, 0), take(other, ttl))
				require.Equal(t, want+1, next)
			})
		}
	}
}

// A counter that nobody has lost counts on; one that is lost begins at the clock, in whole
// microseconds; a call that runs twice tells the same.
func TestGrantsCountAndKeepTheCounter(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]struct {
		take func(hold string) lua.Call
		end  lua.Call
	}{
		"acquire":               {func(h string) lua.Call { return take(h, ttl) }, end(mine, 0)},
		"fair_acquire":          {try, leave(mine, 0)},
		"fair_acquire, waiting": {func(h string) lua.Call { return ask(h, proposal(0), 1) }, leave(mine, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.pass(7 * time.Microsecond)
			now := f.now.UnixMicro()
			require.Equal(t, now, f.run(kind.take(mine)))
			f.pass(time.Second)
			require.Equal(t, now, f.run(kind.take(mine)), "the same hold has the same token")
			got, lives := f.counter()
			require.Equal(t, now, got)
			require.Equal(t, kept-time.Second, lives)
			f.run(kind.end)
			f.pass(time.Minute)
			require.Equal(t, now+1, f.run(kind.take(other)))
			_, lives = f.counter()
			require.Equal(t, kept, lives, "it is used")
		})
	}
}

// A refusal counts nothing and keeps nothing.
func TestARefusalLeavesTheCounterAlone(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]struct{ before, call lua.Call }{
		"acquire":                      {take(other, ttl), take(mine, ttl)},
		"acquire, voided":              {end(mine, marked), take(mine, ttl)},
		"repair":                       {take(other, ttl), repair(mine, 1, 1<<52)},
		"repair, voided":               {end(mine, marked), repair(mine, 1, 1<<52)},
		"fair_acquire":                 {try(other), try(mine)},
		"fair_acquire, to wait":        {try(other), ask(mine, proposal(0), 1)},
		"fair_acquire, voided":         {leave(mine, marked), try(mine)},
		"fair_acquire, voided, to ask": {leave(mine, marked), ask(mine, proposal(0), 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(refused.before)
			f.setCounter(7)
			holder := f.holder()
			f.run(refused.call)
			got, lives := f.counter()
			require.EqualValues(t, 7, got)
			require.Equal(t, time.Minute, lives)
			require.Equal(t, holder, f.holder())
		})
	}
}

// A repaired node has the hold as the others have it.
func TestARepairGivesTheWholeHold(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	require.EqualValues(t, 1, f.run(repair(mine, 3, 7)))
	require.Equal(t, "3", f.memory.HGet(orders.Lock, mine))
	require.Equal(t, ttl, f.memory.TTL(orders.Lock))
	require.EqualValues(t, 1, f.run(repair(mine, 3, 7)), "it is there")
	require.EqualValues(t, 0, f.run(repair(other, 1, 9)), "another has it")
}

// The mark voids one hold's id, for as long as it says, whatever other marks there are.
func TestMarksLiveAsLongAsTheySayAndNoLonger(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]struct {
		end  func(hold string, mark time.Duration) lua.Call
		take func(hold string) lua.Call
	}{
		"release":      {end, func(h string) lua.Call { return take(h, time.Millisecond) }},
		"fair_release": {leave, func(h string) lua.Call { return ask(h, proposal(0), 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(kind.end(mine, marked))
			f.pass(marked / 2)
			f.run(kind.end(other, marked))
			f.pass(marked/2 - time.Millisecond)
			require.EqualValues(t, -1, f.run(kind.take(mine)), "until the last moment")
			require.EqualValues(t, -1, f.run(kind.take(other)))
			f.pass(time.Millisecond)
			f.run(kind.end(third, marked)) // what is over goes with the next one
			marks, err := f.memory.ZMembers(orders.Void())
			require.NoError(t, err)
			require.ElementsMatch(t, []string{other, third}, marks)
			f.pass(marked)
			require.False(t, f.memory.Exists(orders.Void()), "nothing lives for ever")
		})
	}
}
