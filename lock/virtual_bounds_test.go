package lock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// The least and the greatest TTL, to the nanosecond.
func TestBoundsOfATTL(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		const guard, fixed = time.Minute, 10 * time.Millisecond
		guarded := w.process(lock.WithRestartGuard(guard), lock.WithTTL(time.Second))
		exact := w.process(lock.WithClockDrift(0, fixed), lock.WithTokenRetention(time.Hour), lock.WithTTL(time.Second))
		for _, c := range []struct {
			process *process
			ttl     time.Duration
			why     string // it is refused; empty: it is not
		}{
			{exact, fixed, "too short"},
			{exact, fixed + 1, ""},
			{exact, time.Hour - 1, ""},
			{exact, time.Hour, "the TTL of 1h0m0s is too long"},
			{guarded, guard, ""},
			{guarded, guard + 1, "restart guard"},
		} {
			_, err := c.process.mutex(lock.WithTTL(c.ttl)).Inspect(bg)
			if c.why == "" {
				require.NoError(t, err, "%v", c.ttl)
			} else {
				require.ErrorContains(t, err, c.why, "%v", c.ttl)
			}
		}
		l := w.lock(exact.mutex())
		require.NoError(t, l.Extend(bg, time.Hour-1))
		require.ErrorContains(t, l.Extend(bg, time.Hour), "too long")
		require.NoError(t, l.Unlock(bg))
	})
}

// What is as long as anything may be still works: no date overflows, here or on a node.
func TestLocksWorkWithTheLongestSettings(t *testing.T) {
	const longest = 10 * 365 * 24 * time.Hour
	ofEitherKind(t, []int{1, 3}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		opts := []lock.ClientOption{
			lock.WithWaiterHeartbeat(longest), lock.WithMaxHold(longest), lock.WithMinHold(0), lock.WithRest(0),
			lock.WithTokenRetention(longest), lock.WithTTL(longest - 1), lock.WithClockDrift(0, time.Hour),
			lock.WithNodeTimeout(longest),
		}
		l := w.lock(of(w.process(opts...)))
		next := wait(bg, of(w.process(opts...)))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, next)
		require.NoError(t, l.Err())
		require.NoError(t, l.Unlock(bg))
		g := <-next
		require.NoError(t, g.err)
		require.Greater(t, g.lease.Token(), l.Token())
		require.NoError(t, g.lease.Unlock(bg))
		synctest.Wait()
		requireHolder(t, "", w.nodes)
	})
}

// A key lives for less time than the counter of its tokens, to the nanosecond.
func TestBoundsOfAKeysLife(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		p := w.process(lock.WithTokenRetention(time.Hour), lock.WithTTL(time.Second))
		for name, of := range map[string]func(life time.Duration) lock.Option{
			"min hold": lock.WithMinHold,
			"rest":     func(life time.Duration) lock.Option { return lock.WithRest(life - time.Second) },
		} {
			_, err := p.mutex(of(time.Hour - 1)).Inspect(bg)
			require.NoError(t, err, name)
			_, err = p.mutex(of(time.Hour)).Inspect(bg)
			require.ErrorContains(t, err, "the key would live for 1h0m0s", name)
		}
		l := w.lock(p.mutex(lock.WithRest(time.Minute)))
		require.ErrorContains(t, l.Extend(bg, 59*time.Minute), "the key would live for 1h0m0s")
		require.NoError(t, l.Extend(bg, 59*time.Minute-1))
		require.NoError(t, l.Unlock(bg))
	})
}
