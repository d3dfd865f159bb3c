package lock_test

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// faults are the ways in which a node does not answer.
var faults = map[string]func(*virtual.Node){
	"silent": func(n *virtual.Node) { n.Silence(true) },
	"paused": (*virtual.Node).Pause,
	"dead":   (*virtual.Node).Kill,
}

func tokenText(l *lock.Lease) string { return strconv.FormatInt(l.Token(), 10) }

// lockMany takes so many locks with names of their own.
func (w *world) lockMany(p *process, n int) []*lock.Lease {
	leases := make([]*lock.Lease, n)
	for i := range leases {
		leases[i] = w.lock(reentrant.New(p.locks, fmt.Sprint("order ", i)))
	}
	return leases
}

func TestLeaseIsLostAtItsDeadlineWhenNoNodeAnswers(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
				l := w.lock(w.process().mutex())
				ctx := l.Context(bg)
				time.Sleep(time.Minute)
				at := renewals(w.nodes[0])
				each(w.nodes, fault)
				lost := lostAt(ctx, t, l)
				require.Equal(t, validity(defaultTTL), lost.Sub(at[len(at)-1]))
				if name != "dead" {
					for _, n := range w.nodes {
						id, left := n.Holder(keys.Lock)
						require.Equal(t, l.ID(), id)
						require.Equal(t, drift(defaultTTL), left, "before the key can expire")
					}
				}
				err := l.Unlock(bg)
				require.ErrorIs(t, err, lock.ErrLost)
				require.ErrorContains(t, err, "not renewed")
				require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
				require.Equal(t, lost, time.Now(), "there is nothing to wait for")
			})
		})
	}
}

func TestLeaseIsLostAtItsDeadlineWhenAMinorityAnswers(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				l := w.lock(w.process().mutex())
				ctx := l.Context(bg)
				time.Sleep(time.Minute)
				deadline := l.Deadline()
				each(w.quorum(), fault)
				require.Equal(t, deadline, lostAt(ctx, t, l))
				synctest.Wait()
				requireHolder(t, "", w.minority()) // given back at once
			})
		})
	}
}

func TestHostThatIsCutOffLosesItsLeaseBeforeAnotherGetsIt(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		alice, bob := w.process(), w.process()
		l := w.lock(alice.mutex())
		ctx := l.Context(bg)
		next := wait(bg, bob.mutex())
		time.Sleep(time.Minute)
		deadline := l.Deadline()
		alice.Silence(true)
		require.Equal(t, deadline, lostAt(ctx, t, l))
		// The drift, and a jitter so that not all look at once.
		second := (<-next).after(t, deadline, drift(defaultTTL), drift(defaultTTL)+11*time.Millisecond)
		require.Greater(t, second.Token(), l.Token())
		alice.Silence(false)
		time.Sleep(long)
		require.NoError(t, second.Err(), "what the first one sends late concerns only its own hold")
	})
}

func TestLostLeaseIsNotRevivedByNodesThatComeBack(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		ctx := l.Context(bg)
		synctest.Wait()
		each(w.nodes, (*virtual.Node).Pause)
		lostAt(ctx, t, l)
		each(w.nodes, (*virtual.Node).Resume)
		time.Sleep(time.Hour)
		require.ErrorIs(t, l.Err(), lock.ErrLost)
		requireHolder(t, "", w.nodes)
		require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
	})
}

func TestAllLeasesOfAHoldAreLostTogether(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		outer := w.lock(m)
		ctx := outer.Context(bg)
		inner, err := m.Lock(ctx)
		require.NoError(t, err)
		time.Sleep(time.Minute)
		each(w.nodes, func(n *virtual.Node) { n.Silence(true) })
		lostAt(ctx, t, outer)
		require.ErrorIs(t, inner.Err(), lock.ErrLost)
		require.ErrorIs(t, inner.Unlock(bg), lock.ErrLost)
		require.ErrorIs(t, outer.Unlock(bg), lock.ErrLost)
	})
}

