package election_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/reentrant"
)

// noteKey is where the nodes have the leader's name.
var noteKey = func() string {
	k, err := lua.NewKeys("lock", "scheduler")
	if err != nil {
		panic(err)
	}
	return k.Note()
}()

func TestAnybodyIsToldWhoLeads(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		leader, observer := w.candidate("web-3"), w.candidate("")
		_, err := observer.Leader(bg)
		require.ErrorIs(t, err, election.ErrNoLeader)
		require.ErrorContains(t, err, `election "scheduler"`)

		start := time.Now()
		ran := leader.run(bg, leadFor(2*time.Minute))
		time.Sleep(time.Minute)
		term, err := observer.Leader(bg)
		require.NoError(t, err)
		led := w.seen()[0]
		require.WithinDuration(t, start, term.Since, 5*time.Millisecond)
		require.WithinDuration(t, start, led.Since, 5*time.Millisecond)
		term.Since = led.Since
		require.Equal(t, led, term)
		require.Equal(t, "web-3", term.Candidate)
		require.NoError(t, <-ran)
		_, err = observer.Leader(bg)
		require.ErrorIs(t, err, election.ErrNoLeader)
	})
}

func TestWhoLeadsIsNotKnownWithoutAQuorum(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		observer := w.candidate("")
		for _, n := range w.nodes {
			n.Silence(true)
		}
		_, err := observer.Leader(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		require.NotErrorIs(t, err, election.ErrNoLeader)
		ctx, cancel := context.WithCancel(bg)
		cancel()
		_, err = observer.Leader(ctx)
		require.ErrorIs(t, err, context.Canceled)
		for _, n := range w.nodes {
			n.Silence(false)
		}
	})
}

// A look that is waiting for the leader's name ends like any other call: with the context's error, and its cause.
func TestALookThatWaitsForANameEndsWithItsContext(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		observer := w.candidate("")
		lease, err := reentrant.New(observer.locks, "scheduler").Lock(bg)
		require.NoError(t, err)
		shutdown := errors.New("shutdown")
		ctx, cancel := context.WithCancelCause(bg)
		time.AfterFunc(55*time.Millisecond, func() { cancel(shutdown) })
		start := time.Now()
		_, err = observer.Leader(ctx)
		require.Equal(t, 55*time.Millisecond, time.Since(start))
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, shutdown)
		require.NoError(t, lease.Unlock(bg))
	})
}

// Something that is no candidate has the lock of the election.
func TestAHolderThatIsNoCandidateHasNoName(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		observer := w.candidate("")
		lease, err := reentrant.New(observer.locks, "scheduler").Lock(bg)
		require.NoError(t, err)
		for range 2 { // the second look is later, and the term is the same
			term, err := observer.Leader(bg)
			require.NoError(t, err)
			require.Empty(t, term.Candidate)
			require.Equal(t, lease.ID(), term.Hold)
			require.Zero(t, term.Since, "when it began is not known")
		}
		require.NoError(t, lease.Unlock(bg))
	})
}

// Each run of a candidate has a term of its own on the nodes, also if several are in one process, one behind the
// other: locks that are passed on there are not what Redis shows, and reserve tokens before they give them out.
func TestTermsOfOneProcessAreToldAsTheyAre(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		ctx, stop := context.WithCancel(bg)
		observer, c := w.candidate(""), w.candidate("web")
		changes, over := watch(ctx, observer.Election)
		var seen []election.Term
		lead := func(_ context.Context, term election.Term) error {
			time.Sleep(time.Second) // all stand in line
			led, err := observer.Leader(bg)
			led.Since = term.Since
			seen = append(seen, led)
			return err
		}
		runs := []<-chan error{c.run(bg, lead), c.run(bg, lead), c.run(bg, lead)}
		for _, ran := range runs {
			require.NoError(t, <-ran)
		}
		time.Sleep(time.Second)
		w.requireTerms("web", "web", "web")
		require.Equal(t, w.seen(), seen)
		var watched []election.Term
		for _, change := range changes() {
			if change.err == nil { // nobody leads for a moment in between, which a look may see
				watched = append(watched, change.term)
			}
		}
		require.Len(t, watched, len(seen))
		for i, term := range seen {
			require.Equal(t, term.Token, watched[i].Token)
			require.Equal(t, term.Hold, watched[i].Hold)
		}
		stop()
		<-over
	})
}

