package lock_test

import (
	"testing"
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
			{exact, time.Hour, "too long"},
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
	})
}
