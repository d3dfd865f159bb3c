package reentrant_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

func TestCancelledLockGivesBackWhatWasGranted(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, lock.WithNodeTimeout(2*time.Second))
	for _, p := range r.proxies[:3] {
		p.SwallowReply(acquireCall, 1)
	}
	ctx, cancel := context.WithCancelCause(bg)
	failed := make(chan error, 1)
	go func() {
		_, err := r.mutex().Lock(ctx)
		failed <- err
	}()
	for _, p := range r.proxies {
		redistest.Eventually(t, within, func() bool { return p.Commands(acquireCall) == 1 }, "it is sent")
	}
	reason := fmt.Errorf("the user went away")
	cancel(reason)
	err := <-failed
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, reason)
	r.requireClean(t)
	for _, p := range r.proxies {
		p.Reset() // Close would wait for the replies that never come
	}
}

func TestCancellationThatRacesTheGrantLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := newRig(t, n)
		granted, cancelled := 0, 0
		for i := range 200 {
			m := reentrant.New(r.locks, fmt.Sprint("name ", i%7))
			ctx, cancel := context.WithTimeout(bg, rand.N(3*time.Millisecond))
			lease, err := m.Lock(ctx)
			if err == nil {
				granted++
				require.NoError(t, lease.Unlock(ctx))
			} else {
				cancelled++
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			cancel()
		}
		t.Logf("%d nodes: %d granted, %d cancelled", n, granted, cancelled)
		r.requireClean(t)
	}
}

// Whoever gives up may have been made an order, by another goroutine, at that very moment.
func TestCancellationThatRacesAHandOverLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := newRig(t, n)
		var granted, cancelled, inside atomic.Int64
		// So long do calls wait at the most that about as many are cancelled as not, however
		// busy the machine is.
		var most atomic.Int64
		most.Store(int64(8 * time.Millisecond))
		each(t, 1600, 8, func(int) error {
			ctx, cancel := context.WithTimeout(bg, rand.N(time.Duration(most.Load())))
			defer cancel()
			lease, err := r.mutex().Lock(ctx)
			if err != nil {
				cancelled.Add(1)
				most.Add(most.Load() / 32)
				if !errors.Is(err, context.DeadlineExceeded) {
					return err
				}
				return nil
			}
			granted.Add(1)
			most.Add(-most.Load() / 32)
			if inside.Add(1) != 1 {
				return errors.New("two are inside")
			}
			inside.Add(-1)
			return lease.Unlock(bg)
		})
		t.Logf("%d nodes: %d granted, %d cancelled", n, granted.Load(), cancelled.Load())
		require.Positive(t, granted.Load())
		require.Positive(t, cancelled.Load())
		r.requireClean(t)
	}
}

func TestCancelledWaitersLeaveTheQueue(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	lease, err := r.mutex().Lock(bg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(bg)
	failed := make(chan error, 20)
	for range cap(failed) {
		go func() {
			_, err := r.mutex().Lock(ctx)
			failed <- err
		}()
	}
	r.requireSubscribed(t, 1)
	wait := r.waiter(t, r.locks) // behind them, or between
	cancel()
	for range cap(failed) {
		err := <-failed
		require.ErrorIs(t, err, context.Canceled)
	}
	require.NoError(t, lease.Unlock(bg))
	wait()
	r.requireClean(t)
}

func TestMinorityOfARefusedAttemptIsGivenBackByStragglersToo(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, lock.WithNodeTimeout(within))
	for _, s := range r.servers[:3] {
		c := s.Client(t)
		require.NoError(t, c.HSet(bg, r.keys().Lock, "a stranger", 1).Err())
		require.NoError(t, c.PExpire(bg, r.keys().Lock, time.Minute).Err())
	}
	var held []*redistest.Held
	for _, p := range r.proxies {
		held = append(held, p.Hold(acquireCall, 1))
	}
	tried := make(chan error, 1)
	go func() {
		_, err := r.mutex().TryLock(bg)
		tried <- err
	}()
	for _, h := range held {
		h.Wait(t)
	}
	// Two grant it, and while their answers are on the way, three refuse.
	for i, s := range r.servers[3:] {
		r.proxies[3+i].SetDelay(time.Second)
		held[3+i].Release()
		redistest.Eventually(t, within, func() bool { return slices.Contains(s.Keys(t), r.keys().Lock) }, "node %d grants", 3+i)
	}
	for _, h := range held[:3] {
		h.Release()
	}
	require.Error(t, <-tried) // that it is locked, or on a busy machine that its time is over
	for _, p := range r.proxies[3:] {
		p.SetDelay(0)
		redistest.Eventually(t, within, func() bool { return p.Commands(releaseCall) > 0 }, "a late grant is given back")
	}
	(&rig{servers: r.servers[3:], proxies: r.proxies[3:], name: r.name}).requireClean(t)
}
