package lua_test

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// Permits that nobody can have now are nobody's turn; and those that can be had are told by the answer.
func TestASignOfLifeOfWhoWaitsForPermits(t *testing.T) {
	t.Parallel()
	f := freeze(t)
	f.everyone()
	f.run(take(mine, ttl), permitAsk(one, proposal(0), 1))
	f.heard()
	require.Equal(t, []any{int64(0), one}, f.run(permitBeat(one)), "another kind has the lock")
	f.run(end(mine, 0))
	f.heard()
	require.Equal(t, []any{one}, f.run(permitBeat(one)))
	require.Empty(t, f.heard(), "nobody else waits")

	// One of another kind that comes first when nobody has the lock is told that it may ask.
	f = freeze(t)
	f.everyone()
	f.run(permitTry(all), ask(mine, proposal(0), 1), permitAsk(one3, proposal(0), 1))
	f.heard()
	require.Equal(t, []any{}, f.run(permitBeat(one3)))
	require.Empty(t, f.heard(), "there are no permits")
	f.run(permitEnd(all, 0))
	require.Equal(t, []string{message(mine, all)}, f.heard())
	require.Equal(t, []any{}, f.run(permitBeat(one3)))
	require.Equal(t, []string{message(mine, "beat")}, f.heard())
	require.Equal(t, []any{mine}, f.run(permitBeat(mine)))
	require.Empty(t, f.heard())
}

// A crowd that waited for permits and died is dropped by several calls, each of which tells whoever lives to go on.
func TestManyDeadWaitersForPermitsAreDroppedByAFewCalls(t *testing.T) {
	t.Parallel()
	const dead, most = 9000, 3500 // of one call
	f := freeze(t)
	f.everyone()
	f.run(permitTry("x:1p1/3"), permitTry("x:2p2/3"))
	places, signs := make([]redis.Z, dead), make([]any, 0, 2*dead)
	for i := range places {
		id := fmt.Sprintf("d:%dp1/3", i+10)
		places[i] = redis.Z{Score: 1, Member: id}
		signs = append(signs, id, "1 1")
	}
	require.NoError(t, f.client.ZAdd(bg, orders.Queue(), places...).Err())
	require.NoError(t, f.client.HSet(bg, orders.Waiters(), signs...).Err())
	left := func() int64 { return f.client.ZCard(bg, orders.Queue()).Val() }
	drops := func(what string, call func()) {
		before := left()
		call()
		require.Less(t, left(), before, what)
		require.GreaterOrEqual(t, left(), before-most, what)
	}
	drops("of a request", func() { f.run(permitAsk(one, proposal(0), 1)) })
	f.heard()
	drops("of a release", func() { f.run(permitEnd("x:2p2/3", 0)) })
	drops("of a sign of life", func() { require.Equal(t, []any{one}, f.run(permitBeat(one)), "who lives is to go on with it") })
	require.Empty(t, f.heard(), "nobody is passed")
	for range dead / 1000 {
		if left() == 1 {
			break
		}
		require.Empty(t, f.permits(permitTry(one2)).Slots, "it passes nobody")
		require.NotZero(t, left())
		f.run(permitBeat(one))
	}
	require.NotEmpty(t, f.permits(permitAsk(one, proposal(0), 2)).Slots)
	require.Zero(t, left())
}
