package election

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/lock"
)

const (
	// lookEvery is the longest pause between two looks of Watch. Only the next candidate is told that a hold has ended,
	// and a watcher is not a candidate.
	lookEvery = 200 * time.Millisecond
	// unsureFor is how many looks in a row may find too few nodes before Watch reports that:
	// connections break, and are made again.
	unsureFor = 3
	// A leader writes its name right after its election. A look that comes in between is repeated.
	namePause = 10 * time.Millisecond
	nameLooks = 20
	// lingers is the end of the holder's id if the lock is only kept from others, for the rest of a minimum
	// hold or after a loss: nobody leads then (see lock.State).
	lingers = " lingers"
)

// Leader tells who leads, as a quorum of nodes sees it. The error is [ErrNoLeader] if nobody does,
// and wraps [lock.ErrNoQuorum] if too few nodes can tell. The candidate is the note of the lock's holder,
// which is a leader's name. It is empty if the nodes were not reached when the leader wrote its name: it
// writes it again with its next renewal, after a third of the TTL. Since is zero then, because the leader
// writes both together.
func (e *Election) Leader(ctx context.Context) (Term, error) {
	if e.invalid != nil {
		return Term{}, e.invalid
	}
	var s lock.State
	for look := 1; ; look++ {
		var err error
		s, err = e.mutex.Inspect(ctx)
		switch {
		case err != nil:
			return Term{}, fmt.Errorf("election: %w", err)
		case s.Status == lock.StatusFree, strings.HasSuffix(s.Holder, lingers):
			return Term{}, fmt.Errorf("election %q: %w", e.Name(), ErrNoLeader)
		}
		// Undecided means that a quorum is being found, or that there cannot be one.
		if s.Held && s.Note != "" || look == nameLooks {
			break
		}
		_ = sleep(ctx, namePause) // if ctx has ended, the next look says so
	}
	if !s.Held {
		return Term{}, fmt.Errorf("election %q: no quorum of nodes has the same leader: %w", e.Name(), lock.ErrNoQuorum)
	}
	term := Term{Candidate: s.Note, Token: s.Token, Hold: s.Holder}
	if s.HeldFor > 0 { // else no node can tell: its beginning stands beside the name, and was lost with it
		term.Since = time.Now().Add(-s.HeldFor)
	}
	return term, nil
}

// Watch reports who leads now, and then each change: a new leader, [ErrNoLeader] when there is no
// leader any more, and an error that wraps [lock.ErrNoQuorum] when too few nodes can tell for a
// while; after that the leader is reported again. So is one whose candidate was empty, as soon as it is
// known, and with it Since; the hold is the same then. It ends with ctx, with the loop, and after any
// other error. It pauses for up to 0.2 s between looks, so it may miss a shorter term.
//
//	for term, err := range e.Watch(ctx) {
//		switch {
//		case err == nil:
//			forwardTo(term.Candidate)
//		default:
//			hold() // nobody leads, or who does is not known
//		}
//	}
func (e *Election) Watch(ctx context.Context) iter.Seq2[Term, error] {
	return func(yield func(Term, error) bool) {
		var last Term // of the last report
		var told view // nothing reported yet
		for unsure := 0; ; {
			term, err := e.Leader(ctx)
			if ctx.Err() != nil {
				return
			}
			seen := viewOf(err)
			if unsure++; seen != unknown {
				unsure = 0
			}
			settled := seen != unknown || unsure == unsureFor || told == untold
			// A name that is not seen any more is no change: it is still that of the hold.
			named := last.Candidate == "" && term.Candidate != ""
			if settled && (seen != told || term.Hold != last.Hold || named) {
				if !yield(term, err) {
					return
				}
				told, last = seen, term
			}
			if seen == broken || sleep(ctx, lookEvery-rand.N(lookEvery/4)) != nil {
				return
			}
		}
	}
}

// A view is the result of a look at the leadership.
type view uint8

const (
	untold  view = iota
	led          // somebody leads
	vacant       // nobody leads
	unknown      // too few nodes can tell
	broken       // another look is no use
)

func viewOf(err error) view {
	switch {
	case err == nil:
		return led
	case errors.Is(err, ErrNoLeader):
		return vacant
	case errors.Is(err, lock.ErrNoQuorum):
		return unknown
	default:
		return broken
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
