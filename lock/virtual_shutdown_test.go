package lock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

func TestShutdownLetsHoldersFinishAndGrantsNothing(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		theirs := w.lock(reentrantAt(w.process(), "stock"))
		l := w.lock(p.mutex())
		queued, behind := wait(bg, p.queue()), wait(bg, p.mutex())
		elsewhere := wait(l.Context(bg), reentrantAt(p, "stock"))
		synctest.Wait()
		start := time.Now()
		done := make(chan error)
		go func() { done <- p.locks.Shutdown(bg) }()
		for _, waits := range []<-chan grant{queued, behind, elsewhere} {
			g := await(t, waits)
			require.ErrorIs(t, g.err, lock.ErrClosed)
			require.Equal(t, start, g.at, "who waits is told at once")
		}
		_, err := reentrantAt(p, "free").TryLock(bg)
		require.ErrorIs(t, err, lock.ErrClosed)
		inner, err := p.mutex().Lock(l.Context(bg))
		require.NoError(t, err, "a holder may re-enter")
		time.Sleep(long)
		require.NoError(t, l.Err(), "it is renewed")
		require.NoError(t, inner.Unlock(bg))
		require.NoError(t, l.Unlock(bg))
		require.NoError(t, <-done)
		require.NoError(t, p.locks.Shutdown(bg), "once more")
		require.NoError(t, theirs.Unlock(bg))
		requireHolder(t, "", w.nodes)
	})
}

func TestShutdownThatIsCutShortClosesTheClient(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex())
		ctx, cancel := context.WithTimeout(bg, time.Minute)
		defer cancel()
		start := time.Now()
		err := p.locks.Shutdown(ctx)
		require.Equal(t, time.Minute, time.Since(start))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "a lock was held")
		require.ErrorIs(t, l.Err(), lock.ErrReleased)
		requireHolder(t, "", w.nodes)
	})
}

// It is no peaceful end if somebody else takes the leases meanwhile.
func TestShutdownTellsThatAnotherGoroutineTookTheLeases(t *testing.T) {
	for name, end := range map[string]func(*lock.Client){
		"a Close": func(c *lock.Client) { _ = c.Close() },
		"a Shutdown": func(c *lock.Client) {
			ctx, cancel := context.WithTimeout(bg, time.Second)
			defer cancel()
			_ = c.Shutdown(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				p := w.process()
				l := w.lock(p.mutex())
				w.lock(reentrantAt(p, "stock"))
				done := make(chan error)
				go func() { done <- p.locks.Shutdown(bg) }()
				synctest.Wait()
				end(p.locks)
				require.ErrorIs(t, l.Err(), lock.ErrReleased)
				err := <-done
				require.ErrorIs(t, err, lock.ErrClosed)
				require.ErrorContains(t, err, "closed while 2 locks were held")
				require.NoError(t, p.locks.Shutdown(bg), "of a client that was closed before")
			})
		})
	}
}

// A context that has somebody close a client as it ends.
type closingContext struct {
	context.Context
	client *lock.Client
}

func (c closingContext) Done() <-chan struct{} {
	_ = c.client.Close()
	return c.Context.Done()
}

func TestShutdownThatEndsAsAnotherGoroutineTakesTheLeasesTellsSo(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		over, end := context.WithCancel(bg)
		end()
		for range 20 { // it may see either end first
			p := w.process()
			l := w.lock(p.mutex())
			err := p.locks.Shutdown(closingContext{over, p.locks})
			require.ErrorIs(t, err, lock.ErrClosed)
			require.ErrorContains(t, err, "while a lock was held")
			require.ErrorIs(t, l.Err(), lock.ErrReleased)
		}
	})
}

func TestShutdownDoesNotWaitForWhatIsLost(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		w.lock(p.mutex(lock.WithoutWatchdog()))
		start := time.Now()
		ctx, cancel := context.WithTimeout(bg, long)
		defer cancel()
		require.NoError(t, p.locks.Shutdown(ctx))
		require.Equal(t, validity(defaultTTL), time.Since(start))
	})
}

