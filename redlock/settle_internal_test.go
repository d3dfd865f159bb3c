package redlock

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// A told is what the observer and the motion were told of an op's end.
type told struct {
	answered, missed []Answer
	down             bool
	decided          bool // as Missed was called
}

// onlyOp is the op of a ballot about m with one node, and what is told of it.
func onlyOp(m Motion) (*op, *node, *told) {
	got := new(told)
	g := &Group{quorum: 1, nodes: make([]*node, 1)}
	g.config.Logger = slog.New(slog.DiscardHandler)
	g.config.Answered = func(_ int, _ string, _ time.Duration, a Answer) { got.answered = append(got.answered, a) }
	b := &Ballot{group: g, start: time.Now(), motion: m}
	if m.Footprint == nil {
		b.motion.Footprint = g.NewFootprint()
	}
	if m.Yes == nil {
		b.motion.Yes = func(reply any) (bool, error) { return reply == "yes", nil }
	}
	b.motion.Missed = func(_ int, a Answer, down bool) {
		got.missed, got.down, got.decided = append(got.missed, a), down, b.decided
	}
	n := &node{group: g, quiet: ErrSilent, lane: &lane{timeout: time.Hour}}
	b.ops = []op{{ballot: b, lane: n.lane}}
	return &b.ops[0], n, got
}

// left returns what has to be done to be sure that o's node has nothing of the hold.
func left(o *op) string {
	needed, mark := o.ballot.motion.Footprint.remove(0)
	return map[[2]bool]string{{}: "nothing", {true, false}: "remove", {true, true}: "mark"}[[2]bool{needed, mark}]
}

// Whether a command that failed may still run decides whether its hold leaves a mark behind, for however long the node is
// away. What never left does not.
func TestWhatNeverRanLeavesNothingToRemove(t *testing.T) {
	lost := errors.New("connection reset")
	for what, c := range map[string]struct {
		err  error
		left string
	}{
		"the dial failed":              {&net.OpError{Op: "dial", Err: lost}, "nothing"},
		"no connection was free":       {redis.ErrPoolTimeout, "nothing"},
		"no connection was left":       {redis.ErrPoolExhausted, "nothing"},
		"it is another node's server":  {&duplicateError{"a", "b"}, "nothing"},
		"the server refuses":           {oom{}, "nothing"},
		"the connection broke":         {&net.OpError{Op: "read", Err: lost}, "mark"},
		"the connection broke at once": {&net.OpError{Op: "write", Err: lost}, "mark"},
		"something else":               {lost, "mark"},
	} {
		o, n, _ := onlyOp(Motion{Creates: true})
		_, ok := o.call()
		require.True(t, ok)
		require.Equal(t, "mark", left(o), "it is under way")
		require.False(t, o.settle(n, nil, c.err), what)
		require.Equal(t, c.left, left(o), what)
	}
}

// A server that redirects a command has done nothing.
func TestWhatWasRedirectedIsNotUnderWay(t *testing.T) {
	o, _, _ := onlyOp(Motion{Creates: true})
	_, ok := o.call()
	require.True(t, ok)
	o.recall()
	require.Equal(t, "nothing", left(o))
}

// A reply other than yes may have left a part of the hold, a place in a queue for example.
func TestWhatARefusedHoldHasLeftIsRemoved(t *testing.T) {
	for reply, want := range map[string]string{"yes": "remove", "queued": "remove", "no": "nothing"} {
		o, n, _ := onlyOp(Motion{Creates: true, Leaves: func(reply any) bool { return reply == "queued" }})
		o.call()
		o.settle(n, reply, nil)
		require.Equal(t, want, left(o), reply)
	}
}

// A removal of which a part was done has not been made.
func TestAPartOfARemovalRemovesNothing(t *testing.T) {
	for _, halved := range []bool{true, false} {
		o, n, _ := onlyOp(Motion{Removes: true})
		o.ballot.motion.Footprint.traces[0].present = true
		o.halved = halved
		require.Equal(t, halved, o.settle(n, "yes", nil))
		require.Equal(t, halved, left(o) == "remove")
	}
}

// How a key is removed depends on what may come later: a creation that is under way takes a mark, and a removal that was
// sent before may have been made.
func TestARemovalKnowsWhatWasSentBefore(t *testing.T) {
	for _, mark := range []bool{false, true} {
		for _, again := range []bool{false, true} {
			var made []bool
			o, _, _ := onlyOp(Motion{Removes: true, Removal: func(mark, again bool) (c lua.Call) {
				made = []bool{mark, again}
				return c
			}})
			o.ballot.motion.Footprint.traces[0] = trace{present: true, unknown: mark}
			o.again = again
			_, ok := o.call()
			require.True(t, ok)
			if mark || again {
				require.Equal(t, []bool{mark, again}, made)
			} else {
				require.Empty(t, made)
			}
		}
	}
}

