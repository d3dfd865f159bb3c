package lua_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// A client takes a message that it has heard for another node's word about the same event. So the end of
// a hold, above all, has another name than what made it another's turn before.
func TestEachThingThatAHoldDoesHasAMessageOfItsOwn(t *testing.T) {
	t.Parallel()
	kinds := map[string]struct {
		suffix string
		try    func(hold string) lua.Call
		ask    func(hold string, ticket lua.Ticket, round int64) lua.Call
		yield  func(hold string, ticket lua.Ticket, round int64) lua.Call
		settle func(hold string) lua.Call
		end    func(hold string) lua.Call
	}{
		"fair":      {"", try, ask, yield, settle, func(hold string) lua.Call { return leave(hold, 0) }},
		"writers":   {"w", rwTry, rwAsk, rwYield, rwSettle, func(hold string) lua.Call { return rwEnd(hold, 0) }},
		"semaphore": {"p1/1", permitTry, permitAsk, permitYield, permitSettle, func(hold string) lua.Call { return permitEnd(hold, 0) }},
	}
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			holder, first, second := "c:1"+k.suffix, "a:1"+k.suffix, "b:1"+k.suffix
			does := map[string][]lua.Call{
				"":         {k.end(first)},
				" settled": {k.settle(first)},
				" placed":  {k.yield(first, final(9), 1)},
				" asked":   {k.ask(first, final(1), 2), k.yield(first, final(9), 2)},
			}
			for about, calls := range does {
				f := freeze(t)
				f.listen(line.Channel + "a")
				f.listen(line.Channel + "b")
				f.run(k.try(holder), k.ask(first, proposal(0), 1), k.ask(second, proposal(0), 1), k.end(holder))
				f.heard()
				f.run(calls...)
				require.Equal(t, []string{message(second, first+about)}, f.heard())
			}
		})
	}
}
