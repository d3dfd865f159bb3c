package fair_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
)

// TryLock waits for nobody, and passes nobody.

func TestTryLockDoesNotJumpTheQueue(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		lease := r.hold(t)
		c := r.client(t, calm)
		calls := []*call{r.enqueue(t, here{r.client(t, calm)}, "first"), r.enqueue(t, here{c}, "second")}
		trying := r.client(t, calm)
		stop, stopped := make(chan struct{}), make(chan struct{})
		tries := 0
		go func() {
			defer close(stopped)
			for ; ; tries++ {
				select {
				case <-stop:
					return
				default:
				}
				if lease, err := r.mutex(trying).TryLock(bg); err == nil {
					t.Error("it jumped the queue")
					_ = lease.Unlock(bg)
				} else if !errors.Is(err, lock.ErrLocked) && !errors.Is(err, lock.ErrNoQuorum) { // the nodes may be late
					t.Error(err)
				}
			}
		}()
		require.NoError(t, lease.Unlock(bg))
		last := r.line(t, 1)[0]
		r.pass(t, calls...)
		last.requireGranted(t, within)
		close(stop)
		<-stopped
		require.Positive(t, tries)
		require.NoError(t, last.unlock())
		r.requireDrained(t)
	})
}

// The lock is free, and the head does not know it yet.
func TestTryLockFindsAFreeLockTakenByTheHeadOfTheQueue(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 5} {
		r := newRig(t, n)
		lease := r.hold(t)
		c, proxies := r.proxied(t, calm, lock.WithNodeTimeout(within)) // it does not ask again
		first := r.enqueue(t, here{c}, "first")
		var held []*redistest.Held
		for _, p := range proxies {
			held = append(held, p.Hold(askCall, 1))
		}
		require.NoError(t, lease.Unlock(bg))
		for _, h := range held {
			h.Wait(t)
		}
		other := r.mutex(r.client(t, calm))
		for range 10 {
			var err error
			redistest.Eventually(t, within, func() bool { // on a busy machine the nodes may be late
				_, err = other.TryLock(bg)
				return !errors.Is(err, lock.ErrNoQuorum)
			}, "the nodes answer")
			require.ErrorIs(t, err, lock.ErrLocked)
			var refusal *lock.AcquireError
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, first.hold, refusal.Holder, "it says whose turn it is")
		}
		for _, h := range held {
			h.Release()
		}
		first.pass(t)
		r.requireDrained(t)
	}
}
