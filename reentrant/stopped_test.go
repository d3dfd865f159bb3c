package reentrant_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// Servers that are stopped and run on later execute what their clients have long
// given up, from several connections in any order.

func TestServerStoppedInMidAcquisitionKeepsNoKey(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		r := newRig(t, n, lock.WithoutWatchdog(), lock.WithNodeTimeout(100*time.Millisecond))
		for round := range 10 {
			r.name = fmt.Sprint("round ", round)
			pause(r.servers)
			// Several at once, so that some are in flight and others in the queue.
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					_, err := reentrant.New(r.locks, fmt.Sprint(r.name, i)).TryLock(bg)
					if !errors.Is(err, redlock.ErrNoQuorum) {
						t.Errorf("with every server stopped: %v", err)
					}
				})
			}
			wg.Wait()
			resume(r.servers)
			r.requireClean(t)
		}
	}
}

func TestServersStoppedFromAcquisitionToReleaseKeepNoKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, lock.WithoutWatchdog())
	for round := range 8 {
		r.name = fmt.Sprint("round ", round)
		pause(r.servers[:2])
		lease, err := r.mutex().Lock(bg)
		require.NoError(t, err)
		inner, err := r.mutex().Lock(lease.Context(bg))
		require.NoError(t, err)
		require.NoError(t, inner.Extend(bg, time.Minute))
		require.NoError(t, inner.Unlock(bg))
		require.NoError(t, lease.Unlock(bg))
		resume(r.servers[:2])
		r.requireClean(t)
		require.Equal(t, make([]int, 5), r.counts(t, lease.ID()))
	}
}

func TestServersStoppedForLongKeepNoKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, lock.WithoutWatchdog(), lock.WithNodeTimeout(100*time.Millisecond))
	pause(r.servers[:2])
	// Past the read timeout, which is a second here: connections are given up while their commands wait in
	// the server's buffers.
	rounds := 0
	for start := time.Now(); time.Since(start) < 1500*time.Millisecond || rounds <= 50; rounds++ {
		lease, err := reentrant.New(r.locks, fmt.Sprint("round ", rounds%50)).Lock(bg)
		require.NoError(t, err)
		if err := lease.Unlock(bg); err != nil { // on a busy machine another server may seem to be stopped, too
			require.ErrorIs(t, err, redlock.ErrNoQuorum)
		}
	}
	resume(r.servers[:2])
	r.requireClean(t)
}

func TestLockWorksAgainAsSoonAsAQuorumRunsOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, lock.WithoutWatchdog())
	pause(r.servers[:3])
	got := make(chan error, 1)
	go func() {
		lease, err := r.mutex().Lock(bg)
		if err == nil {
			err = lease.Unlock(bg)
		}
		got <- err
	}()
	redistest.Eventually(t, within, func() bool { return r.proxies[4].Commands(releaseCall) > 0 }, "an attempt was given back")
	resume(r.servers[:1])
	require.NoError(t, <-got)
	resume(r.servers)
	r.requireClean(t)
}

func TestUnlockWithEveryServerStoppedIsBounded(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := newRig(t, n, lock.WithoutWatchdog(), lock.WithNodeTimeout(200*time.Millisecond))
		lease, err := r.mutex().Lock(bg)
		require.NoError(t, err)
		pause(r.servers)
		start := time.Now()
		require.ErrorIs(t, lease.Unlock(bg), redlock.ErrNoQuorum)
		require.Less(t, time.Since(start), 15*time.Second, "half of the TTL, on a busy machine")
		require.ErrorIs(t, lease.Err(), lock.ErrReleased)
		resume(r.servers)
		r.requireClean(t) // in the background, long before the TTL
	}
}

func pause(servers []*redistest.Server) {
	for _, s := range servers {
		s.Pause()
	}
}

func resume(servers []*redistest.Server) {
	for _, s := range servers {
		s.Resume()
	}
}

// While its servers are stopped for longer than the TTL, callers give up one after the other.
// What they had sent waits in the sockets, and is executed when the servers go on, long after
// the keys would have expired had they been written in time.
func TestServersStoppedForLongerThanATTLKeepNoKey(t *testing.T) {
	t.Parallel()
	for _, stopped := range []int{1, 2} {
		r := newRig(t, 2*stopped-1, lock.WithTTL(8*time.Second), lock.WithNodeTimeout(100*time.Millisecond))
		var expired []func() []string
		for _, s := range r.servers {
			expired = append(expired, s.Expirations(t))
		}
		stall, cancel := context.WithTimeout(bg, 10*time.Second)
		pause(r.servers[:stopped])
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(bg, time.Duration(i+1)*50*time.Millisecond)
				defer cancel()
				_, err := reentrant.New(r.locks, fmt.Sprint("name ", i)).Lock(ctx)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("with so many servers stopped: %v", err)
				}
			})
		}
		wg.Wait()
		<-stall.Done()
		cancel()
		resume(r.servers[:stopped])
		r.requireClean(t)
		for _, expired := range expired {
			left := slices.DeleteFunc(expired(), func(key string) bool { return strings.HasSuffix(key, ":void") })
			require.Empty(t, left, "each key was removed, none was left to its TTL")
		}
	}
}
