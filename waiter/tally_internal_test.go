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

// A message is remembered for a second, and then wakes again.
func TestAMessageIsRememberedForASecond(t *testing.T) {
	for _, after := range []time.Duration{memory - 1, memory} {
		var ts tallies
		now := time.Now()
		first, _ := ts.count("hold", "m", 0, 3, 2, now)
		first.woken = true
		again, news := ts.count("hold", "m", 0, 3, 2, now.Add(after))
		require.Equal(t, after == memory, news)
		require.Equal(t, after == memory, first != again)
	}
}

// What has woken nobody yet, as the process was behind, counts on.
func TestATallyThatHasNotWokenIsNotForgotten(t *testing.T) {
	var ts tallies
	now := time.Now()
	ts.count("hold", "m", 0, 3, 2, now)
	tally, first := ts.count("hold", "m", 1, 3, 2, now.Add(2*memory))
	require.True(t, first)
	require.Equal(t, 2, tally.count, "a quorum")
}

// A tally that is over takes nothing from the next one about the same subject.
func TestATallyIsForgottenWithoutTheNextOne(t *testing.T) {
	var ts tallies
	now := time.Now()
	old, _ := ts.count("hold", "one", 0, 3, 2, now)
	old.woken = true
	next, _ := ts.count("hold", "two", 0, 3, 2, now.Add(memory/2))
	require.NotSame(t, old, next)
	tally, first := ts.count("hold", "two", 1, 3, 2, now.Add(memory))
	require.Same(t, next, tally)
	require.True(t, first)
	require.Equal(t, 2, tally.count, "a quorum")
}

// A message that has completed another's quorum has woken with it; the next one of its node has not.
func TestWhatFollowsAMessageThatCompletedAQuorumWakes(t *testing.T) {
	var ts tallies
	now := time.Now()
	tally, _ := ts.count("hold", "one", 0, 3, 2, now)
	ts.due(now.Add(grace))
	require.True(t, tally.woken)
	ts.count("hold", "two", 1, 3, 2, now)
	now = now.Add(grace)
	_, first := ts.count("hold", "three", 1, 3, 2, now)
	require.True(t, first)
	said, _ := ts.due(now.Add(grace))
	require.Equal(t, [][]string{{"three"}}, said)
}
