package kind_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
)

// Who stands in a queue is who stands in those of a quorum, and the place of each is what a quorum says, or will say.
func TestALineIsThatOfAQuorum(t *testing.T) {
	t.Parallel()
	w := func(hold string, ticket int64, waited time.Duration) lua.Waiting {
		return lua.Waiting{Hold: hold, Ticket: ticket, Waited: waited}
	}
	const quorum = 2
	for name, c := range map[string]struct{ first, second, third, line []lua.Waiting }{
		"a ticket of a quorum is final": {
			[]lua.Waiting{w("a", 1, 1), w("b", 2, 1)}, []lua.Waiting{w("a", 1, 1), w("b", 2, 1)}, []lua.Waiting{w("b", 2, 1), w("a", 3, 1)},
			[]lua.Waiting{w("a", 1, 1), w("b", 2, 1)},
		},
		"else the greatest will be": {
			[]lua.Waiting{w("a", 1, 1), w("b", 2, 1)}, []lua.Waiting{w("b", 2, 1), w("a", 3, 1)}, nil,
			[]lua.Waiting{w("b", 2, 1), w("a", 3, 1)},
		},
		"a minority keeps nobody's place": {
			[]lua.Waiting{w("b", 2, 1)}, []lua.Waiting{w("a", 1, 1), w("b", 2, 1)}, nil,
			[]lua.Waiting{w("b", 2, 1)},
		},
		"equal tickets are in the order of the holds": {
			[]lua.Waiting{w("b", 1, 1), w("a", 1, 1)}, []lua.Waiting{w("a", 1, 1), w("b", 1, 1)}, nil,
			[]lua.Waiting{w("a", 1, 1), w("b", 1, 1)},
		},
		"the node that has known it longest tells since when": {
			[]lua.Waiting{w("a", 1, 1)}, []lua.Waiting{w("a", 1, 3)}, []lua.Waiting{w("a", 1, 2)},
			[]lua.Waiting{w("a", 1, 3)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.line, kind.Line([][]lua.Waiting{c.first, c.second, c.third}, quorum))
		})
	}
}
