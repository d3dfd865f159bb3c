package election_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
)

func TestCandidatesLeadOneAfterAnotherInTheirOrder(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		names := []string{"one", "two", "three", "four"}
		var done []<-chan error
		start := time.Now()
		for _, name := range names {
			done = append(done, w.candidate(name).run(bg, leadFor(time.Minute)))
		}
		for i := range names {
			require.NoError(t, <-done[i])
			require.Equal(t, time.Duration(i+1)*time.Minute, time.Since(start).Round(time.Second), names[i])
		}
		w.requireTerms(names...)
	})
}

// A leader that is cut off sees its end before anybody else leads, and may lead again.
func TestALeaderThatIsCutOffIsSucceededAndRunsAgain(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		first, second := w.candidate("first"), w.candidate("second")
		ctx, stop := context.WithCancel(bg)
		var causes []error
		ran := first.run(ctx, func(ctx context.Context, _ election.Term) error {
			<-ctx.Done()
			causes = append(causes, context.Cause(ctx))
			return ctx.Err()
		})
		followed := second.run(bg, leadFor(time.Minute))
		time.Sleep(time.Minute)
		first.Silence(true)
		cut := time.Now()
		for len(w.seen()) < 2 {
			time.Sleep(10 * time.Millisecond)
		}
		require.LessOrEqual(t, time.Since(cut), ttl+time.Second)
		first.Silence(false)
		require.NoError(t, <-followed)
		synctest.Wait()
		time.Sleep(time.Minute)
		w.requireTerms("first", "second", "first")
		require.Len(t, causes, 1)
		require.ErrorIs(t, causes[0], lock.ErrLost)
		stop()
		require.ErrorIs(t, <-ran, context.Canceled)
		require.Len(t, causes, 2)
		require.NotErrorIs(t, causes[1], lock.ErrLost)
	})
}

// seen are the terms so far.
func (w *world) seen() []election.Term {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.terms
}

// A leader that does not look at its context is succeeded when the keys have expired and no
// sooner, and Run tells of it if it does not go on.
func TestALeaderThatIgnoresItsLossIsSucceededWhenItMayBe(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		first, second := w.candidate("first"), w.candidate("second")
		ctx, stop := context.WithCancel(bg)
		ran := first.run(ctx, func(context.Context, election.Term) error {
			time.Sleep(2 * time.Minute)
			return nil
		})
		followed := second.run(bg, follow)
		time.Sleep(time.Minute)
		renewed := time.Now().Add(-ttl / 3) // or later
		first.Silence(true)
		for len(w.seen()) < 2 {
			time.Sleep(10 * time.Millisecond)
		}
		require.GreaterOrEqual(t, time.Since(renewed), ttl)
		require.Less(t, time.Since(renewed), ttl+ttl/3+time.Second)
		first.Silence(false)
		stop()
		err := <-ran
		require.ErrorIs(t, err, lock.ErrLost)
		var lost *lock.LeaseError
		require.ErrorAs(t, err, &lost)
		require.Equal(t, "scheduler", lost.Name)
		require.NoError(t, second.locks.Close())
		require.ErrorIs(t, <-followed, lock.ErrClosed)
	})
}

// A leader that resigns is no candidate again, though its leadership turns out to be lost when it is
// given back. Run tells of that.
func TestALeaderThatResignsUnawareOfItsLossIsNoCandidateAgain(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		c, terms := w.candidate("one"), 0
		err := <-c.run(bg, func(context.Context, election.Term) error {
			if terms++; terms > 1 {
				return nil
			}
			time.Sleep(time.Second) // every node has answered
			for _, n := range w.nodes {
				n.Flush()
			}
			return nil
		})
		require.ErrorIs(t, err, lock.ErrLost)
		time.Sleep(time.Minute)
		w.requireTerms("one")
	})
}

// Nor is one that returns at its very deadline, unless its loss was known here before.
func TestALeaderThatResignsAtItsDeadlineIsNoCandidateAgain(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		c := w.candidate("one", lock.WithoutWatchdog())
		resigned := 0
		for range 20 { // who comes first at one moment is up to chance
			terms := 0
			err := c.Run(bg, func(ctx context.Context, _ election.Term) error {
				if terms++; terms == 1 {
					lease, _ := lock.FromContext(ctx)
					time.Sleep(time.Until(lease.Deadline()))
				}
				return nil
			})
			if err == nil {
				require.Equal(t, 2, terms, "the loss was known")
				continue
			}
			resigned++
			require.ErrorIs(t, err, lock.ErrLost)
			require.Equal(t, 1, terms)
		}
		require.Positive(t, resigned)
	})
}

// The end of Run's context ends the work, and not the leadership before the work has ended.
func TestTheLeadershipIsGivenBackAfterLeadHasReturned(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		first, second := w.candidate("first"), w.candidate("second")
		ctx, stop := context.WithCancelCause(bg)
		var returned time.Time
		ran := first.run(ctx, func(ctx context.Context, _ election.Term) error {
			<-ctx.Done()
			time.Sleep(3 * ttl) // it cleans up
			returned = time.Now()
			return context.Cause(ctx)
		})
		var led time.Time
		followed := second.run(bg, func(context.Context, election.Term) error {
			led = time.Now()
			return nil
		})
		shutdown := errors.New("shutdown")
		time.Sleep(time.Minute)
		stop(shutdown)
		err := <-ran
		require.ErrorIs(t, err, shutdown)
		require.NotErrorIs(t, err, lock.ErrLost)
		require.NoError(t, <-followed)
		require.False(t, led.Before(returned))
		require.Less(t, led.Sub(returned), time.Second)
	})
}