// A told is what a watcher was told, and when.
type told struct {
	term election.Term
	err  error
	at   time.Time
}

// watch has another goroutine watch, until ctx ends.
func watch(ctx context.Context, e *election.Election) (changes func() []told, over <-chan struct{}) {
	c := make(chan told, 1000)
	end := make(chan struct{})
	go func() {
		defer close(end)
		for term, err := range e.Watch(ctx) {
			c <- toldNow(term, err)
		}
	}()
	synctest.Wait()
	return func() (all []told) {
		for len(c) > 0 {
			all = append(all, <-c)
		}
		return all
	}, end
}

func toldNow(term election.Term, err error) told { return told{term, err, time.Now()} }

func TestWatchTellsEachChangeOnce(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		ctx, stop := context.WithCancel(bg)
		changes, over := watch(ctx, w.candidate("").Election)
		first, second := w.candidate("first"), w.candidate("second")
		time.Sleep(10 * time.Second)
		start := time.Now()
		one := first.run(bg, leadFor(10*time.Second))
		two := second.run(bg, leadFor(10*time.Second))
		require.NoError(t, <-one)
		require.NoError(t, <-two)
		time.Sleep(10 * time.Second)

		all := changes()
		require.Len(t, all, 4)
		require.ErrorIs(t, all[0].err, election.ErrNoLeader, "now")
		for i, name := range []string{"first", "second"} {
			change := all[i+1]
			require.NoError(t, change.err)
			require.Equal(t, name, change.term.Candidate)
			require.Equal(t, w.seen()[i].Token, change.term.Token)
			require.WithinDuration(t, start.Add(time.Duration(i)*10*time.Second), change.at, 250*time.Millisecond)
		}
		require.ErrorIs(t, all[3].err, election.ErrNoLeader)
		require.Zero(t, all[3].term)
		stop()
		<-over
	})
}

// What the leader tells of itself is lost, as its connection breaks: its term is told without its name, and once more
// when the name is known. No look that does not see the name any more makes it unknown again.
func TestWatchTellsANameThatIsKnownLater(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		ctx, stop := context.WithCancel(bg)
		refuse := func(match func([]string) bool) {
			for _, n := range w.nodes {
				n.Refuse(match)
			}
		}
		refuse(virtual.Script(lua.Note{}.Call().Script().SHA))
		start := time.Now()
		ran := w.candidate("first").run(ctx, follow)
		observer := w.candidate("")
		changes, over := watch(ctx, observer.Election)
		time.Sleep(time.Second)
		refuse(nil)
		all := changes()
		require.Len(t, all, 1)
		require.NoError(t, all[0].err)
		require.Empty(t, all[0].term.Candidate)
		require.Zero(t, all[0].term.Since, "when it began is told with the name")
		nameless := all[0].term

		time.Sleep(ttl/3 + time.Second) // a renewal, and a look
		all = changes()
		require.Len(t, all, 1)
		require.NoError(t, all[0].err)
		require.Equal(t, "first", all[0].term.Candidate)
		require.Equal(t, nameless.Hold, all[0].term.Hold)
		require.Equal(t, nameless.Token, all[0].term.Token)
		require.WithinDuration(t, start, all[0].term.Since, 5*time.Millisecond)
		term, err := observer.Leader(bg)
		require.NoError(t, err)
		require.Equal(t, "first", term.Candidate)

		for _, n := range w.nodes {
			n.Delete(noteKey)
		}
		time.Sleep(time.Minute)
		require.Empty(t, changes(), "nothing has changed")
		stop()
		<-over
		require.ErrorIs(t, <-ran, context.Canceled)
	})
}

