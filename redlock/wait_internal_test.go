package redlock

import (
	"context"
	"errors"
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

// A caller that is told to wait no longer does not, whenever that is; a decision stands. Its channel is used again, too.
func TestWhoIsDismissedDoesNotWaitForTheDecision(t *testing.T) {
	g := &Group{nodes: make([]*node, 1), quorum: 1}
	dismissed := 0
	for i := range 20000 {
		b := draft(1)
		b.group = g
		ctx, cancel := context.Background(), context.CancelFunc(func() {})
		if i%2 == 0 {
			ctx, cancel = context.WithCancel(ctx)
		}
		var others sync.WaitGroup
		others.Go(b.Dismiss)
		others.Go(func() { b.vote(&b.ops[0], Answer{Vote: Yes}) })
		if i%4 == 0 {
			others.Go(cancel)
		}
		switch err := b.Wait(ctx); {
		case err == nil:
			require.Equal(t, Yes, b.Answer(0).Vote)
		case errors.Is(err, ErrDismissed):
			dismissed++
		default:
			require.ErrorIs(t, err, context.Canceled)
		}
		others.Wait()
		b.Dismiss()
		cancel()
		c := g.waiter()
		require.Empty(t, c)
		g.waiters.Put(c)
	}
	t.Log("dismissed:", dismissed)
	b := draft(1)
	b.group = g
	b.Dismiss()
	require.ErrorIs(t, b.Wait(context.Background()), ErrDismissed)
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
