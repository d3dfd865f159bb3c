package lock

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/waiter"
)

// contends has a contender wait at the head of ct, that listens to nodes which never confirm that.
func contends(t *testing.T, ct *contest) *contender {
	t.Helper()
	hub := waiter.New(nil, 1, slog.New(slog.DiscardHandler))
	t.Cleanup(hub.Close)
	ct.wakes = hub.Subscribe("orders", ct.published)
	c := &contender{call: &call{engine: &engine{client: ct.client}, ctx: context.Background(), slot: new(slot)}}
	c.place.contest, c.place.call = ct, c.call
	ct.queue = append(ct.queue, &c.place)
	return c
}

// As long as others have a chance, nobody here looks, whatever the reason.
func TestTheHeadLooksForNothingWhileOthersHaveAChance(t *testing.T) {
	withTime(t, unordered, func(t *testing.T, ct *contest) {
		c := contends(t, ct)
		turn := func() bool {
			_, turn, _ := c.watch()
			return turn
		}
		require.True(t, turn())
		c.checked = true
		start := time.Now()
		ct.wakeLater(fairChance, false)
		require.False(t, turn())
		require.NoError(t, c.wait(&denial{sure: true, holder: "other:1", free: time.Millisecond}))
		require.Equal(t, fairChance, time.Since(start))
		require.True(t, turn())
	})
}

// The confirmation of a subscription may never come, and the time for it may have passed before the head waits for it.
func TestAHeadDoesNotWaitForAConfirmationThatIsOverdue(t *testing.T) {
	withTime(t, unordered, func(t *testing.T, ct *contest) {
		for _, late := range []time.Duration{-time.Millisecond, 0, time.Second} {
			c := contends(t, ct)
			ct.queue = []*place{&c.place}
			start := time.Now()
			c.late = start.Add(late)
			require.NoError(t, c.wait(nothing))
			require.LessOrEqual(t, time.Since(start), max(late, time.Nanosecond))
			require.True(t, c.checked)
		}
	})
}

// An attempt that found out nothing for certain says nothing about the others.
func TestAnAttemptThatToldNothingCountsForNobody(t *testing.T) {
	ct := newCore().contest(contestKey{lock: "lock:{orders}"})
	c := contends(t, ct)
	ct.rivals = &rivals{waited: true}
	c.overtaken(&denial{holder: "other:1"}, time.Millisecond)
	require.True(t, ct.rivals.waited, "nobody has come, as far as is known")
	c.overtaken(&denial{holder: "other:1", sure: true}, time.Millisecond)
	require.False(t, ct.rivals.waited)
}

// It looks as if somebody ended holds without a word if another one has the lock, although no message came and the hold
// before cannot have ended by itself.
func TestWhoIsToldNothingCannotHear(t *testing.T) {
	const free, ttl = 5 * time.Second, 30 * time.Second
	withTime(t, unordered, func(t *testing.T, ct *contest) {
		found := func(c *contender, holder string) { c.notice(&denial{holder: holder, sure: true, free: free, ttl: ttl}) }
		hears := func(c *contender) bool { return !time.Now().Before(c.untold) }
		c := contends(t, ct)
		found(c, "other:1")
		require.True(t, hears(c))
		time.Sleep(free - time.Second)
		found(c, "other:1")
		require.True(t, hears(c), "it has it still")
		time.Sleep(time.Second)
		found(c, "another:1")
		require.False(t, hears(c))
		c.woken = true
		found(c, "other:2")
		require.True(t, hears(c))

		c = contends(t, ct)
		found(c, "other:1")
		time.Sleep(free + time.Second)
		found(c, "another:1")
		require.True(t, hears(c), "a quorum may have been free by itself")

		c = contends(t, ct)
		c.behind = new(tenure)
		found(c, "own:1")
		c.behind = nil
		found(c, "other:1")
		require.True(t, hears(c), "the end of a hold of its own process needs no message")
	})
}

// A hold of this process that stays taken after its end is waited for like another's: only time ends it.
func TestWhatStaysTakenHasNotEnded(t *testing.T) {
	ct := newCore().contest(contestKey{lock: "lock:{orders}"})
	c := contends(t, ct)
	for holder, sure := range map[string]bool{"other:1": true, "own:1" + lua.Lingers: true, "own:1": false, "own:2": true} {
		ct.tenure = &tenure{id: "own:2"}
		d := c.place.saw(&denial{holder: holder, sure: true})
		require.Equal(t, sure, d.sure, holder)
	}
}
