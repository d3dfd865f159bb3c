package redlock

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// Fewer nodes than a quorum hold nothing.
func TestAHoldIsGoneOnceAQuorumIsWithoutIt(t *testing.T) {
	for n := 1; n <= 5; n++ {
		f := (&Group{nodes: make([]*node, n)}).NewFootprint()
		require.True(t, f.Gone(), "nobody was asked for it")
		for i := range n {
			require.True(t, f.create(i))
			f.created(i, true, true, 1)
		}
		for without := range n {
			require.Equal(t, without >= n/2+1, f.Gone(), "%d of %d", without, n)
			f.removed(without, false)
		}
		require.True(t, f.Gone())
	}
}

// A command that creates the key may be heard of only after the removal that has overtaken it, or its answer. It ran before
// that, or found the mark.
func TestNothingComesAfterARemovalWithAMark(t *testing.T) {
	for what, end := range map[string]struct {
		reply any
		err   error
	}{"granted": {reply: "yes"}, "lost": {err: errors.New("connection reset")}} {
		for _, marks := range []bool{true, false} {
			creation, n, _ := onlyOp(Motion{Creates: true})
			f := creation.ballot.motion.Footprint
			creation.call()
			f.Close()
			m := Motion{Removes: true, Footprint: f}
			if marks {
				m.Removal = func(bool, bool) lua.Call { return lua.Call{} }
			}
			removal, _, _ := onlyOp(m)
			removal.call()
			removal.settle(n, "yes", nil)
			require.False(t, f.Gone(), "it is under way")
			creation.settle(n, end.reply, end.err)
			require.Equal(t, marks, f.Gone(), what)
			require.Equal(t, !marks, f.open(0), what)
		}
	}
}

// What is heard of before the removal is sent needs no mark, and what is to be removed then is.
func TestARemovalWithoutAMarkVoidsNothing(t *testing.T) {
	f := (&Group{nodes: make([]*node, 1)}).NewFootprint()
	f.create(0)
	f.created(0, true, true, 1)
	o, n, _ := onlyOp(Motion{Removes: true, Footprint: f, Removal: func(bool, bool) lua.Call { return lua.Call{} }})
	o.again = true
	o.call()
	o.settle(n, "yes", nil)
	require.Equal(t, trace{}, f.traces[0])
}
