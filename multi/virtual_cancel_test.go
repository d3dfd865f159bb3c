package multi_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/multi"
)

// However many are granted when the wait is cancelled, none is held after it, and none renewed.
func TestCancelledWaitGivesEverythingBack(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		names := []string{"a", "b", "c", "d"}
		for i, taken := range names {
			theirs := try(t, w.client(lock.WithoutWatchdog(), lock.WithTTL(time.Minute)), taken)
			ctx, cancel := context.WithCancelCause(bg)
			waits := blocked(ctx, t, multi.New(mixed(w.client(), "d", "c", "b", "a")...))
			time.Sleep(time.Second)
			away := errors.New("the user went away")
			cancel(away)
			g := <-waits
			require.Nil(t, g.lease)
			require.ErrorIs(t, g.err, context.Canceled)
			require.ErrorIs(t, g.err, away)
			require.ErrorIs(t, g.err, lock.ErrLocked)
			var e *lock.AcquireError
			require.ErrorAs(t, g.err, &e)
			require.Equal(t, taken, e.Name)
			require.Equal(t, theirs.ID(), e.Holder)
			want := make([]string, len(names))
			want[i] = theirs.ID()
			require.Equal(t, want, w.holders(names...))
			require.NoError(t, theirs.Unlock(bg))
			w.requireFree(names...)
		}
	})
}

// Nor if an observer ends the goroutine, as a test does that fails: nobody is left who could unlock what was granted before.
func TestAnObserverThatEndsTheGoroutineLeavesNoLock(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		theirs := try(t, w.client(), "b")
		c := w.client(lock.WithObserver(lock.Observer{Ended: func(_ context.Context, a lock.Acquisition) {
			if a.Lease != nil && a.Name == "b" {
				runtime.Goexit()
			}
		}}))
		waits := make(chan struct{})
		go func() { defer close(waits); _, _ = multi.New(mixed(c, "b", "a")...).Lock(bg) }()
		time.Sleep(time.Second)
		require.NotEqual(t, []string{"", theirs.ID()}, w.holders("a", "b"), "it has the one while it waits for the other")
		require.NoError(t, theirs.Unlock(bg))
		<-waits
		w.requireFree("a", "b")
	})
}

// The call is cancelled at each moment of the rounds that it makes. Each of the nodes is a
// little farther away than the one before, so that at some moments some of the locks are
// granted and others are not.
func TestCancellationAtAnyMomentGivesEverythingBack(t *testing.T) {
	for _, taken := range []string{"", "a", "b", "c"} {
		t.Run("taken="+taken, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				const step = 100 * time.Microsecond
				c, rival := w.client(), w.client()
				far := newWorld(t, 1)
				d := far.client()
				w.near()
				far.nodes[0].SetDelay(nearTrip, nearTrip)
				first, err := lua.NewKeys("lock", "a")
				require.NoError(t, err)
				granted, cancelled := 0, 0
				for at := time.Duration(0); at < 70*step; at += step {
					// Where the nodes do not give the same token, the first one takes a round more than the others.
					for i, n := range w.nodes {
						require.NoError(t, n.Memory().Set(first.Token(), fmt.Sprint(at.Microseconds()+10*int64(i))))
					}
					var theirs *lock.Lease
					if taken != "" {
						theirs = try(t, rival, taken)
						// It becomes free at a moment in the middle.
						time.AfterFunc(8*step, func() { _ = theirs.Unlock(bg) })
					}
					ctx, cancel := context.WithCancel(bg)
					stop := time.AfterFunc(at, cancel)
					m := multi.New(append(of(c, "a", "c"), of(d, "b", "e")...)...)
					if taken == "b" {
						m = multi.New(append(of(d, "a", "c"), of(c, "b", "e")...)...)
					}
					l, err := m.Lock(ctx)
					stop.Stop()
					if err == nil {
						granted++
						require.NoError(t, l.Err(), at)
						require.NoError(t, l.Unlock(ctx), at)
					} else {
						cancelled++
						require.ErrorIs(t, err, context.Canceled, at)
					}
					cancel()
					for _, w := range []*world{w, far} {
						require.Equal(t, make([]string, 4), w.holders("a", "b", "c", "e"), "cancelled after %v", at)
					}
				}
				require.Positive(t, granted)
				require.Positive(t, cancelled)
				w.requireFree("a", "b", "c", "e")
				far.requireFree("a", "b", "c", "e")
			})
		})
	}
}

// A context that has ended before asks no node for anything.
func TestLockUnderAnEndedContextAsksNobody(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(bg)
		cancel()
		m := multi.New(of(w.client(), "a", "b")...)
		for _, take := range []func(context.Context) (*multi.Lease, error){m.Lock, m.TryLock} {
			_, err := take(ctx)
			require.ErrorIs(t, err, context.Canceled)
		}
		require.Zero(t, w.asked())
	})
}

// The deadline of Lock's context ends the wait, and no lease.
func TestContextOfLockBoundsTheWaitOnly(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		theirs := try(t, w.client(), "a")
		m := multi.New(of(w.client(), "b", "a")...)
		ctx, cancel := context.WithTimeout(bg, time.Minute)
		defer cancel()
		require.Equal(t, time.Minute, took(func() {
			_, err := m.Lock(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}))
		ctx, cancel = context.WithTimeout(bg, time.Minute)
		defer cancel()
		waits := blocked(ctx, t, m)
		require.NoError(t, theirs.Unlock(bg))
		l := await(t, waits)
		time.Sleep(long)
		require.Error(t, ctx.Err())
		require.NoError(t, l.Err())
		require.NoError(t, l.Unlock(ctx))
		w.requireFree("a", "b")
	})
}

// Many calls that are cancelled and granted at random leave nothing either.
func TestManyCancelledCallsLeaveNothing(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		w.near()
		names := []string{"a", "b", "c", "d", "e", "f"}
		done := make(chan int)
		for p := range 3 {
			c := w.client()
			for g := range 4 {
				go func() {
					granted := 0
					for n := range 25 {
						i, j, k := (p+n)%6, (p+g+3*n)%6, (5*g+n)%6
						m := multi.New(mixed(c, names[i], names[j], names[k])...)
						if i == j || j == k || i == k {
							m = multi.New(mixed(c, names[(n+g)%6], names[(n+g+1+p)%6])...)
						}
						ctx, cancel := context.WithTimeout(bg, time.Duration(1+(7*n+3*g+p)%12)*nearTrip)
						if l, err := m.Lock(ctx); err == nil {
							granted++
							time.Sleep(nearTrip)
							if err := l.Unlock(ctx); err != nil {
								t.Error(err)
							}
						}
						cancel()
					}
					done <- granted
				}()
			}
		}
		granted := 0
		for range 12 {
			granted += <-done
		}
		require.Positive(t, granted)
		synctest.Wait()
		w.requireFree(names...)
	})
}
