package redlock

import (
	"testing"

	"github.com/stretchr/testify/require"
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
			f.removed(without)
		}
		require.True(t, f.Gone())
	}
}