func TestAttemptThatEndsAfterItsValidityIsNoSuccess(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		const ttl = 150 * time.Millisecond
		m := w.process().mutex(lock.WithTTL(ttl))
		each(w.nodes, func(n *virtual.Node) {
			require.NoError(t, n.Memory().Set(keys.Token(), "7"))
			n.SetDelay(0, validity(ttl))
		})
		l, err := m.TryLock(bg)
		require.Nil(t, l)
		require.ErrorContains(t, err, "longer than the lock would have been valid")
		require.ErrorIs(t, err, lock.ErrNoQuorum, "others do not have it, and the answers came too late")
		require.NotErrorIs(t, err, lock.ErrLocked)
	})
}

func TestAttemptThatEndsJustInTimeIsASuccess(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		const ttl = 150 * time.Millisecond
		m := w.process().mutex(lock.WithTTL(ttl))
		each(w.nodes, func(n *virtual.Node) {
			require.NoError(t, n.Memory().Set(keys.Token(), "7"))
			n.SetDelay(0, validity(ttl)-time.Millisecond)
		})
		start := time.Now()
		l := w.lock(m)
		require.EqualValues(t, 8, l.Token())
		require.Equal(t, start.Add(validity(ttl)), l.Deadline())
		require.Equal(t, time.Millisecond, time.Until(l.Deadline()))
	})
}

func TestRoundForTheTokenCountsForValidityToo(t *testing.T) {
	inVirtualTime(t, []int{5}, func(t *testing.T, w *world) {
		const ttl = 150 * time.Millisecond
		m := w.process().mutex(lock.WithTTL(ttl))
		for i, n := range w.nodes {
			require.NoError(t, n.Memory().Set(keys.Token(), strconv.Itoa(i+1))) // no three agree
			n.SetDelay(0, validity(ttl)*2/3)
		}
		start := time.Now()
		l, err := m.TryLock(bg)
		require.Nil(t, l)
		require.ErrorContains(t, err, "longer than the lock would have been valid")
		require.Greater(t, time.Since(start), validity(ttl))
	})
}

// slowLog is a log handler that takes an hour for each record.
type slowLog struct{ slog.Handler }

func (slowLog) Enabled(context.Context, slog.Level) bool { return true }

func (slowLog) Handle(context.Context, slog.Record) error {
	time.Sleep(time.Hour)
	return nil
}

func TestLossDoesNotWaitForTheLogOfAnother(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		t.Cleanup(func() { time.Sleep(10 * time.Hour) }) // Close does not wait for the log
		p := w.process(lock.WithLogger(slog.New(slowLog{})), lock.WithoutWatchdog())
		kept := w.lock(reentrant.New(p.locks, "kept", lock.WithTTL(12*time.Hour)))
		var leases []*lock.Lease
		for i := range 3 {
			leases = append(leases, w.lock(reentrant.New(p.locks, fmt.Sprint("order ", i))))
			time.Sleep(time.Second)
		}
		for _, l := range leases {
			awaitEnd(t, l)
			require.Equal(t, l.Deadline(), time.Now())
		}
		require.NoError(t, kept.Unlock(bg))
	})
}

// Whoever ends a lease may be paused before all contexts have ended. Unlock then ends the rest.
func TestContextsHaveEndedWhenUnlockOfALostLeaseReturns(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		l := w.lock(w.process(lock.WithoutWatchdog()).mutex())
		work := make([]context.Context, 20_000)
		for i := range work {
			parent, cancel := context.WithCancel(bg)
			defer cancel()
			work[i] = l.Context(parent)
		}
		<-l.Done() // before its contexts
		require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
		for _, ctx := range work {
			select {
			case <-ctx.Done():
			default:
				require.Fail(t, "a context of a lease that was unlocked goes on")
			}
		}
	})
}
