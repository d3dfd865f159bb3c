package redlock

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What a busy process takes to look at the clock is added to what a node may take.
func TestLagOfABusyProcessIsNotTheNodesAndIsSoonForgotten(t *testing.T) {
	now := time.Now()
	l := &lane{timeout: 200 * time.Millisecond}
	due := func(late time.Duration) time.Duration {
		l.sweepAt = now.Add(-late)
		return l.lag(now)
	}
	require.Zero(t, due(0))
	require.Zero(t, due(5*time.Millisecond), "timers are never exact")
	require.Equal(t, 60*time.Millisecond, due(60*time.Millisecond))
	require.Equal(t, 30*time.Millisecond, due(0))
	require.Equal(t, 15*time.Millisecond, due(0))
	require.Zero(t, due(0))
	require.Equal(t, 200*time.Millisecond, due(time.Hour), "a node that is silent is told from a machine that was asleep")
}

// A process that is behind has not read the answers yet that are there.
func TestANodeIsNotSilentWhileTheProcessIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const behind = 60 * time.Millisecond
		now := time.Now()
		l := &lane{timeout: 200 * time.Millisecond, window: nearAir(2)}
		l.sweeper = time.AfterFunc(time.Hour, l.sweep)
		defer l.sweeper.Stop()
		f := l.window.depart(someOps(1))
		f.ops[0].expires = now
		l.sweepAt = now.Add(-behind)
		l.sweep()
		require.False(t, f.stuck)
		require.Equal(t, now.Add(behind), l.sweepAt, "it looks again when they have had as long")
	})
}

// A removal that is dropped from the queue is pending a moment later, unless it is too late. Whoever waits until nothing is
// owed may look in between.
func TestARemovalThatIsDroppedIsOwedAllTheTime(t *testing.T) {
	for _, until := range []time.Duration{time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			l := idleLane(t)
			o := l.removal()
			o.ballot.motion.Until = time.Now().Add(until)
			l.queue = []*op{o}
			told := 0
			l.node.group.config.Answered = func(int, string, time.Duration, Answer) {
				require.NotNil(t, l.unsettled())
				told++
			}
			time.Sleep(l.timeout)
			l.sweep()
			require.Equal(t, 1, told)
			require.Equal(t, until > l.timeout, l.unsettled() != nil)
		})
	}
}
