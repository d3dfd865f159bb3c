package multi_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/multi"
)

// A contested lock is one that a rival has whenever somebody asks, so many times, and leaves to whoever waits for it.
type contested struct {
	lock.Locker
	times int
}

func (c *contested) TryLock(ctx context.Context) (*lock.Lease, error) {
	if c.times == 0 {
		return c.Locker.TryLock(ctx)
	}
	c.times--
	return nil, fmt.Errorf("by a rival: %w", lock.ErrLocked)
}

// rivals has f lock two locks of one name, on nodes of their own, each of which is contested so many times.
func rivals(t *testing.T, times int, f func(t *testing.T, m *multi.Mutex)) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		other := newWorld(t, 1)
		f(t, multi.New(&contested{of(w.client(), "b")[0], times}, &contested{of(other.client(), "b")[0], times}))
		w.requireFree("b")
		other.requireFree("b")
	})
}

// Each of the pauses may be twice as long as the one before, up to a third of a second.
func TestAPauseHasAMaximum(t *testing.T) {
	const times = 15
	rivals(t, times, func(t *testing.T, m *multi.Mutex) {
		start := time.Now()
		l, err := m.Lock(bg)
		require.NoError(t, err)
		require.Less(t, time.Since(start), 2*times*320*time.Millisecond)
		require.Greater(t, time.Since(start), 100*time.Millisecond, "there are pauses")
		require.NoError(t, l.Unlock(bg))
	})
}

func TestAPauseEndsWithTheCallsContext(t *testing.T) {
	rivals(t, 1000, func(t *testing.T, m *multi.Mutex) {
		for range 5 {
			const patience = 2 * time.Second
			ctx, cancel := context.WithTimeout(bg, patience)
			start := time.Now()
			_, err := m.Lock(ctx)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, patience, time.Since(start))
		}
	})
}

// A lease that is lost during the wait for another is taken again, with those behind it. Those before it are kept.
func TestALossCostsNoneOfTheNamesBeforeIt(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		theirs := try(t, w.client(), "c")
		waits := blocked(bg, t, multi.New(of(w.client(), "a", "b", "c")...))
		before := w.holders("a", "b", "c")
		k, err := lua.NewKeys("lock", "b")
		require.NoError(t, err)
		for _, n := range w.nodes {
			n.Delete(k.Lock)
		}
		time.Sleep(ttl)
		synctest.Wait()
		require.NoError(t, theirs.Unlock(bg))
		l := await(t, waits)
		require.Equal(t, before[0], ids(l)[0])
		require.NotEqual(t, before[1], ids(l)[1])
		require.Equal(t, ids(l), w.holders("a", "b", "c"))
		require.NoError(t, l.Unlock(bg))
		w.requireFree("a", "b", "c")
	})
}

// So is a lease that is lost before the call re-enters it.
func TestALossBeforeAReentryCostsNoneOfTheNamesBeforeIt(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const short = 150 * time.Millisecond
		fixed, p := w.client(lock.WithTTL(short), lock.WithoutWatchdog()), w.client()
		m := multi.New(append(of(fixed, "b", "b"), of(p, "a")[0], &late{Locker: of(p, "c")[0], by: short})...)
		done := wait(bg, m)
		time.Sleep(short / 2)
		k, err := lua.NewKeys("lock", "a")
		require.NoError(t, err)
		first, _ := w.nodes[0].Holder(k.Lock)
		require.NotEmpty(t, first)
		l := await(t, done)
		require.Equal(t, first, ids(l)[2])
		require.NoError(t, l.Unlock(bg))
		w.requireFree("a", "b", "c")
	})
}
