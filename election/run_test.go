package election_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/virtual"
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

// A candidate that waits or has led also waits for nodes that refuse its commands. One that begins is told of it.
func TestACandidateWaitsForNodesThatRefuseItForAWhile(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		ctx, stop := context.WithCancel(bg)
		first, second := w.candidate("first"), w.candidate("second")
		one, two := first.run(ctx, follow), second.run(ctx, follow)
		refuse := func(match func([]string) bool) {
			for _, n := range w.nodes {
				n.Refuse(match)
			}
		}
		for range 2 {
			late := w.candidate("late")
			refuse(virtual.Name("EVAL", "EVALSHA"))
			require.ErrorIs(t, <-late.run(ctx, follow), lock.ErrNoQuorum)
			time.Sleep(2 * ttl)
			require.Empty(t, one)
			require.Empty(t, two)
			refuse(nil)
			time.Sleep(2 * ttl)
			w.mu.Lock()
			require.NotEmpty(t, w.leading)
			w.mu.Unlock()
		}
		stop()
		require.ErrorIs(t, <-one, context.Canceled)
		require.ErrorIs(t, <-two, context.Canceled)
	})
}

// A leader that does not look at its context is succeeded when the keys have expired and no
// sooner, and Run tells of it if it does not go on.
// A leader whose connections are closed, and for good, does not stand again.
func TestALeaderWhoseRedisClientsAreClosedDoesNotRunAgain(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		h := virtual.NewHost(w.nodes)
		clients := h.Clients(t)
		c, err := lock.NewClient(clients)
		require.NoError(t, err)
		defer c.Close()
		done := (&candidate{Host: h, Election: election.New(c, "scheduler", "first"), world: w, locks: c, name: "first"}).run(bg, follow)
		for _, c := range clients {
			require.NoError(t, c.Close())
		}
		select {
		case err = <-done:
		case <-time.After(time.Hour):
		}
		require.ErrorIs(t, err, redis.ErrClosed)
		w.requireTerms("first")
	})
}

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

// Contexts that lead makes of its own, as for a query with a timeout, end as if they were made of Run's.
func TestContextsOfTheWorkEndWithTheErrorOfWhatEndsThem(t *testing.T) {
	shutdown := errors.New("shutdown")
	for name, c := range map[string]struct {
		ctx    func() (context.Context, context.CancelFunc) // of Run
		during func(*candidate)                             // what happens while the candidate leads
		err    error
		cause  error
	}{
		"the deadline": {
			func() (context.Context, context.CancelFunc) { return context.WithTimeout(bg, time.Minute) },
			func(*candidate) {}, context.DeadlineExceeded, context.DeadlineExceeded,
		},
		"the deadline, with a cause": {
			func() (context.Context, context.CancelFunc) {
				return context.WithTimeoutCause(bg, time.Minute, shutdown)
			},
			func(*candidate) {}, context.DeadlineExceeded, shutdown,
		},
		"a cancellation": {
			func() (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancelCause(bg)
				time.AfterFunc(time.Minute, func() { cancel(shutdown) })
				return ctx, func() { cancel(nil) }
			},
			func(*candidate) {}, context.Canceled, shutdown,
		},
		// The loss comes first, so it remains what has ended the work when the deadline has passed, too.
		"a loss": {
			func() (context.Context, context.CancelFunc) { return context.WithTimeout(bg, time.Minute) },
			func(c *candidate) {
				_, err := fair.New(c.locks, "scheduler").ForceUnlock(bg)
				require.NoError(c.world.t, err)
			},
			context.Canceled, lock.ErrLost,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorlds(t, func(t *testing.T, w *world) {
				candidate := w.candidate("one")
				ctx, cancel := c.ctx()
				defer cancel()
				err := candidate.Run(ctx, func(work context.Context, _ election.Term) error {
					type key struct{}
					child, cancel := context.WithCancel(work)
					defer cancel()
					timed, cancel := context.WithTimeout(work, time.Hour)
					defer cancel()
					grandchild, cancel := context.WithTimeout(context.WithValue(child, key{}, "value"), time.Hour)
					defer cancel()
					c.during(candidate)
					time.Sleep(2 * time.Minute)
					for of, ctx := range map[string]context.Context{"lead": work, "child": child, "timed": timed, "grandchild": grandchild} {
						require.Equal(t, c.err, ctx.Err(), of)
						require.ErrorIs(t, context.Cause(ctx), c.cause, of)
					}
					return nil
				})
				if errors.Is(c.cause, lock.ErrLost) {
					require.ErrorIs(t, err, lock.ErrLost)
				} else {
					require.NoError(t, err, "the leadership was kept and given back")
				}
				_, err = candidate.Leader(bg)
				require.ErrorIs(t, err, election.ErrNoLeader)
			})
		})
	}
}

