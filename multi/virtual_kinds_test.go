package multi_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

// A room is what a lock of some kind lets in: a share of a name's capacity.
type room struct {
	lock  lock.Locker
	share int
}

const whole = 6 // a name's capacity

// rooms makes the locks that a call may take, one for each name: mutexes, readers or writers, and permits.
func rooms(c *lock.Client, rng *rand.Rand) []room {
	all := []room{
		{reentrant.New(c, "a"), whole},
		{fair.New(c, "c"), whole},
		{readwrite.New(c, "b"), whole},
		{semaphore.New(c, "d", 3).Locker(1), whole / 3},
		{readwrite.New(c, "e").RLocker(), 1},
	}
	if rng.IntN(2) == 0 {
		all[2] = room{readwrite.New(c, "b").RLocker(), 1}
	}
	if rng.IntN(2) == 0 {
		all[3] = room{semaphore.New(c, "d", 3).Locker(2), 2 * whole / 3}
	}
	if rng.IntN(2) == 0 {
		all[4] = room{readwrite.New(c, "e"), whole}
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:2+rng.IntN(len(all)-1)]
}

// Calls that want some of the same names, in any order and of any kind, in several processes: each gets what
// it wants or nothing, none waits for ever, and nothing stays.
func TestLocksOfAllKindsInAnyOrder(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const processes, callers, calls = 3, 3, 4
		seed := rand.Uint64()
		t.Log("seed", seed)
		w.near()
		var mu sync.Mutex
		used := make(map[string]int)
		granted, failed := 0, 0
		var all sync.WaitGroup
		start := time.Now()
		for p := range processes {
			c := w.client()
			for i := range callers {
				rng := rand.New(rand.NewPCG(seed, uint64(p*callers+i)))
				all.Go(func() {
					for range calls {
						rooms := rooms(c, rng)
						locks := make([]lock.Locker, len(rooms))
						for j, r := range rooms {
							locks[j] = r.lock
						}
						ctx, cancel := bg, context.CancelFunc(func() {})
						if rng.IntN(3) == 0 {
							ctx, cancel = context.WithTimeout(bg, time.Duration(rng.IntN(20))*time.Millisecond)
						}
						l, err := multi.New(locks...).Lock(ctx)
						cancel()
						if err != nil {
							mu.Lock()
							failed++
							mu.Unlock()
							if ctx == bg {
								t.Errorf("a call that had time failed: %v", err)
							}
							continue
						}
						mu.Lock()
						granted++
						for _, r := range rooms {
							if used[r.lock.Name()] += r.share; used[r.lock.Name()] > whole {
								t.Errorf("too many have %q", r.lock.Name())
							}
						}
						mu.Unlock()
						time.Sleep(time.Duration(rng.IntN(5)) * time.Millisecond)
						mu.Lock()
						for _, r := range rooms {
							used[r.lock.Name()] -= r.share
						}
						mu.Unlock()
						if err := l.Unlock(bg); err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		all.Wait()
		synctest.Wait() // what is on its way
		require.Positive(t, granted)
		require.Positive(t, failed)
		require.Less(t, time.Since(start), time.Minute)
		w.requireFree("a", "b", "c", "d", "e")
		for _, n := range w.nodes {
			for _, key := range n.Keys() {
				require.Regexp(t, ":token$", key, "%s keeps more than counters", n.Addr())
			}
		}
	})
}

func TestPermitsAreTakenAgainByTheirOwner(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		c := w.client()
		pool := semaphore.New(c, "pool", 3)
		both := multi.New(reentrant.New(c, "order"), pool.Locker(2))
		l, err := both.Lock(bg)
		require.NoError(t, err)
		ctx := l.Context(bg)
		again, err := both.TryLock(ctx)
		require.NoError(t, err, "the same ones")
		require.Equal(t, l.Leases()[1].Token(), again.Leases()[1].Token())
		require.Equal(t, 2, again.Leases()[1].Count())
		state, err := pool.Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, 2, state.InUse)
		_, err = pool.Locker(1).TryLock(ctx)
		require.ErrorContains(t, err, "the owner already has 2 of its permits, and asks for 1")
		other, err := pool.TryAcquire(ctx, 1)
		require.NoError(t, err, "Acquire has others")
		require.Equal(t, []int{2}, other.Slots())
		require.NoError(t, other.Release(bg))
		require.NoError(t, again.Unlock(bg))
		require.NoError(t, l.Err())
		require.NoError(t, l.Unlock(bg))
		w.requireFree("order", "pool")
	})
}

func TestALockThatCannotBeIsRefusedBeforeAnythingIsTaken(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		c := w.client()
		for _, n := range []int{0, 4} {
			both := multi.New(reentrant.New(c, "a"), semaphore.New(c, "pool", 3).Locker(n))
			want := fmt.Sprintf("asked for %d permits", n)
			_, err := both.Lock(bg)
			require.ErrorContains(t, err, want)
			_, err = both.TryLock(bg)
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, both.Do(bg, func(context.Context) error { return nil }), want)
			require.ErrorContains(t, semaphore.New(c, "pool", 3).Locker(n).Do(bg, func(context.Context) error { return nil }), want)
			w.requireFree("a", "pool")
		}
	})
}

// A reader may not become a writer, so the order in which the two are given does not matter.
func TestAWriterIsTakenBeforeAReaderOfTheSameLock(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		c := w.client()
		m := readwrite.New(c, "b")
		for _, locks := range [][]lock.Locker{
			{m, m.RLocker()}, {m.RLocker(), m}, {m.RLocker(), reentrant.New(c, "a"), m, m.RLocker()},
		} {
			l, err := multi.New(locks...).TryLock(bg)
			require.NoError(t, err)
			require.NoError(t, l.Unlock(bg))
			l, err = multi.New(locks...).Lock(bg)
			require.NoError(t, err)
			for i, lease := range l.Leases() {
				require.Equal(t, locks[i].Name(), lease.Name(), "as they were given")
			}
			require.NoError(t, l.Unlock(bg))
		}
		w.requireFree("a", "b")
	})
}

// Locks of one name on one client would have to be re-entries of the first.
func TestLocksOfOneNameThatAreNoReentryFail(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		c := w.client()
		permits := semaphore.New(c, "a", 5)
		refused := func(kind bool, locks ...lock.Locker) {
			t.Helper()
			m := multi.New(locks...)
			for _, take := range []func(context.Context) (*multi.Lease, error){m.Lock, m.TryLock} {
				l, err := take(bg)
				require.Error(t, err)
				require.Nil(t, l)
				require.NotErrorIs(t, err, lock.ErrLocked, "waiting would not help")
				require.Equal(t, kind, errors.Is(err, lock.ErrKind), err.Error())
			}
			w.requireFree("a")
		}
		refused(false, permits.Locker(1), permits.Locker(2))
		refused(true, reentrant.New(c, "a"), permits.Locker(1))
		refused(true, reentrant.New(c, "a"), readwrite.New(c, "a"))
		refused(true, permits.Locker(1), readwrite.New(c, "a"))
		require.NoError(t, tryAll(bg, t, multi.New(reentrant.New(c, "a"), fair.New(c, "a"))).Unlock(bg))
	})
}