func TestShutdownOfAnIdleClientIsAClose(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		require.NoError(t, w.lock(p.mutex()).Unlock(bg))
		start := time.Now()
		ctx, cancel := context.WithTimeout(bg, long)
		defer cancel()
		require.NoError(t, p.locks.Shutdown(ctx))
		require.Equal(t, start, time.Now())
	})
}

func TestGrantThatRacesShutdownIsGivenBack(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(50*time.Millisecond, 50*time.Millisecond) })
		waits := wait(bg, p.mutex())
		time.Sleep(75 * time.Millisecond)
		require.NoError(t, p.locks.Shutdown(bg))
		require.ErrorIs(t, (<-waits).err, lock.ErrClosed)
		requireHolder(t, "", w.nodes)
	})
}

func TestHealthTellsWhoVotesAndHowManyMayGo(t *testing.T) {
	inVirtualTime(t, []int{5}, func(t *testing.T, w *world) {
		p := w.process()
		health := p.locks.Health(bg)
		require.Equal(t, 2, lock.Spare(health))
		for i, h := range health {
			require.Equal(t, lock.NodeHealth{Address: w.nodes[i].Addr(), Up: true, Votes: true}, h)
		}
		each(w.minority(), func(n *virtual.Node) { n.Silence(true) })
		start := time.Now()
		w.nodes[3].Refuse(runs(lua.Ready{}))
		health = p.locks.Health(bg)
		require.True(t, health[3].Up, "it answers, if only with an error")
		require.False(t, health[3].Votes)
		w.nodes[3].Refuse(nil)
		health = p.locks.Health(bg)
		require.Equal(t, 2*defaultNodeTimeout, time.Since(start))
		require.Zero(t, lock.Spare(health))
		require.False(t, health[0].Up)
		require.False(t, health[0].Votes)
		require.ErrorIs(t, health[0].Err, redlock.ErrSilent)
		require.True(t, health[4].Votes)
		require.NoError(t, p.locks.Close())
		for _, h := range p.locks.Health(bg) {
			require.ErrorIs(t, h.Err, lock.ErrClosed)
			require.False(t, h.Votes)
		}
	})
}

// A caller with less time than a node timeout, such as a readiness check, hears of the nodes that have answered.
func TestHealthWhoseTimeIsOverTellsWhatNodesHaveAnswered(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		p := w.process()
		w.nodes[0].Silence(true)
		ctx, cancel := context.WithTimeout(bg, defaultNodeTimeout/2)
		defer cancel()
		health := p.locks.Health(ctx)
		require.Zero(t, lock.Spare(health))
		require.ErrorIs(t, health[0].Err, context.DeadlineExceeded)
		require.False(t, health[0].Up)
		require.Equal(t, lock.NodeHealth{Address: w.nodes[1].Addr(), Up: true, Votes: true}, health[1])
	})
}

// A node that the restart guard keeps out is up and has no vote, and says why.
func TestHealthTellsWhomTheGuardKeepsOut(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		p := w.process(lock.WithRestartGuard(time.Minute))
		time.Sleep(time.Hour)
		require.Equal(t, 1, lock.Spare(p.locks.Health(bg)))
		w.nodes[0].Reboot()
		w.loadScripts()
		_ = p.locks.Health(bg) // of broken connections, which a real network tells of
		time.Sleep(time.Second)
		health := p.locks.Health(bg)
		require.True(t, health[0].Up)
		require.False(t, health[0].Votes)
		require.ErrorIs(t, health[0].Err, lock.ErrRestarted)
		require.True(t, health[1].Votes)
		require.Zero(t, lock.Spare(health))
		time.Sleep(time.Minute)
		require.Equal(t, 1, lock.Spare(p.locks.Health(bg)))
	})
}

func TestEveryHoldIdBeginsWithTheClients(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex())
		require.Contains(t, l.ID(), p.locks.ID()+":")
		require.NotEqual(t, p.locks.ID(), w.process().locks.ID())
	})
}

func TestShutdownTellsThatAnotherGoroutineTookTheOnlyLease(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		w.lock(p.mutex())
		done := make(chan error)
		go func() { done <- p.locks.Shutdown(bg) }()
		synctest.Wait()
		require.NoError(t, p.locks.Close())
		err := <-done
		require.ErrorIs(t, err, lock.ErrClosed)
		require.ErrorContains(t, err, "closed while a lock was held")
	})
}
