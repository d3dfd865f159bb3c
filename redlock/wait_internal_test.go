package redlock

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Callers use one another's channels. Whoever gives up at the moment of the decision leaves an empty
// one, or the next caller would believe in a decision that has not been made.
func TestAChannelThatIsUsedAgainTellsOfOneDecision(t *testing.T) {
	g := &Group{nodes: make([]*node, 1), quorum: 1}
	made := func() *Ballot {
		b := draft(1)
		b.group = g
		return b
	}
	gaveUp := 0
	for range 20000 {
		b := made()
		ctx, cancel := context.WithCancel(context.Background())
		var both sync.WaitGroup
		both.Go(cancel)
		both.Go(func() { b.vote(&b.ops[0], Answer{Vote: Yes}) })
		if b.Wait(ctx) != nil {
			gaveUp++
		}
		both.Wait()
		c := g.waiter()
		require.Empty(t, c)
		g.waiters.Put(c)
	}
	t.Log("gave up:", gaveUp)
	b := made()
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	require.ErrorIs(t, b.Wait(ctx), context.DeadlineExceeded)
}

func TestSeveralCanWaitForABallot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := draft(1)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
				defer cancel()
				assert.ErrorIs(t, b.Wait(ctx), context.DeadlineExceeded)
				assert.NoError(t, b.Wait(context.Background()))
			})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		b.vote(&b.ops[0], Answer{Vote: Yes})
		all.Wait()
		require.NoError(t, b.Wait(context.Background()), "later, too")
	})
}
