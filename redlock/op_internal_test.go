package redlock

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// While its slot moves, a server of a Cluster can do a part of a removal. All of it is owed until all of it is
// confirmed: what the part leaves of the hold would be in others' way.
func TestAPartOfARemovalOwesAllOfIt(t *testing.T) {
	g := &Group{nodes: make([]*node, 1)}
	f := g.NewFootprint()
	require.True(t, f.create(0))
	f.created(0, true, true, 1)
	f.Close()
	o := &op{narrow: true, ballot: &Ballot{motion: Motion{
		Removes: true, Footprint: f, Narrow: func() lua.Call { return lua.Call{} },
	}}}
	_, ok := o.choose()
	require.True(t, ok)
	require.True(t, o.halved)
}
