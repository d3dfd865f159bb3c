package lock_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/redlock"
)

// closeBound is what docs/goroutines.md promises of Close: what is under way has ten
// node timeouts to be answered, and the releases one before that.
const closeBound = 11 * defaultNodeTimeout

func TestCloseIsBoundedWhenTheNetworkIsLost(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				p := w.process()
				held := w.lockMany(p, 20)
				w.lock(w.process().mutex())
				waiting := wait(bg, p.mutex()) // has subscriptions
				time.Sleep(time.Minute)
				each(w.nodes, fault)
				for i, pause := range []time.Duration{0, time.Second} {
					// Also while renewals hang that were sent since.
					time.Sleep(pause)
					start := time.Now()
					err := p.locks.Close()
					require.LessOrEqual(t, time.Since(start), closeBound)
					if i > 0 {
						require.NoError(t, err, "a second Close")
						require.Equal(t, start, time.Now())
						continue
					}
					require.ErrorIs(t, err, redlock.ErrNoQuorum)
					g := <-waiting
					require.ErrorIs(t, g.err, lock.ErrClosed)
					require.Equal(t, start, g.at, "who waits is told at once")
				}
				for _, l := range held {
					require.ErrorIs(t, l.Err(), lock.ErrReleased)
				}
			})
		})
	}
}

func TestCloseWhileRenewalsHangIsBounded(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				p := w.process()
				l := w.lock(p.mutex())
				synctest.Wait()
				each(w.nodes, fault)
				time.Sleep(defaultTTL/3 + 100*time.Millisecond)
				start := time.Now()
				require.Error(t, p.locks.Close())
				require.LessOrEqual(t, time.Since(start), closeBound+defaultNodeTimeout)
				require.ErrorIs(t, l.Err(), lock.ErrReleased)
				require.ErrorIs(t, l.Unlock(bg), lock.ErrReleased)
			})
		})
	}
}

func TestNothingIsRenewedAfterClose(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex())
		time.Sleep(time.Minute)
		require.NoError(t, p.locks.Close())
		renewed := len(renewals(w.nodes[0]))
		synctest.Wait()
		requireHolder(t, "", w.nodes)
		time.Sleep(long)
		require.Len(t, renewals(w.nodes[0]), renewed)
		require.ErrorIs(t, l.Err(), lock.ErrReleased)
	})
}

func TestUnlockIsBoundedWhenTheNetworkIsLost(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				l := w.lock(w.process().mutex())
				synctest.Wait()
				each(w.nodes, fault)
				time.Sleep(defaultTTL/3 - defaultTTL/24)
				start := time.Now()
				require.ErrorIs(t, l.Unlock(bg), redlock.ErrNoQuorum)
				require.LessOrEqual(t, time.Since(start), 2*defaultNodeTimeout)
				require.ErrorIs(t, l.Err(), lock.ErrReleased)
			})
		})
	}
}

func TestReleaseThatNobodyHeardIsMadeWhenNodesComeBack(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		synctest.Wait()
		each(w.nodes, func(n *virtual.Node) { n.Silence(true) })
		require.ErrorIs(t, l.Unlock(bg), redlock.ErrNoQuorum)
		time.Sleep(5 * time.Second)
		each(w.nodes, func(n *virtual.Node) { n.Silence(false) })
		time.Sleep(5 * time.Second)
		requireHolder(t, "", w.nodes) // well before the TTL
	})
}

func TestReleaseThatNobodyHeardIsMadeAsLongAsAnExtensionHasTheKeyLive(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		for _, heard := range []bool{true, false} {
			l := w.lock(w.process().mutex(lock.WithTTL(time.Second)))
			if !heard {
				each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 500*time.Millisecond) })
			}
			err := l.Extend(bg, 10*time.Minute)
			require.Equal(t, heard, err == nil)
			each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
			each(w.nodes, func(n *virtual.Node) { n.Silence(true) })
			require.ErrorIs(t, l.Unlock(bg), redlock.ErrNoQuorum)
			time.Sleep(5 * time.Second)
			each(w.nodes, func(n *virtual.Node) { n.Silence(false) })
			time.Sleep(5 * time.Second)
			requireHolder(t, "", w.nodes) // well before the extension ends
		}
	})
}

func TestCloseOfManyLeasesIsBoundedWhileTheirRenewalsHang(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		w.lockMany(p, 150)
		synctest.Wait()
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		time.Sleep(defaultTTL/2 + 100*time.Millisecond)
		start := time.Now()
		require.ErrorIs(t, p.locks.Close(), redlock.ErrNoQuorum)
		require.LessOrEqual(t, time.Since(start), closeBound+2*defaultNodeTimeout)
	})
}

func TestCloseDoesNotWaitForALogHandlerThatBlocks(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		blocked := make(chan struct{})
		p := w.process(lock.WithLogger(slog.New(handler(func() { <-blocked }))))
		l := w.lock(p.mutex(lock.WithoutWatchdog()))
		awaitEnd(t, l)
		synctest.Wait()
		start := time.Now()
		require.NoError(t, p.locks.Close())
		require.LessOrEqual(t, time.Since(start), defaultNodeTimeout)
		close(blocked)
	})
}

// A handler is called for each record.
type handler func()

func (h handler) Enabled(context.Context, slog.Level) bool  { return true }
func (h handler) Handle(context.Context, slog.Record) error { h(); return nil }
func (h handler) WithAttrs([]slog.Attr) slog.Handler        { return h }
func (h handler) WithGroup(string) slog.Handler             { return h }

