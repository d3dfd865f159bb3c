package lock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// A process that was paused runs on with the call that it was about to make, and only later
// with its watchdog (I2).
func TestPausedProcessLearnsOfItsLossFromItsFirstCall(t *testing.T) {
	for name, call := range map[string]func(context.Context, *lock.Lease) error{
		"Lease.Err": func(_ context.Context, l *lock.Lease) error { return l.Err() },
		"Context.Err": func(ctx context.Context, _ *lock.Lease) error {
			if ctx.Err() == nil {
				return nil
			}
			return context.Cause(ctx)
		},
		"Extend": func(_ context.Context, l *lock.Lease) error { return l.Extend(bg, time.Hour) },
		"Unlock": func(_ context.Context, l *lock.Lease) error { return l.Unlock(bg) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				p := w.process()
				l := w.lock(p.mutex())
				ctx := l.Context(bg)
				lock.StopWatchdog(p.locks)
				synctest.Wait() // nothing else is left to do
				time.Sleep(time.Until(l.Deadline()) - 1)
				require.NoError(t, l.Err(), "it is held to the last moment")
				require.NoError(t, ctx.Err())
				time.Sleep(time.Nanosecond)
				require.ErrorIs(t, call(ctx, l), lock.ErrLost)
				requireLost(ctx, t, l)
			})
		})
	}
}