// What lead starts and leaves behind ends before anybody else leads.
func TestTheContextOfTheWorkEndsWhenLeadHasReturned(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		first, second := w.candidate("first"), w.candidate("second")
		var work context.Context
		ran := first.run(bg, func(ctx context.Context, term election.Term) error {
			work = ctx
			return leadFor(time.Minute)(ctx, term)
		})
		var before error
		followed := second.run(bg, func(context.Context, election.Term) error {
			before = work.Err()
			return nil
		})
		require.NoError(t, <-ran)
		require.NoError(t, <-followed)
		require.ErrorIs(t, before, context.Canceled)
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
		require.Same(t, full, c.Run(bg, func(context.Context, election.Term) error { return full }), "itself, and not joined with nothing")
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

// Neither the candidate nor lead is the owner that Run's context carries.
func TestWhatRunsOwnerHoldsIsAnothersInLead(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		c := w.candidate("first")
		stock := fair.New(c.locks, "stock")
		held, err := stock.Lock(bg)
		require.NoError(t, err)
		ctx := held.Context(bg)
		again, err := stock.TryLock(ctx)
		require.NoError(t, err)
		require.NoError(t, c.Run(ctx, func(ctx context.Context, _ election.Term) error {
			_, err := stock.TryLock(ctx)
			require.ErrorIs(t, err, lock.ErrLocked)
			return nil
		}))
		require.NoError(t, again.Unlock(bg))
		require.NoError(t, held.Unlock(bg))
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

// A client that is shut down lets its leader finish, which has to be told to by the end of Run's context, and ends the
// candidacy of whoever waits.
func TestAShutdownWaitsForTheLeaderToReturn(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		first, second := w.candidate("first"), w.candidate("second")
		ctx, stop := context.WithCancel(bg)
		returned := false
		ran := first.run(ctx, func(ctx context.Context, _ election.Term) error {
			<-ctx.Done()
			time.Sleep(time.Minute) // it cleans up
			returned = true
			return nil
		})
		waited := first.run(bg, follow)
		alone := false
		followed := second.run(bg, func(context.Context, election.Term) error {
			alone = returned
			return nil
		})
		shut := make(chan error, 1)
		patience, cancel := context.WithTimeout(bg, 10*time.Minute)
		defer cancel()
		go func() { shut <- first.locks.Shutdown(patience) }()
		require.ErrorIs(t, <-waited, lock.ErrClosed)
		time.Sleep(3 * time.Minute)
		require.Empty(t, shut, "it waits, and does not tell the leader to stop")
		require.Empty(t, ran)
		stop()
		require.NoError(t, <-shut)
		require.NoError(t, <-ran)
		require.NoError(t, <-followed)
		require.True(t, alone)
	})
}

// A client that is closed takes the leadership away at once, as it does every lease.
func TestACloseDoesNotWaitForTheLeaderToReturn(t *testing.T) {
	for name, end := range map[string]func(*lock.Client) error{
		"close": (*lock.Client).Close,
		"shutdown without patience": func(c *lock.Client) error {
			ctx, cancel := context.WithTimeout(bg, time.Second)
			defer cancel()
			return c.Shutdown(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorlds(t, func(t *testing.T, w *world) {
				first, second := w.candidate("first"), w.candidate("second")
				var work context.Context
				ran := first.run(bg, func(ctx context.Context, _ election.Term) error {
					work = ctx
					<-ctx.Done()
					time.Sleep(time.Minute) // it cleans up
					return nil
				})
				followed := make(chan error, 1)
				var ended error // the first leader's context, when the second one leads
				go func() {
					followed <- second.Run(bg, func(context.Context, election.Term) error {
						ended = work.Err()
						return nil
					})
				}()
				synctest.Wait()
				_ = end(first.locks)
				require.NoError(t, <-followed)
				require.ErrorIs(t, ended, context.Canceled)
				require.Empty(t, ran, "it still cleans up")
				require.ErrorIs(t, <-ran, lock.ErrClosed)
				require.ErrorIs(t, context.Cause(work), lock.ErrClosed)
			})
		})
	}
}

