package redlock

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Only a node that does not answer is sent nothing more that creates a key, and only once much
// is owed to it. Its first answer settles all of that: the next silence begins with nothing.
func TestNodeThatHasAnsweredIsOwedNothing(t *testing.T) {
	l := &lane{node: new(node), window: nearAir(2)}
	land := func(end landing) { l.land(l.window.depart(someOps(1)), end) }
	l.pending.open = maxOpen
	require.False(t, l.overdrawn(), "it answers")
	land(failed)
	require.True(t, l.overdrawn())
	land(answered)
	land(failed)
	require.False(t, l.overdrawn())

	l.pending.open, l.failing, l.stuck = maxOpen-1, false, 1
	require.False(t, l.overdrawn())
	l.pending.open = maxOpen
	require.True(t, l.overdrawn(), "a flight is stuck there")
}

// It refuses what creates a key by itself, and nothing else.
func TestWhatCreatesIsNotSentToANodeThatIsOwedTooMuch(t *testing.T) {
	silent := errors.New("silent")
	l := &lane{node: &node{quiet: silent}, window: nearAir(2), timeout: time.Hour, stuck: 1}
	l.sweeper = time.AfterFunc(time.Hour, func() {})
	defer l.sweeper.Stop()
	l.pending.open = maxOpen
	for creates, want := range map[bool]Vote{true: No, false: Pending} {
		b := &Ballot{group: &Group{quorum: 1}, start: time.Now(), motion: Motion{Creates: creates}}
		b.ops = []op{{ballot: b, expires: time.Now().Add(time.Hour)}}
		l.prepare(&b.ops[0])
		require.Equal(t, want, b.ops[0].answer.Vote)
		require.Equal(t, creates, errors.Is(b.ops[0].answer.Err, silent))
	}
	require.Len(t, l.queue, 1)
}

// A removal that has not counted yet counts as a no when it will not be tried again.
func TestADeferredAnswerCountsInTheEnd(t *testing.T) {
	for name, over := range map[string]func(l *lane, o *op){
		"the lane closes": func(l *lane, o *op) { l.owe(o); l.close() },
		"it has closed":   func(l *lane, o *op) { l.close(); l.owe(o) },
		"it is too late":  func(l *lane, o *op) { o.ballot.motion.Until = time.Now(); l.owe(o) },
		"it gets too late": func(l *lane, o *op) {
			l.owe(o)
			o.ballot.motion.Until = time.Now()
			l.collect()
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := &Group{quorum: 1, nodes: make([]*node, 1)}
			l := &lane{node: &node{group: g}, stop: make(chan struct{}), timeout: time.Hour}
			l.node.lane = l
			l.pending.init(l)
			b := &Ballot{group: g, start: time.Now(), motion: Motion{
				Removes: true, Footprint: g.NewFootprint(), Until: time.Now().Add(time.Hour),
				Yes: func(any) (bool, error) { return true, nil },
			}}
			b.ops = []op{{ballot: b}}
			o := &b.ops[0]
			require.True(t, o.settle(l.node, nil, tryAgain{}), "it is still owed")
			require.Equal(t, Pending, o.answer.Vote)
			over(l, o)
			require.Equal(t, No, o.answer.Vote)
			require.ErrorContains(t, o.answer.Err, "TRYAGAIN")
		})
	}
}

type tryAgain struct{}

func (tryAgain) Error() string { return "TRYAGAIN Multiple keys request during rehashing of slot" }
func (tryAgain) RedisError()   {}

// What is owed to a node that was silent, or where nobody listened, is tried again when its time has come.
func TestNothingIsHastenedToANodeOutOfReach(t *testing.T) {
	for _, unreachable := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g := &Group{nodes: make([]*node, 1)}
			l := &lane{node: &node{group: g}, unreachable: unreachable}
			l.pending.init(l)
			b := &Ballot{group: g, motion: Motion{Removes: true, Footprint: g.NewFootprint()}}
			l.pending.ops = []*op{{ballot: b}} // which is too late, so that nothing is sent
			l.pending.due = time.Now().Add(time.Hour)
			l.hasten()
			synctest.Wait()
			l.mu.Lock()
			defer l.mu.Unlock()
			require.Equal(t, unreachable, len(l.pending.ops) == 1)
			l.pending.stop()
		})
	}
}
