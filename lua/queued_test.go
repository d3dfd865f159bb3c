package lua_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// queued are the kinds of lock with a queue, by the ends of their holds' ids.
var queued = map[string]struct {
	mark  string
	ask   func(hold string, ticket lua.Ticket, round int64) lua.Call
	end   func(hold string, mark time.Duration) lua.Call
	beat  func(holds ...string) lua.Call
	yield func(hold string, ticket lua.Ticket, round int64) lua.Call
}{
	"fair":    {"", ask, leave, beat, yield},
	"writers": {"w", rwAsk, rwEnd, rwBeat, rwYield},
	"readers": {"r", rwAsk, rwEnd, rwBeat, rwYield},
	"permits": {lua.PermitMark(1, 1), permitAsk, permitEnd, permitBeat, permitYield},
}

// first is the first element of a reply, or the reply if it is none of several.
func first(reply any) any {
	if all, ok := reply.([]any); ok {
		return all[0]
	}
	return reply
}

// stand has the first of these holds have the lock, and the others wait for it in this order.
func (f *frozen) stand(ask func(string, lua.Ticket, int64) lua.Call, holds ...string) {
	f.t.Helper()
	for i, hold := range holds {
		f.run(ask(hold, proposal(0), int64(min(i, 1)))) // that of the holder cannot be given back
	}
}

// record is what is written about the grant of a hold: its round, and the ticket it waited with.
func (f *frozen) record(hold string) string {
	return f.client.HGet(bg, orders.Waiters(), hold+" round").Val()
}

// Each time that a hold which may yet be given back asks for itself, what says so lives on with it.
func TestTheRecordOfAGrantLivesOnWhileItAsks(t *testing.T) {
	t.Parallel()
	for kind, k := range queued {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			hold := "a:1" + k.mark
			for round := range int64(10) {
				require.IsType(t, int64(0), first(f.run(k.ask(hold, proposal(0), round+1))))
				f.pass(ttl * 3 / 4)
			}
			require.Equal(t, "10 0", f.record(hold))
		})
	}
}

// Whoever is granted the lock goes back to where it waited, if it has to: to the place on this node, and not to the
// one that it proposes; but to the one that a quorum has settled.
func TestAGrantKnowsThePlaceToGoBackTo(t *testing.T) {
	t.Parallel()
	for kind, k := range queued {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for name, c := range map[string]struct {
				asked, yields lua.Ticket
				granted, back int64
			}{
				"as it was here":               {asked: proposal(3), yields: proposal(0), granted: 7, back: 7},
				"one that it has proposed":     {asked: proposal(9), yields: proposal(0), granted: 9, back: 9},
				"one that it proposes by now":  {asked: proposal(3), yields: proposal(8), granted: 7, back: 8},
				"one that it has by now":       {asked: proposal(3), yields: final(5), granted: 7, back: 5},
				"one that it had, and was not": {asked: final(4), yields: proposal(0), granted: 4, back: 4},
			} {
				f := freeze(t)
				holder, hold := "b:1"+k.mark, "a:1"+k.mark
				if kind == "readers" {
					holder = writer2
				}
				f.run(k.ask(holder, proposal(0), 0))
				f.run(k.ask(hold, proposal(7), 1))
				f.run(k.end(holder, 0))
				require.IsType(t, int64(0), first(f.run(k.ask(hold, c.asked, 2))), name)
				require.Equal(t, fmt.Sprint("2 ", c.granted), f.record(hold), name)
				require.Equal(t, c.back, f.run(k.yield(hold, c.yields, 2)), name)
				require.EqualValues(t, c.back, f.client.ZScore(bg, orders.Queue(), hold).Val(), name)
			}
		})
	}
}

// A sign of life is answered by what to do: to ask for the lock, for whoever's turn it is, and for nobody else.
func TestASignOfLifeIsNoTurn(t *testing.T) {
	t.Parallel()
	for kind, k := range queued {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			holder, head, second := "b:1"+k.mark, "a:1"+k.mark, "c:1"+k.mark
			if kind == "readers" { // the two would enter together
				holder, second = writer2, "c:1w"
			}
			f.stand(k.ask, holder, head, second)
			f.listen(line.Channel + "a")
			f.heard()
			require.Equal(t, []any{int64(0), head}, f.run(k.beat(head, second)), "somebody has it")
			require.Equal(t, []any{}, f.run(k.beat(second)), "it is not the first")
			require.Empty(t, f.heard())
			f.run(k.end(holder, 0))
			f.heard()
			require.Equal(t, []any{head}, f.run(k.beat(head, second)))
			require.Empty(t, f.heard(), "it is told by the answer")
			require.Equal(t, []any{}, f.run(k.beat(second)))
			require.Equal(t, []string{line.Channel + "a " + head + " beat"}, f.heard())
		})
	}
}

// Whoever asks while one that seems to be dead stands before it is told when to ask again.
func TestWhoAsksIsToldWhenTheDeadAreDropped(t *testing.T) {
	t.Parallel()
	for kind, k := range queued {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			holder, head, second := "b:1"+k.mark, "a:1"+k.mark, "c:1"+k.mark
			if kind == "readers" {
				holder, head = writer2, "a:1w"
			}
			f.stand(k.ask, holder, head, second)
			f.run(k.end(holder, 0)) // nobody listens
			reply := f.run(k.ask(second, proposal(0), 2)).([]any)
			until := reply[0]
			if kind == "permits" {
				until = reply[5]
			}
			require.EqualValues(t, reconnect.Milliseconds(), until)
			f.pass(reconnect)
			require.IsType(t, int64(0), first(f.run(k.ask(second, proposal(0), 3))))
		})
	}
}
