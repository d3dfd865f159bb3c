package redlock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/redlock"
)

// A caller that sends to the only node itself, and whose context ends meanwhile, hears of that, unless it has won.
func TestWhoIsCutOffWhileItSendsItselfHearsOfThat(t *testing.T) {
	for _, wins := range []bool{true, false} {
		inBubble(t, 1, func(t *testing.T, g *redlock.Group, nodes []*virtual.Node) {
			require.True(t, decide(t, g, probe()).Won())
			synctest.Wait() // nobody else sends any more
			nodes[0].SetDelay(timeout/4, timeout/4)
			ctx, cancel := context.WithCancel(bg)
			time.AfterFunc(timeout/4, cancel)
			m := probe()
			m.Yes = func(any) (bool, error) { return wins, nil }
			b, err := g.Decide(ctx, m)
			require.Equal(t, wins, err == nil)
			if !wins {
				require.ErrorIs(t, err, context.Canceled)
			}
			require.NoError(t, b.Wait(bg))
			require.Equal(t, wins, b.Won())
		})
	}
}
