package redlock

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// While its slot moves, a server of a Cluster can do a part of a removal. What the hold has absorbed is none of it, and
// is owed until the whole removal is confirmed.
func TestAPartOfARemovalOwesWhatTheHoldHasAbsorbed(t *testing.T) {
	g := &Group{nodes: make([]*node, 1)}
	held := func() *Footprint {
		f := g.NewFootprint()
		require.True(t, f.create(0))
		f.created(0, true, true, 1)
		f.Close()
		return f
	}
	for _, absorbs := range []bool{false, true} {
		f := held()
		if absorbs {
			require.True(t, f.Absorb(held()))
		}
		o := &op{narrow: true, ballot: &Ballot{motion: Motion{
			Removes: true, Footprint: f, Narrow: func() lua.Call { return lua.Call{} },
		}}}
		_, ok := o.choose()
		require.True(t, ok)
		require.Equal(t, absorbs, o.halved)
	}
}
