package redlock

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// It is known whether a quorum had a hold as soon as so many had it, or so many did not that too few are left. A node
// that was not asked is none that had it, and nobody looks at a reply that it never gave.
func TestWhetherAQuorumHadAHoldIsKnownAsSoonAsItCanBe(t *testing.T) {
	had, without, unasked := Answer{Vote: Yes, Reply: true}, Answer{Vote: Yes, Reply: false}, Answer{Vote: Yes, unasked: true}
	for what, c := range map[string]struct {
		nodes   int
		answers []Answer
		decided bool
	}{
		"two of four are without it":            {4, []Answer{without, without, had}, true},
		"one of four is without it":             {4, []Answer{without, had, had}, false},
		"three of four had it":                  {4, []Answer{had, had, had}, true},
		"two of five had it, one was not asked": {5, []Answer{unasked, had, had, without}, false},
		"three had it, one was not asked":       {5, []Answer{unasked, had, had, had}, true},
	} {
		b := draft(c.nodes)
		b.motion.Found = func(reply any) bool {
			require.NotNil(t, reply, what)
			return reply.(bool)
		}
		for i, a := range c.answers {
			b.vote(&b.ops[i], a)
		}
		require.Equal(t, c.decided, b.decided, what)
	}
}

// A node that was silent as the ballot began, and has answered all the same, is no reason to do without another.
func TestANodeThatAnswersThoughItWasSilentStandsForNoOther(t *testing.T) {
	b := draft(3)
	b.motion.Urgent = true
	for i := range b.ops {
		b.ops[i].lane = &lane{node: &node{quiet: ErrSilent}}
	}
	b.ops[0].silent, b.silent = true, 1
	b.vote(&b.ops[0], Answer{Vote: Yes})
	b.vote(&b.ops[1], Answer{Vote: No})
	require.False(t, b.decided)
	require.Equal(t, Pending, b.ops[2].answer.Vote)
	b.vote(&b.ops[2], Answer{Vote: Yes})
	require.True(t, b.Won())
}

// The most of the votes that are alike count, in whichever order they come.
func TestAVoteThatIsLikeNoOtherTakesNothingFromThose(t *testing.T) {
	b := draft(5)
	b.motion.Alike = func(a, b any) bool { return a == b }
	for i, reply := range []string{"a", "a", "b", "c"} {
		b.vote(&b.ops[i], Answer{Vote: Yes, Reply: reply})
	}
	require.False(t, b.decided, "the last one may say the same as the first two")
	b.vote(&b.ops[4], Answer{Vote: Yes, Reply: "a"})
	require.True(t, b.Won())
}

// Each node has the time for its handshake that it needs itself.
func TestEachNodeHasItsOwnTimeForAHandshake(t *testing.T) {
	plain := redis.NewClient(&redis.Options{})
	defer plain.Close()
	cluster := redis.NewClusterClient(&redis.ClusterOptions{ReadTimeout: 7 * time.Second})
	defer cluster.Close()
	for i, clients := range [][]redis.UniversalClient{{plain, cluster}, {cluster, plain}} {
		g, err := New(clients, Config{NodeTimeout: time.Second})
		require.NoError(t, err)
		b := g.newBallot(Motion{handshakes: true})
		require.Equal(t, 5*time.Second, b.ops[i].expires.Sub(b.start))
		require.Equal(t, 12*time.Second, b.ops[1-i].expires.Sub(b.start))
		g.Close()
	}
}

// Whoever waits beside another, and whose time is over, does not wait on.
func TestWhoWaitsBesideAnotherLeavesWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := draft(1)
		go func() { _ = b.Wait(context.Background()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		start := time.Now()
		require.ErrorIs(t, b.Wait(ctx), context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(start))
		b.vote(&b.ops[0], Answer{Vote: Yes})
	})
}
