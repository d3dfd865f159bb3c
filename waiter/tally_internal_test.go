package waiter

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each hold is a subject of its own: what is over takes no memory.
func TestTalliesThatAreOverAreForgotten(t *testing.T) {
	var ts tallies
	now := time.Now()
	for i := range 1000 {
		tally, _ := ts.count(strconv.Itoa(i), "m", 0, 3, 2, now)
		ts.count(strconv.Itoa(i), "m", 1, 3, 2, now)
		tally.woken = true
		now = now.Add(10 * time.Millisecond)
	}
	ts.count("last", "m", 0, 3, 2, now.Add(2*memory))
	require.Len(t, ts.known, 1)
	require.Len(t, ts.order, 1)
}