// Somebody has resigned, or was lost, and the lock is kept from others for a while: nobody leads.
func TestNobodyLeadsWhileTheLockIsKept(t *testing.T) {
	const kept = 10 * time.Second
	for name, c := range map[string]struct {
		opt  lock.Option
		lead func(context.Context, election.Term) error
	}{
		"for a minimum hold": {lock.WithMinHold(kept), leadFor(time.Second)},
		"for a rest":         {lock.WithRest(kept), follow},
	} {
		t.Run(name, func(t *testing.T) {
			inWorlds(t, func(t *testing.T, w *world) {
				ctx, stop := context.WithCancel(bg)
				changes, over := watch(ctx, w.candidate("").Election)
				time.Sleep(time.Second)
				first := w.candidate("first")
				first.Election = election.New(first.locks, "scheduler", "first", c.opt, lock.WithTTL(2*time.Second), lock.WithMaxHold(2*time.Second))
				go func() { _ = first.Run(bg, first.leads(c.lead)) }()
				time.Sleep(5 * time.Second) // renewed for up to two seconds, it lasts for two more; and then somebody must look
				_, err := first.Leader(bg)
				require.ErrorIs(t, err, election.ErrNoLeader)
				all := changes()
				require.Len(t, all, 3, "nobody, somebody, nobody")
				require.ErrorIs(t, all[0].err, election.ErrNoLeader)
				require.Equal(t, "first", all[1].term.Candidate)
				require.ErrorIs(t, all[2].err, election.ErrNoLeader)
				stop()
				<-over
				require.NoError(t, first.locks.Close())
			})
		})
	}
}

// Nodes that are away for a while, and connections that break, end no watch.
func TestWatchGoesOnAfterAnOutage(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		ctx, stop := context.WithCancel(bg)
		observer := w.candidate("")
		ran := w.candidate("first").run(bg, leadFor(2*time.Minute))
		changes, over := watch(ctx, observer.Election)
		time.Sleep(10 * time.Second)
		observer.Reset()
		time.Sleep(10 * time.Second)
		require.Len(t, changes(), 1, "nothing has changed")
		observer.Silence(true)
		time.Sleep(10 * time.Second)
		all := changes()
		require.Len(t, all, 1)
		require.ErrorIs(t, all[0].err, lock.ErrNoQuorum)
		observer.Silence(false)
		time.Sleep(10 * time.Second)
		all = changes()
		require.Len(t, all, 1)
		require.NoError(t, all[0].err)
		require.Equal(t, "first", all[0].term.Candidate)

		require.NoError(t, observer.locks.Close())
		select {
		case <-over:
		case <-time.After(time.Minute):
			require.Fail(t, "it watches on and on")
		}
		all = changes()
		require.Len(t, all, 1)
		require.ErrorIs(t, all[0].err, lock.ErrClosed)
		stop()
		require.NoError(t, <-ran)
	})
}

// Whoever begins to watch is told at once if too few nodes can tell.
func TestWatchTellsAtOnceThatItCannotTell(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		ctx, stop := context.WithCancel(bg)
		observer := w.candidate("")
		observer.Silence(true)
		changes, over := watch(ctx, observer.Election)
		time.Sleep(300 * time.Millisecond) // the node timeout, and a little
		all := changes()
		require.Len(t, all, 1)
		require.ErrorIs(t, all[0].err, lock.ErrNoQuorum)
		stop()
		<-over
	})
}

func TestWatchEndsWithTheLoop(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		seen := 0
		for _, err := range w.candidate("").Watch(bg) {
			require.ErrorIs(t, err, election.ErrNoLeader)
			seen++
			break
		}
		require.Equal(t, 1, seen)
	})
}

// Short outages that come now and then are no outage that lasts.
func TestWatchForgetsAnOutageThatIsOver(t *testing.T) {
	inWorlds(t, func(t *testing.T, w *world) {
		leader, observer := w.candidate("web-3"), w.candidate("")
		ctx, cancel := context.WithCancel(bg)
		ran := leader.run(ctx, follow)
		time.Sleep(time.Second)
		var errs []error
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			for _, err := range observer.Watch(ctx) {
				errs = append(errs, err)
			}
		}()
		for range 6 { // each is seen by one look or by none
			time.Sleep(3 * time.Second)
			observer.Silence(true)
			time.Sleep(200 * time.Millisecond)
			observer.Silence(false)
		}
		time.Sleep(3 * time.Second)
		cancel()
		<-watched
		require.ErrorIs(t, <-ran, context.Canceled)
		synctest.Wait()
		require.Equal(t, []error{nil}, errs)
	})
}
