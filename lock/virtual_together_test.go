package lock_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// nearTrip is the round trip to a node so near that one pipeline is on the way at a time: what
// does not leave with the first one waits until that is back.
const nearTrip = 300 * time.Microsecond

func near(n *virtual.Node) { n.SetDelay(nearTrip/2, nearTrip/2) }

// took is how long f takes.
func took(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func TestCallsTogetherCostOneRoundTrip(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		p := w.process()
		each(w.nodes, near)
		for _, names := range []int{1, 2, 4, 9} {
			leases, locks, unlocks := calls(t, p, names)
			require.Equal(t, nearTrip, took(func() { lock.Together(bg, locks...) }), "%d names", names)
			for i, l := range leases {
				require.NoError(t, l.Err(), i)
			}
			synctest.Wait()
			require.Equal(t, nearTrip, took(func() { lock.Together(bg, unlocks...) }), "%d names", names)
			synctest.Wait()
			requireHolder(t, "", w.nodes)
		}
		lock.Together(bg) // nothing to do
	})
}

// calls lock and unlock so many names of a process that has just met its nodes.
func calls(t *testing.T, p *process, names int) (leases []*lock.Lease, locks, unlocks []func(context.Context)) {
	leases = make([]*lock.Lease, names)
	for i := range names {
		m := reentrantAt(p, fmt.Sprint("name ", i, " of ", names))
		locks = append(locks, func(ctx context.Context) {
			l, err := m.TryLock(ctx)
			if err != nil {
				t.Error(err)
			}
			leases[i] = l
		})
		unlocks = append(unlocks, func(ctx context.Context) {
			if err := leases[i].Unlock(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	return leases, locks, unlocks
}

// Whoever comes last has all leave, on the way to whatever nodes they are.
func TestCallsTogetherOfSeveralClientsLeaveAtOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		other := &world{t: t, nodes: virtual.StartN(t, 1)}
		other.loadScripts()
		p, q := w.process(), other.process()
		each(w.nodes, near)
		each(other.nodes, near)
		_, locks, unlocks := calls(t, p, 2)
		_, theirs, unlockTheirs := calls(t, q, 2)
		for _, list := range [][]func(context.Context){append(locks, theirs...), append(unlocks, unlockTheirs...)} {
			require.Equal(t, nearTrip, took(func() { lock.Together(bg, list...) }))
			time.Sleep(time.Second)
		}
	})
}

// Nobody is waited for who sends nothing, or who has to wait for something else first.
func TestCallThatSendsNothingHoldsUpNoOther(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex())
		ctx := l.Context(bg)
		each(w.nodes, near)
		_, locks, unlocks := calls(t, p, 2)
		const later = 100 * time.Microsecond
		require.Equal(t, later+nearTrip, took(func() {
			lock.Together(ctx, append(locks, func(ctx context.Context) {
				time.Sleep(later) // the others are there first
				inner, err := p.mutex().TryLock(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				_ = inner.Unlock(ctx)
			})...)
		}))
		lock.Together(bg, unlocks...)
		_, locks, unlocks = calls(t, p, 3)
		require.Equal(t, time.Second, took(func() {
			lock.Together(bg, append(locks, func(context.Context) { time.Sleep(time.Second) })...)
		}))
		start := time.Now()
		lock.Together(bg, append(unlocks, func(context.Context) { time.Sleep(time.Second) })...)
		for _, c := range w.nodes[0].Commands(releaseRuns) {
			require.Less(t, c.At.Sub(start), 2*time.Millisecond)
		}
		require.NoError(t, l.Unlock(bg))
	})
}

// A call may go on when its first command is answered: only that one leaves with the others'.
func TestCallsTogetherGoOnAlone(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		p := w.process()
		each(w.nodes, near)
		_, locks, unlocks := calls(t, p, 2)
		var alone time.Duration
		lock.Together(bg, locks[0], func(ctx context.Context) {
			locks[1](ctx)
			alone = took(func() { unlocks[1](ctx) })
		}, func(context.Context) {
			time.Sleep(time.Second) // it is not waited for a second time
		})
		require.Equal(t, nearTrip, alone)
		unlocks[0](bg)
	})
}

// A call that waits for the others does not outlive its context.
func TestCallsTogetherEndWithTheirContext(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		var ended error
		var after time.Duration
		start := time.Now()
		lock.Together(ctx, func(context.Context) {
			time.Sleep(100 * time.Microsecond)
			cancel()
			time.Sleep(time.Second)
		}, func(ctx context.Context) {
			_, ended = p.mutex().TryLock(ctx)
			after = time.Since(start)
		})
		require.ErrorIs(t, ended, context.Canceled)
		require.Equal(t, 100*time.Microsecond, after)
		synctest.Wait()
		requireHolder(t, "", w.nodes)
	})
}