func TestACandidateNeedsAName(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		nobody := w.candidate("")
		require.ErrorContains(t, nobody.Run(bg, follow), `election "scheduler": the candidate has no name`)
		require.ErrorContains(t, w.candidate("a").Run(bg, nil), `election "scheduler": Run has no function to call`)
		_, err := nobody.Leader(bg)
		require.ErrorIs(t, err, election.ErrNoLeader)
		require.ErrorContains(t, election.New(nobody.locks, "", "x").Run(bg, follow), "name of a lock is empty")
		require.Empty(t, w.seen())
	})
}

// Whoever calls gave the name of a candidate and no note, and every call says so, before a node is asked.
func TestACandidateWithABadNameIsRefusedByEveryCall(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		locks := w.candidate("").locks
		require.NoError(t, election.New(locks, "scheduler", strings.Repeat("a", 256)).Run(bg, leadFor(time.Second)), "the longest name")
		for _, n := range w.nodes {
			n.Silence(true) // a node that is asked does not answer
		}
		for name, want := range map[string]string{
			strings.Repeat("a", 257): `election "scheduler": the candidate's name is 257 bytes long, the limit is 256`,
			"two\nlines":             `election "scheduler": the candidate's name "two\nlines" has a character that cannot be printed: '\n'`,
			"\xff":                   `election "scheduler": the candidate's name "\xff" is not valid UTF-8`,
		} {
			odd := election.New(locks, "scheduler", name)
			require.EqualError(t, odd.Run(bg, follow), want)
			_, err := odd.Leader(bg)
			require.EqualError(t, err, want)
			changes := 0
			for _, err := range odd.Watch(bg) {
				require.EqualError(t, err, want)
				changes++
			}
			require.Equal(t, 1, changes)
		}
		require.Empty(t, w.seen())
		for _, n := range w.nodes {
			n.Silence(false)
		}
	})
}

// A leader that returns nil when its context has ended with its leadership has not resigned: it is a candidate again. One
// whose own deadline is over at the same time has failed.
func TestWhatALeaderReturnsAfterALossDecides(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		c, runs := w.candidate("one"), 0
		lose := func(ctx context.Context) {
			_, err := fair.New(c.locks, "scheduler").ForceUnlock(bg)
			require.NoError(t, err)
			<-ctx.Done()
		}
		require.NoError(t, c.Run(bg, func(ctx context.Context, _ election.Term) error {
			if runs++; runs == 1 {
				lose(ctx)
			}
			return nil
		}))
		require.Equal(t, 2, runs)

		runs = 0
		err := c.Run(bg, func(ctx context.Context, _ election.Term) error {
			if runs++; runs > 1 {
				return nil
			}
			own, cancel := context.WithTimeout(bg, time.Second)
			defer cancel()
			<-own.Done()
			lose(ctx)
			return own.Err()
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, lock.ErrLost)
		require.Equal(t, 1, runs)
	})
}

// The candidate takes the place of a note, and options that several elections share are left as they are.
func TestACandidateHasItsNameWhateverTheOptions(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		c := w.candidate("one")
		shared := make([]lock.Option, 0, 8)
		shared = append(shared, lock.WithNote("of the caller"))
		first := election.New(c.locks, "first", "one", shared...)
		second := election.New(c.locks, "second", "two", shared...)
		require.Len(t, shared[:cap(shared)], 8)
		for _, o := range shared[1:cap(shared)] {
			require.Nil(t, o, "the caller's slice is its own")
		}
		for name, e := range map[string]*election.Election{"one": first, "two": second} {
			require.NoError(t, e.Run(bg, func(context.Context, election.Term) error {
				time.Sleep(time.Second)
				term, err := e.Leader(bg)
				require.NoError(t, err)
				require.Equal(t, name, term.Candidate)
				return nil
			}))
		}
	})
}
