package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/locktest"
	"github.com/holdfast-go/holdfast/reentrant"
)

// A bench is the service under test, in a bubble: its time passes when everybody waits.
type bench struct {
	*service
	fake  *locktest.Fake
	taken int // parcels that the carrier has
}

// inBubble runs f with a service whose carrier takes so long.
func inBubble(t *testing.T, slow time.Duration, f func(t *testing.T, b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{fake: locktest.New(t)}
		b.service = &service{
			orderLock: func(name string) lock.Locker { return reentrant.New(b.fake.Client(), name) },
			orders:    newOrders(),
			carrier: func(ctx context.Context, id string) error {
				locktest.AssertHeld(t, ctx, lockOf(id))
				select {
				case <-time.After(slow):
					b.taken++
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			},
		}
		f(t, b)
	})
}

// post asks the service to ship order 42, beside the test.
func (b *bench) post() <-chan int {
	code := make(chan int, 1)
	go func() {
		w := httptest.NewRecorder()
		b.handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/orders/42/ship", nil))
		code <- w.Code
	}()
	return code
}

func TestOrderIsShipped(t *testing.T) {
	inBubble(t, time.Second, func(t *testing.T, b *bench) {
		require.Equal(t, http.StatusOK, <-b.post())
		require.Equal(t, shipped, b.orders.get("42").State)
		b.fake.Hold(lockOf("42")).Release() // it is free again
	})
}

func TestSecondRequestWaitsAndShipsNothing(t *testing.T) {
	inBubble(t, time.Second, func(t *testing.T, b *bench) {
		first, second := b.post(), b.post()
		synctest.Wait()
		require.Equal(t, 1, b.fake.Waiters(lockOf("42")))
		require.Equal(t, http.StatusOK, <-first)
		require.Equal(t, http.StatusOK, <-second)
		require.Equal(t, 1, b.taken)
	})
}

func TestOrderThatIsLockedForLongIsAConflict(t *testing.T) {
	inBubble(t, time.Second, func(t *testing.T, b *bench) {
		theirs := b.fake.Hold(lockOf("42"))
		began := time.Now()
		require.Equal(t, http.StatusConflict, <-b.post())
		require.Equal(t, patience, time.Since(began))
		require.Zero(t, b.taken)
		theirs.Release()
	})
}

func TestRequestGoesOnWhenTheOrderIsReleased(t *testing.T) {
	inBubble(t, time.Second, func(t *testing.T, b *bench) {
		theirs := b.fake.Hold(lockOf("42"))
		code := b.post()
		b.fake.Advance(patience / 2)
		theirs.Release()
		require.Equal(t, http.StatusOK, <-code)
	})
}

func TestSlowCarrierKeepsTheLock(t *testing.T) {
	inBubble(t, time.Hour, func(t *testing.T, b *bench) {
		require.Equal(t, http.StatusOK, <-b.post()) // the watchdog renews it all the while
	})
}

func TestLostLockStopsTheCarrier(t *testing.T) {
	inBubble(t, time.Hour, func(t *testing.T, b *bench) {
		code := b.post()
		b.fake.Advance(time.Minute)
		b.fake.Partition() // Redis cannot be reached
		began := time.Now()
		require.Equal(t, http.StatusServiceUnavailable, <-code)
		require.Less(t, time.Since(began), 30*time.Second, "before anybody else can have the lock")
		require.Zero(t, b.taken)
		b.fake.Heal()
	})
}

func TestLockThatAnOperatorEndsStopsTheCarrier(t *testing.T) {
	inBubble(t, time.Hour, func(t *testing.T, b *bench) {
		code := b.post()
		b.fake.Advance(time.Minute)
		b.fake.Lose(b.fake.Lease(lockOf("42")), lock.ReasonForced)
		require.Equal(t, http.StatusServiceUnavailable, <-code)
		require.Zero(t, b.taken)
	})
}

func TestNoRedisIsUnavailableAndNoConflict(t *testing.T) {
	inBubble(t, time.Second, func(t *testing.T, b *bench) {
		b.fake.Stop(0)
		require.Equal(t, http.StatusServiceUnavailable, <-b.post())
		b.fake.Start(0)
		require.Equal(t, http.StatusOK, <-b.post())
	})
}

func TestErrorThatNobodyHasThoughtOfIsAnInternalOne(t *testing.T) {
	inBubble(t, time.Second, func(t *testing.T, b *bench) {
		b.fake.FailNext(lockOf("42"), context.DeadlineExceeded)
		require.Equal(t, http.StatusInternalServerError, <-b.post())
	})
}

func TestOrderIsNotChangedWithoutItsLock(t *testing.T) {
	inBubble(t, 0, func(t *testing.T, b *bench) {
		other, err := b.orderLock(lockOf("43")).Lock(t.Context())
		require.NoError(t, err)
		require.ErrorIs(t, b.orders.set(other, "42", shipped), errUnlocked)
		require.NoError(t, other.Unlock(t.Context()))
		require.ErrorIs(t, b.orders.set(other, "43", shipped), lock.ErrReleased, "it is over")
		require.Empty(t, b.orders.rows)
	})
}

func TestLaterHolderIsNotOverwritten(t *testing.T) {
	inBubble(t, 0, func(t *testing.T, b *bench) {
		paused, err := b.orderLock(lockOf("42")).Lock(t.Context())
		require.NoError(t, err)
		defer paused.Unlock(t.Context())
		b.orders.rows["42"] = order{shipped, paused.Token() + 1}
		require.ErrorIs(t, b.orders.set(paused, "42", "new"), errStale)
	})
}

// Each name has tokens of its own. One of another lock says nothing of who else has been there.
func TestTokenOfAnotherLockIsNotTheOrders(t *testing.T) {
	inBubble(t, 0, func(t *testing.T, b *bench) {
		for range 5 { // the other one has had more holders
			require.NoError(t, b.orderLock("customer:7").Do(t.Context(), func(context.Context) error { return nil }))
		}
		outer, err := b.orderLock(lockOf("42")).Lock(t.Context())
		require.NoError(t, err)
		defer outer.Unlock(t.Context())
		require.NoError(t, b.orderLock("customer:7").Do(outer.Context(t.Context()), func(ctx context.Context) error {
			locktest.AssertHeld(t, ctx, lockOf("42"))
			inner, _ := lock.FromContext(ctx)
			require.NotEqual(t, outer.Token(), inner.Token())
			require.ErrorIs(t, b.orders.set(inner, "42", shipped), errUnlocked, "the innermost lease is of another lock")
			return b.orders.set(outer, "42", shipped)
		}))
		require.Equal(t, order{shipped, outer.Token()}, b.orders.get("42"))
	})
}
