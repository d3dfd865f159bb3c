package redlock

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func draft(nodes int) *Ballot {
	b := newBallot(nodes)
	b.group = &Group{nodes: make([]*node, nodes), quorum: nodes/2 + 1}
	for i := range b.ops {
		b.ops[i].ballot, b.ops[i].node = b, int32(i)
	}
	return b
}

// Who has failed tells nothing of who has the lock: a round is lost early to as many nodes as
// decide that say so.
func TestABallotIsNotLostToNodesThatFailed(t *testing.T) {
	down, no := Answer{Vote: No, Err: errors.New("it is down")}, Answer{Vote: No}
	for what, c := range map[string]struct {
		answers []Answer
		decided bool
	}{
		"two failed, one refuses":    {[]Answer{down, down, no}, false},
		"two failed, two refuse":     {[]Answer{down, down, no, no}, false},
		"three refuse":               {[]Answer{no, no, no}, true},
		"one failed, three refuse":   {[]Answer{down, no, no, no}, true},
		"three failed":               {[]Answer{down, down, down}, false},
		"all have failed or refused": {[]Answer{down, down, no, no, down}, true},
	} {
		b := draft(5)
		for i, a := range c.answers {
			b.vote(&b.ops[i], a)
		}
		require.Equal(t, c.decided, b.decided, what)
		require.False(t, b.Won(), what)
	}
}

// What counts of votes that say yes to different things is how many say the same.
func TestOnlyYesVotesThatAreAlikeCarryAMotion(t *testing.T) {
	yes := func(reply string) Answer { return Answer{Vote: Yes, Reply: reply} }
	no, down := Answer{Vote: No}, Answer{Vote: No, Err: errors.New("it is down")}
	for what, c := range map[string]struct {
		answers      []Answer
		decided, won bool
	}{
		"three alike":                 {[]Answer{yes("a"), yes("a"), yes("a")}, true, true},
		"three alike among others":    {[]Answer{yes("b"), yes("a"), yes("a"), no, yes("a")}, true, true},
		"three of two sorts":          {[]Answer{yes("a"), yes("b"), yes("a")}, false, false},
		"three of three sorts":        {[]Answer{yes("a"), yes("b"), yes("c")}, false, false},
		"two of each":                 {[]Answer{yes("a"), yes("b"), yes("a"), yes("b")}, false, false},
		"too many sorts":              {[]Answer{yes("a"), yes("b"), yes("c"), yes("d")}, true, false},
		"the last one could not help": {[]Answer{yes("a"), yes("b"), yes("c"), down}, true, false},
	} {
		b := draft(5)
		b.motion.Alike = func(a, b any) bool { return a == b }
		for i, a := range c.answers {
			b.vote(&b.ops[i], a)
		}
		require.Equal(t, c.decided, b.decided, what)
		require.Equal(t, c.won, b.Won(), what)
	}
}

// A caller must be able to tell a node that was silent from the end of its own time.
func TestDeadlineOfACommandIsNotTheCallers(t *testing.T) {
	b := draft(1)
	b.ops[0].settle(new(node), nil, context.DeadlineExceeded)
	require.ErrorIs(t, b.Answer(0).Err, ErrSilent)
	require.NotErrorIs(t, b.Answer(0).Err, context.DeadlineExceeded)
}