func TestWhatRacesCloseIsClosed(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(5*time.Millisecond, 5*time.Millisecond) })
		for pause := range 25 {
			p := w.process()
			outer := w.lock(p.mutex())
			inner, err := p.mutex().Lock(outer.Context(bg))
			require.NoError(t, err)
			results := make(chan error, 3)
			go func() {
				_, err := p.mutex().Lock(outer.Context(bg))
				results <- err
			}()
			go func() { results <- inner.Unlock(bg) }()
			go func() { results <- inner.Extend(bg, time.Minute) }()
			time.Sleep(time.Duration(pause) * time.Millisecond)
			require.NoError(t, p.locks.Close())
			for range cap(results) {
				if err := <-results; err != nil && !errors.Is(err, lock.ErrReleased) {
					require.ErrorIs(t, err, lock.ErrClosed)
				} else if err != nil {
					var lease *lock.LeaseError
					require.ErrorAs(t, err, &lease, "no acquisition is an ErrReleased")
				}
				require.NotErrorIs(t, err, lock.ErrLost)
			}
			_, err = p.mutex().Lock(outer.Context(bg))
			require.ErrorIs(t, err, lock.ErrClosed)
			require.NotErrorIs(t, err, lock.ErrReleased)
			require.ErrorIs(t, outer.Unlock(bg), lock.ErrClosed)
		}
	})
}

// Whoever loses a lease ends its contexts first and then cleans up. A Close at that moment waits for it.
func TestCloseWaitsForALossThatIsBeingCleanedUp(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		var told atomic.Int64
		p := w.process(lock.WithObserver(lock.Observer{HoldEnded: func(context.Context, lock.HoldEnd) { told.Add(1) }}))
		l := w.lock(p.mutex())
		for range 20_000 { // to end them all takes a while
			ctx, cancel := context.WithCancel(bg)
			defer cancel()
			l.Context(ctx)
		}
		synctest.Wait()
		each(w.quorum(), func(n *virtual.Node) { n.Delete(keys.Lock) })
		<-l.Done()
		require.NoError(t, p.locks.Close())
		require.ErrorIs(t, l.Err(), lock.ErrLost)
		requireHolder(t, "", w.nodes)
		require.EqualValues(t, 1, told.Load())
	})
}

// A program whose work ends with its lease, and that closes the client before it ends, must not end before the locks are
// given back that another goroutine's Close, say that of a signal's handler, releases.
func TestASecondCloseWaitsForTheFirst(t *testing.T) {
	for name, second := range map[string]func(*lock.Client) error{
		"Close":    (*lock.Client).Close,
		"Shutdown": func(c *lock.Client) error { return c.Shutdown(bg) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				p := w.process()
				l := w.lock(p.mutex())
				each(w.nodes, func(n *virtual.Node) { n.SetDelay(50*time.Millisecond, 0) })
				first := make(chan time.Time, 1)
				go func() {
					_ = p.locks.Close()
					first <- time.Now()
				}()
				<-l.Done()
				require.ErrorIs(t, l.Unlock(bg), lock.ErrReleased)
				require.NoError(t, second(p.locks))
				for _, n := range w.nodes {
					require.False(t, n.Memory().Exists("lock:{orders}"))
				}
				require.Equal(t, <-first, time.Now())
			})
		})
	}
}

// It does not wait for ever: a callback that closes the client, though it must not, may be what the first one waits for.
func TestASecondCloseIsBounded(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		var p *process
		var took time.Duration
		ended := make(chan struct{})
		p = w.process(lock.WithObserver(lock.Observer{Waits: func(context.Context, lock.Acquisition) {
			go func() { defer close(ended); _ = p.locks.Close() }()
			synctest.Wait()
			start := time.Now()
			_ = p.locks.Close()
			took = time.Since(start)
		}}))
		w.lock(w.process().mutex())
		_, err := p.mutex().Lock(bg)
		require.ErrorIs(t, err, lock.ErrClosed)
		<-ended
		require.Equal(t, 3*time.Second, took)
	})
}

// An Unlock that has yet to release the lock when Close does has no word of a quorum to rely on.
func TestAnUnlockThatCloseForestallsSaysSo(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		ctx := lock.WithOwner(bg)
		l, err := p.mutex().Lock(ctx)
		require.NoError(t, err)
		each(w.nodes, func(n *virtual.Node) { n.Pause() })
		inner := wait(ctx, p.mutex(lock.WithTTL(long))) // has the owner's turn, to ask for more time
		synctest.Wait()
		unlocked := make(chan error, 1)
		go func() { unlocked <- l.Unlock(bg) }()
		synctest.Wait()
		require.ErrorIs(t, p.locks.Close(), lock.ErrNoQuorum)
		err = <-unlocked
		require.ErrorIs(t, err, lock.ErrReleased)
		require.ErrorIs(t, err, lock.ErrClosed)
		require.Error(t, (<-inner).err)
	})
}

func TestCloseReleasesWhatIsHeld(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex())
		require.NoError(t, p.locks.Close())
		require.ErrorIs(t, l.Err(), lock.ErrReleased)
		requireHolder(t, "", w.nodes)
	})
}

func TestClosedClientStartsNothing(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		require.NoError(t, p.locks.Close())
		_, err := p.mutex().TryLock(bg)
		require.ErrorIs(t, err, lock.ErrClosed)
		_, err = p.mutex().Inspect(bg)
		require.ErrorIs(t, err, lock.ErrClosed)
	})
}
