package lua_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

func TestAGrantHasItsTTL(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]lua.Call{"acquire": take(mine, ttl), "fair": ask(mine, lua.Ticket{}, 1)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			require.Positive(t, f.run(call))
			require.Equal(t, mine, f.holder())
			require.Equal(t, ttl, f.memory.TTL(orders.Lock))
		})
	}
}
