package readwrite_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// queued is how long the queue is on each node.
func (b *bubble) queued(t *testing.T) []int {
	t.Helper()
	var all []int
	for _, n := range b.nodes {
		if !n.Memory().Exists(b.keys.Queue()) {
			all = append(all, 0)
			continue
		}
		ids, err := n.Memory().ZMembers(b.keys.Queue())
		require.NoError(t, err)
		all = append(all, len(ids))
	}
	return all
}

func (b *bubble) requireQueued(t *testing.T, n int) {
	t.Helper()
	for _, got := range b.queued(t) {
		require.Equal(t, n, got)
	}
}

// Those of one process who wait to read share a place, and a grant is for all of them.
func TestThoseOfAProcessWhoWaitToReadShareAPlace(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		held := must(t, other.Lock)
		var waits []*wait
		for range 20 {
			waits = append(waits, start(bg, m.RLock))
		}
		b.requireQueued(t, 1)
		released := time.Now()
		unlock(t, held)
		ids := make(map[string]bool)
		for _, w := range waits {
			require.Zero(t, w.granted(t, released))
			ids[w.lease.ID()] = true
		}
		require.Len(t, ids, len(waits))
		time.Sleep(time.Second) // a node that was late to hear of the release has the hold a moment later
		for _, n := range b.nodes {
			holds, err := n.Memory().ZMembers(b.keys.Readers())
			require.NoError(t, err)
			require.Len(t, holds, 1, "they share what their process has")
		}
		for _, w := range waits {
			unlock(t, w.lease)
		}
		unlock(t, must(t, other.Lock))
	})
}

// A process knows of its own writer before any node does.
func TestAReaderJoinsNobodyWhileOneOfItsOwnProcessWaitsToWrite(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m := b.mutex(t)
		reads := must(t, m.RLock)
		joins := start(bg, m.RLock)
		require.True(t, joins.over())
		b.delay(time.Second / 50)
		writer := start(bg, m.Lock)
		later := start(bg, m.RLock)
		require.False(t, later.over(), "the writer is before it")
		unlock(t, reads, joins.lease)
		writer.granted(t, time.Now())
		require.False(t, later.over())
		unlock(t, writer.lease)
		later.granted(t, time.Now())
		unlock(t, later.lease)
	})
}

// Who comes after somebody who waits to write has a place of its own, behind that one: whether that is of the same
// process or of another, and even if the message of the latter is lost, if a moment has passed.
func TestWhoComesAfterOneWhoWaitsToWriteFollowsNobodyBeforeIt(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		held := must(t, other.Lock)
		first, second := start(bg, m.RLock), start(bg, m.RLock)
		w1 := start(bg, other.Lock)
		third := start(bg, m.RLock)
		w2 := start(bg, m.Lock)
		fourth := start(bg, m.RLock)
		b.requireQueued(t, 5)
		b.mute(true)
		w3 := start(bg, other.Lock)
		time.Sleep(60 * time.Millisecond)
		fifth := start(bg, m.RLock)
		b.mute(false)
		b.requireQueued(t, 7)
		order := [][]*wait{{first, second}, {w1}, {third}, {w2}, {fourth}, {w3}, {fifth}}
		leases := []*lock.Lease{held}
		for i, together := range order {
			unlock(t, leases...)
			leases = nil
			for _, w := range together {
				w.granted(t, time.Now())
				leases = append(leases, w.lease)
			}
			for _, later := range order[i+1:] {
				for _, w := range later {
					require.False(t, w.over())
				}
			}
		}
		unlock(t, leases...)
	})
}

// One that leaves takes nobody's place with it: those who followed it are not behind who came after them.
func TestWhoLeadsAndGivesUpLeavesItsPlaceToTheNext(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		held := must(t, other.Lock)
		var cancels []context.CancelFunc
		var waits []*wait
		for range 4 {
			ctx, cancel := context.WithCancel(bg)
			t.Cleanup(cancel)
			cancels, waits = append(cancels, cancel), append(waits, start(ctx, m.RLock))
		}
		writer := start(bg, other.Lock)
		b.requireQueued(t, 2)
		for i := range 3 {
			cancels[i]()
			<-waits[i].done
			require.ErrorIs(t, waits[i].err, context.Canceled)
			time.Sleep(time.Second)
			b.requireQueued(t, 2)
		}
		time.Sleep(10 * time.Second) // it is alive as ever
		b.requireQueued(t, 2)
		released := time.Now()
		unlock(t, held)
		synctest.Wait()
		require.False(t, writer.over(), "it came later")
		require.Zero(t, waits[3].granted(t, released))
		unlock(t, waits[3].lease)
		writer.granted(t, released)
		unlock(t, writer.lease)
		time.Sleep(time.Second) // so may it be late to hear that somebody waits no more
		b.requireQueued(t, 0)
	})
}