func TestLeadHasTheDeadlineAndTheValuesOfRun(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		type key struct{}
		c := w.candidate("one")
		ctx, cancel := context.WithTimeout(context.WithValue(bg, key{}, "value"), time.Minute)
		defer cancel()
		require.ErrorIs(t, c.Run(ctx, func(work context.Context, term election.Term) error {
			require.Equal(t, "value", work.Value(key{}))
			want, _ := ctx.Deadline()
			deadline, ok := work.Deadline()
			require.True(t, ok)
			require.Equal(t, want, deadline)
			lease, ok := lock.FromContext(work)
			require.True(t, ok)
			require.Equal(t, term.Token, lease.Token())
			require.Equal(t, term.Hold, lease.ID())
			return follow(work, term)
		}), context.DeadlineExceeded)
		s, err := fair.New(c.locks, "scheduler").Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, lock.StatusFree, s.Status)
	})
}

func TestAPanicGivesTheLeadershipBackAndGoesOn(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		c := w.candidate("one")
		require.PanicsWithValue(t, "oh", func() {
			_ = c.Run(bg, func(context.Context, election.Term) error { panic("oh") })
		})
		_, err := c.Leader(bg)
		require.ErrorIs(t, err, election.ErrNoLeader)
	})
}

func TestAnErrorOfLeadEndsRun(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		full := errors.New("disk full")
		c := w.candidate("one")
		require.Equal(t, full, errors.Unwrap(wrapped{c.Run(bg, func(context.Context, election.Term) error { return full })}))
		_, err := c.Leader(bg)
		require.ErrorIs(t, err, election.ErrNoLeader)

		// So does one that has nothing to do with the loss that came at the same time.
		runs := 0
		err = c.Run(bg, func(ctx context.Context, _ election.Term) error {
			if runs++; runs > 1 {
				return errors.New("it is a candidate again")
			}
			_, err := fair.New(c.locks, "scheduler").ForceUnlock(bg)
			require.NoError(t, err)
			<-ctx.Done()
			return full
		})
		require.ErrorIs(t, err, full)
		require.ErrorIs(t, err, lock.ErrLost)
	})
}

// wrapped is an error that errors.Join has made of one.
type wrapped struct{ error }

func (w wrapped) Unwrap() error {
	if many, ok := w.error.(interface{ Unwrap() []error }); ok && len(many.Unwrap()) == 1 {
		return many.Unwrap()[0]
	}
	return w.error
}

func TestACandidateWhoseContextEndsLeavesTheQueue(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		leader, waits := w.candidate("leader"), w.candidate("waits")
		ran := leader.run(bg, leadFor(2*time.Minute))
		ctx, stop := context.WithCancel(bg)
		waited := waits.run(ctx, follow)
		queue := func() []string {
			s, err := fair.New(leader.locks, "scheduler").Inspect(bg)
			require.NoError(t, err)
			return s.Queue
		}
		require.Len(t, queue(), 1)
		stop()
		err := <-waited
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, lock.ErrLocked)
		require.ErrorContains(t, err, ": leader)", "who leads")
		synctest.Wait()
		require.Empty(t, queue())
		require.NoError(t, <-ran)
		w.requireTerms("leader")
	})
}

// Two runs of one process are two candidates, also under one owner.
func TestOneOwnerDoesNotLeadTwice(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		c := w.candidate("one")
		ctx := lock.WithOwner(bg)
		first := c.run(ctx, leadFor(time.Minute))
		second := c.run(ctx, leadFor(time.Minute))
		require.Len(t, w.seen(), 1)
		require.NoError(t, <-first)
		require.NoError(t, <-second)
		w.requireTerms("one", "one")
	})
}

func TestAClosedClientEndsRun(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		leader, waits := w.candidate("leader"), w.candidate("waits")
		led, waited := leader.run(bg, follow), waits.run(bg, follow)
		require.NoError(t, waits.locks.Close())
		require.ErrorIs(t, <-waited, lock.ErrClosed)
		require.NoError(t, leader.locks.Close())
		require.ErrorIs(t, <-led, lock.ErrClosed)
		require.ErrorIs(t, leader.Run(bg, follow), lock.ErrClosed)
	})
}

func TestACandidateNeedsAName(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		nobody := w.candidate("")
		require.ErrorContains(t, nobody.Run(bg, follow), `election "scheduler": the candidate has no name`)
		require.ErrorContains(t, w.candidate("a").Run(bg, nil), `election "scheduler": Run has no function to call`)
		_, err := nobody.Leader(bg)
		require.ErrorIs(t, err, election.ErrNoLeader)
		odd := election.New(nobody.locks, "scheduler", "two\nlines")
		require.ErrorContains(t, odd.Run(bg, follow), "cannot be printed")
		require.ErrorContains(t, election.New(nobody.locks, "", "x").Run(bg, follow), "name of a lock is empty")
		require.Empty(t, w.seen())
	})
}
