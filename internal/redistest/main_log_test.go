package redistest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheLastLinesOfALogAreKept(t *testing.T) {
	log := new(clientLog)
	for i := range 250 {
		log.Printf(bg, "line %d", i)
	}
	require.Equal(t, "line 249", log.lines[249%len(log.lines)])
	require.NotContains(t, log.lines, "line 149")
	require.Contains(t, log.lines, "line 150")
}
