package multi_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
)

// What others of the process have, or wait for, is not asked for: a Lock of that name alone would wait, too.
func TestNoNodeIsAskedForWhatTheProcessHasOrWaitsFor(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		c := w.client()
		theirs := try(t, c, "b")
		before := w.asked()
		waits := blocked(bg, t, multi.New(of(c, "a", "b")...))
		require.Equal(t, before+1, w.asked(), "a alone")
		before = w.asked()
		later := blocked(bg, t, multi.New(of(c, "a", "b")...))
		require.Equal(t, before, w.asked(), "nothing")
		require.NoError(t, theirs.Unlock(bg))
		require.NoError(t, await(t, waits).Unlock(bg))
		require.NoError(t, await(t, later).Unlock(bg))
		w.requireFree("a", "b")
	})
}

// A process leaves a name that others want to them for a while, though goroutines of its own wait. Who comes then
// finds it free, and stands behind those.
func TestALockDoesNotGoPastTheLineOfItsProcess(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		c := w.client()
		w.near()
		theirs := try(t, c, "b")
		turn := make(chan *lock.Lease, 1)
		go func() {
			l, _ := reentrant.New(c, "b").Lock(bg)
			turn <- l
		}()
		time.Sleep(4 * time.Second) // the process has had it for so long that it is the others' turn
		for _, n := range w.nodes {
			n.Mute(true) // whoever waits would take the message of the release for its turn
		}
		require.NoError(t, theirs.Unlock(bg))
		synctest.Wait()
		require.Empty(t, turn, "the name is left to others")
		waits := blocked(bg, t, multi.New(of(c, "a", "b")...))
		var first *lock.Lease
		select {
		case first = <-turn:
		case g := <-waits:
			require.NoError(t, g.lease.Unlock(bg))
			require.Fail(t, "it has gone past whoever waits")
		case <-time.After(long):
			require.Fail(t, "nobody has it")
		}
		time.Sleep(nearTrip)
		require.NoError(t, first.Unlock(bg))
		require.NoError(t, await(t, waits).Unlock(bg))
		w.requireFree("a", "b")
	})
}

// It goes by the owner, and a lock that others wait for does not hide what is wrong with another one.
func TestWhatIsAwaitedHidesNeitherReentryNorRefusal(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		c := w.client()
		mine := try(t, c, "a")
		waits := blocked(bg, t, multi.New(of(c, "a")...))
		before := w.asked()
		l, err := multi.New(of(c, "a", "b")...).Lock(mine.Context(bg))
		require.NoError(t, err, "the second hold of a")
		require.Equal(t, before+1, w.asked(), "for b, and once")
		require.NoError(t, l.Unlock(bg))

		ctx, cancel := context.WithTimeout(bg, time.Minute)
		defer cancel()
		_, err = multi.New(reentrant.New(c, "a"), reentrant.New(c, "b"), reentrant.New(c, "c", lock.WithTTL(-1))).Lock(ctx)
		require.Error(t, err)
		require.NotErrorIs(t, err, lock.ErrLocked)
		require.NoError(t, mine.Unlock(bg))
		require.NoError(t, await(t, waits).Unlock(bg))
		w.requireFree("a", "b")
	})
}

// A reader joins those of its process that read, also within the tenure of a writer.
func TestAReaderThatMayJoinWaitsForNobody(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		c := w.client()
		w.near()
		m := readwrite.New(c, "a")
		l, err := m.Lock(bg)
		require.NoError(t, err)
		reading := make(chan *lock.Lease, 1)
		go func() {
			r, _ := m.RLock(bg)
			reading <- r
		}()
		time.Sleep(10 * time.Millisecond)
		require.NoError(t, l.Unlock(bg))
		r := <-reading
		time.Sleep(10 * time.Millisecond)
		before, start := w.asked(), time.Now()
		both, err := multi.New(m.RLocker(), reentrant.New(c, "b")).Lock(bg)
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(start), nearTrip)
		require.Equal(t, before+1, w.asked(), "b, and once")
		require.NoError(t, both.Unlock(bg))
		require.NoError(t, r.Unlock(bg))
	})
}

// A call that ends before the nodes have answered has waited for what its process has.
func TestACallThatEndsNamesWhatItWouldHaveWaitedFor(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		c := w.client()
		theirs := try(t, c, "a")
		w.near()
		ctx, cancel := context.WithTimeout(bg, nearTrip/2)
		defer cancel()
		_, err := multi.New(of(c, "a", "b")...).Lock(ctx)
		var failed *lock.AcquireError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, "a", failed.Name)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, theirs.Unlock(bg))
	})
}

// Who waits here for another process may not know yet that the name is free.
func TestALockDoesNotGoPastThoseWhoWaitForAnotherProcess(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		c := w.client()
		w.near()
		theirs := try(t, w.client(), "b")
		first := make(chan *lock.Lease, 1)
		go func() {
			l, _ := reentrant.New(c, "b").Lock(bg)
			first <- l
		}()
		time.Sleep(time.Second)
		for _, n := range w.nodes {
			n.Mute(true)
		}
		require.NoError(t, theirs.Unlock(bg))
		waits := blocked(bg, t, multi.New(of(c, "a", "b")...))
		select {
		case l := <-first:
			require.NoError(t, l.Unlock(bg))
		case g := <-waits:
			require.NoError(t, g.lease.Unlock(bg))
			require.Fail(t, "it has gone past whoever waits")
		}
		require.NoError(t, await(t, waits).Unlock(bg))
		w.requireFree("a", "b")
	})
}

// A process that is farther away than another one has its turn, though nobody waits there when a hold ends.
func TestALockLeavesOthersTheirChance(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		at := func(trip time.Duration) *lock.Client {
			h := virtual.NewHost(w.nodes)
			h.SetDelay(trip/2, trip/2)
			c, err := lock.NewClient(h.Clients(t))
			require.NoError(t, err)
			t.Cleanup(func() { _ = c.Close() })
			return c
		}
		ctx, cancel := context.WithTimeout(bg, 5*time.Second)
		defer cancel()
		near := multi.New(of(at(nearTrip), "a", "b")...)
		over := make(chan struct{})
		go func() {
			defer close(over)
			for near.Do(ctx, func(context.Context) error { time.Sleep(4 * time.Millisecond); return nil }) == nil {
				continue
			}
		}()
		far, longest := reentrant.New(at(4*nearTrip), "b"), time.Duration(0)
		for ctx.Err() == nil {
			asked := time.Now()
			if l, err := far.Lock(ctx); err == nil {
				require.NoError(t, l.Unlock(bg))
			}
			longest = max(longest, time.Since(asked))
		}
		<-over
		require.Less(t, longest, time.Second)
	})
}