func TestTheLastWhoGivesUpLeavesTheQueue(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		held := must(t, other.Lock)
		ctx, cancel := context.WithCancel(bg)
		waits := []*wait{start(ctx, m.RLock), start(ctx, m.RLock), start(ctx, m.RLock)}
		b.requireQueued(t, 1)
		cancel()
		for _, w := range waits {
			<-w.done
			require.ErrorIs(t, w.err, context.Canceled)
		}
		time.Sleep(time.Second)
		b.requireQueued(t, 0)
		unlock(t, held)
		unlock(t, must(t, m.Lock))
	})
}

// Those with other settings wait for themselves, as no tenure could be for both.
func TestThoseWithOtherSettingsFollowNobody(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		_, m := b.host(t)
		other := b.mutex(t)
		fixed := b.mutex(t, lock.WithoutWatchdog())
		held := must(t, other.Lock)
		waits := []*wait{start(bg, m.RLock), start(bg, fixed.RLock), start(bg, fixed.RLock), start(bg, m.RLock)}
		b.requireQueued(t, 3)
		unlock(t, held)
		for _, w := range waits {
			w.granted(t, time.Now())
			unlock(t, w.lease)
		}
	})
}

// The grant itself may be what tells of one who waits to write: nobody joins then.
func TestAGrantTellsWhoWaitsToWrite(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		held := must(t, other.Lock)
		first := start(bg, m.RLock)
		b.mute(true) // of what is told, only the wake-up of the first one is to come
		writer := start(bg, other.Lock)
		b.mute(false)
		unlock(t, held)
		first.granted(t, time.Now())
		later := start(bg, m.RLock)
		require.False(t, later.over())
		unlock(t, first.lease)
		writer.granted(t, time.Now())
		require.False(t, later.over())
		unlock(t, writer.lease)
		later.granted(t, time.Now())
		unlock(t, later.lease)
	})
}

// One who follows is not left asleep when the leader is granted what it cannot share.
func TestThoseWhoWaitForWhoLeavesWithTheLockAskThemselves(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		held := must(t, other.Lock)
		scope := lock.WithOwner(bg)
		// Two calls of one owner: one of them is granted the lock, and the other re-enters.
		waits := []*wait{start(bg, m.RLock), start(scope, m.RLock), start(scope, m.RLock), start(bg, m.RLock)}
		unlock(t, held)
		for _, w := range waits {
			w.granted(t, time.Now())
		}
		for _, w := range waits {
			unlock(t, w.lease)
		}
		unlock(t, must(t, other.Lock))
	})
}

// Who leads may give up before it has asked for a place.
func TestThoseWhoFollowOneThatHasNoPlaceYetAskThemselves(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m := b.mutex(t)
		b.delay(50 * time.Millisecond) // there and back is well below the node timeout
		ctx, cancel := context.WithCancel(bg)
		first := start(ctx, m.RLock)
		second := start(bg, m.RLock)
		cancel()
		<-first.done
		require.ErrorIs(t, first.err, context.Canceled)
		select {
		case <-second.done:
		case <-time.After(10 * time.Second):
			require.Fail(t, "it sleeps")
		}
		unlock(t, second.lease)
	})
}

// One of its own process counts from the moment at which it is called, before any node has heard of it.
func TestNobodyJoinsPastOneOfItsOwnProcessWhoIsAboutToWaitToWrite(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m := b.mutex(t)
		first := must(t, m.RLock)
		b.delay(20 * time.Millisecond)
		writer := start(bg, m.Lock)
		later := start(bg, m.RLock)
		require.False(t, later.over())
		unlock(t, first)
		writer.granted(t, time.Now())
		require.False(t, later.over())
		unlock(t, writer.lease)
		later.granted(t, time.Now())
		unlock(t, later.lease)
	})
}
