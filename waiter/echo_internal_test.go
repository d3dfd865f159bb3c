package waiter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAMessageThatComesByTwoLinesIsNewsOnce(t *testing.T) {
	var e echoes
	near, far := new(line), new(line)
	now := time.Now()
	require.True(t, e.first(near, "channel", "one", now))
	require.False(t, e.first(far, "channel", "one", now.Add(40*time.Millisecond)))
	require.True(t, e.first(far, "channel", "two", now), "whichever hears it first")
	require.False(t, e.first(near, "channel", "two", now))
	require.True(t, e.first(far, "another", "one", now))
}

func TestAMessageThatIsPublishedAgainIsNewsAgain(t *testing.T) {
	var e echoes
	near, far := new(line), new(line)
	now := time.Now()
	require.True(t, e.first(near, "channel", "one", now))
	require.True(t, e.first(near, "channel", "one", now))
	require.False(t, e.first(far, "channel", "one", now))
	require.False(t, e.first(far, "channel", "one", now))
	require.True(t, e.first(far, "channel", "one", now), "which the other has missed")
}

func TestEchoesAreForgotten(t *testing.T) {
	var e echoes
	near, far := new(line), new(line)
	now := time.Now()
	require.True(t, e.first(near, "channel", "one", now))
	require.True(t, e.first(near, "channel", "two", now.Add(time.Second)))
	now = now.Add(echo)
	require.True(t, e.first(far, "channel", "one", now))
	require.False(t, e.first(far, "channel", "two", now))
	require.Len(t, e.known, 2)
	require.Len(t, e.order, 2)
	require.True(t, e.first(far, "channel", "three", now.Add(echo)))
	require.Len(t, e.known, 1)
}
