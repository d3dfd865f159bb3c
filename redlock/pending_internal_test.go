package redlock

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Only a node that does not answer is sent nothing more that creates a key, and only once much
// is owed to it. Its first answer settles all of that: the next silence begins with nothing.
func TestNodeThatHasAnsweredIsOwedNothing(t *testing.T) {
	l := &lane{window: nearAir(2)}
	land := func(end landing) { l.land(l.window.depart(someOps(1)), end) }
	l.pending.open = maxOpen
	require.False(t, l.overdrawn(), "it answers")
	land(failed)
	require.True(t, l.overdrawn())
	land(answered)
	land(failed)
	require.False(t, l.overdrawn())

	l.pending.open, l.failing, l.stuck = maxOpen-1, false, 1
	require.False(t, l.overdrawn())
	l.pending.open = maxOpen
	require.True(t, l.overdrawn(), "a flight is stuck there")
}
