package lock

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// Of each client counts the mark that it has made last, whichever node has named it; a client waits for itself in no case.
func TestTheNewestMarkOfEachOtherClientCounts(t *testing.T) {
	mark := func(id string, chance time.Duration) lua.FarMark { return lua.FarMark{ID: id, Chance: chance} }
	first, second := []lua.FarMark{mark("far:9", 3), mark("own:11", 1), mark("farther:2", 5)}, []lua.FarMark{mark("far:10", 4), mark("own:12", 1)}
	want := map[string]lua.FarMark{"far": mark("far:10", 4), "farther": mark("farther:2", 5)}
	require.Equal(t, want, distants(distants(nil, first, "own"), second, "own"))
	require.Equal(t, want, distants(distants(nil, second, "own"), first, "own"))
	require.Nil(t, distants(nil, []lua.FarMark{mark("own:1", 1)}, "own"), "nobody else is far")
}