// What turns out to be needless as it is sent, or as it is dropped, is a yes of a node that was not asked: nothing was
// missed, and nothing is owed.
func TestANeedlessRemovalIsAYesThatNobodyGave(t *testing.T) {
	for what, end := range map[string]func(*op) bool{
		"sent":    func(o *op) bool { _, ok := o.call(); return ok },
		"dropped": func(o *op) bool { return o.unsent(ErrSilent, true) },
	} {
		o, _, got := onlyOp(Motion{Removes: true})
		require.False(t, end(o), what)
		require.Equal(t, Answer{Vote: Yes, unasked: true}, o.answer, what)
		require.Equal(t, told{}, *got, what)
	}
}

// However an op ends without an answer, the observer and the motion hear of it once, with why and whether the node is
// down; and the motion only after the vote, as it may look at the decision.
func TestWhoeverGotNoAnswerIsToldOnce(t *testing.T) {
	lost := errors.New("connection reset")
	for what, c := range map[string]struct {
		end  func(*op, *node)
		err  error
		down bool
	}{
		"refused":        {func(o *op, n *node) { o.settle(n, nil, oom{}) }, oom{}, false},
		"lost":           {func(o *op, n *node) { o.settle(n, nil, lost) }, lost, true},
		"timed out":      {func(o *op, n *node) { o.timeout(n, true) }, ErrSilent, true},
		"timed out once": {func(o *op, n *node) { o.timeout(n, false) }, ErrSilent, false},
		"unsent":         {func(o *op, _ *node) { o.unsent(lost, true) }, lost, true},
		"unsent, up":     {func(o *op, _ *node) { o.unsent(ErrClosed, false) }, ErrClosed, false},
		"late": {func(o *op, n *node) {
			o.timeout(n, true)
			o.settle(n, nil, lost)
		}, ErrSilent, true},
	} {
		for _, removes := range []bool{true, false} {
			what := fmt.Sprint(what, ", removes: ", removes)
			o, n, got := onlyOp(Motion{Removes: removes})
			o.ballot.motion.Footprint.traces[0].present = true
			c.end(o, n)
			require.Equal(t, No, o.answer.Vote, what)
			require.ErrorIs(t, o.answer.Err, c.err, what)
			require.Len(t, got.answered, 1, what)
			require.ErrorIs(t, got.answered[0].Err, c.err, what)
			require.Len(t, got.missed, 1, what)
			require.ErrorIs(t, got.missed[0].Err, c.err, what)
			require.Equal(t, c.down, got.down, what)
			require.True(t, got.decided, what)
		}
	}
	o, _, _ := onlyOp(Motion{Removes: true})
	o.ballot.motion.Footprint.traces[0].present = true
	require.True(t, o.unsent(ErrSilent, true), "it is still owed")
	o, _, _ = onlyOp(Motion{Creates: true})
	require.False(t, o.unsent(ErrSilent, true))
}

// A removal that a Cluster could not do for the moment counts only in the end, and is told of then. Once the node timeout
// is over nobody waits for that.
func TestARemovalThatIsPutOffIsToldOfInTheEnd(t *testing.T) {
	o, n, got := onlyOp(Motion{Removes: true})
	o.ballot.motion.Footprint.traces[0].present = true
	require.True(t, o.settle(n, nil, tryAgain{}))
	require.Equal(t, told{}, *got)
	o.conclude()
	o.conclude()
	require.Len(t, got.answered, 1)
	require.Len(t, got.missed, 1)
	require.ErrorIs(t, got.missed[0].Err, tryAgain{})
	require.False(t, got.down)

	o, n, got = onlyOp(Motion{Removes: true})
	o.ballot.motion.Footprint.traces[0].present = true
	o.ballot.start = time.Now().Add(-n.lane.timeout)
	require.True(t, o.settle(n, nil, tryAgain{}), "it is still owed")
	require.Equal(t, No, o.answer.Vote)
	require.Len(t, got.missed, 1)
}

// A caller that finds its node busy queues what is only to be queued. A node to which something else is to be sent
// first, or that need not be asked, has to be looked at.
func TestWhatIsToBeLookedAtIsNotPlain(t *testing.T) {
	plain := func(m Motion) bool {
		o, _, _ := onlyOp(m)
		return o.isPlain()
	}
	require.True(t, plain(Motion{}))
	require.True(t, plain(Motion{Creates: true}))
	require.False(t, plain(Motion{Flush: true}))
	require.False(t, plain(Motion{Removes: true}), "there is nothing to remove")
}

// A removal is tried again while its hold would last, or the key may still come.
func TestARemovalIsOwedWhileTheKeyMayBeThere(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		until time.Duration
		trace trace
		owed  bool
	}{
		{-1, trace{present: true}, false},
		{1, trace{present: true}, true},
		{-1, trace{flying: 1}, true},
		{-1, trace{unknown: true}, true},
		{-1, trace{present: true, late: true}, true},
	} {
		o, _, _ := onlyOp(Motion{Removes: true, Until: now.Add(c.until)})
		o.ballot.motion.Footprint.traces[0] = c.trace
		require.Equal(t, c.owed, o.owed(now), "%+v", c)
	}
}
