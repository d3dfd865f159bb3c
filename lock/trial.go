package lock

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/redlock"
)

// A trial is one of several TryLocks that are made together. It takes the same steps as a single
// one, but all trials take each step before any takes the next. So the commands are sent together,
// and the caller's goroutine is enough, as long as no trial has to wait for anything but the
// answers.
//
// Why a step of one trial cannot wait for a later step of another: before the answers are there,
// nothing waits. If a slot's turn is taken, for example by an earlier trial of the same name and
// owner, the trial is left until the trials that need not wait have finished.
type trial struct {
	acquisition
	opened bool // close must follow

	tenure *tenure         // that it has asked for, and has the slot's turn for; nil: it has not
	ballot *redlock.Ballot // of the tenure
	denied *denial         // what that came to, if it is worth another attempt
	over   bool

	lease **Lease // what it has come to
	err   *error
}

// try runs trials, and returns when all of them are over.
func try(ctx context.Context, trials []trial) {
	began, patience := time.Now(), time.Duration(0)
	defer closeAll(trials) // also if an observer ends the goroutine, as a test does that fails
	for i := range trials {
		t := &trials[i]
		t.ctx, t.began = ctx, began
		patience = max(patience, tryPatience(t.engine.client.group.NodeTimeout()))
		t.open()
	}
	bound, cancel := boundTry(ctx, began, patience)
	defer cancel()
	ballots := make([]*redlock.Ballot, 0, len(trials))
	for i := range trials {
		t := &trials[i]
		t.ctx = bound
		if t.draft(); t.ballot != nil {
			ballots = append(ballots, t.ballot)
		}
	}
	redlock.SendTogether(bound, ballots...)
	var rest []func(context.Context)
	for i := range trials {
		if t := &trials[i]; !t.over && !t.prompt() {
			rest = append(rest, func(ctx context.Context) {
				t.ctx = ctx
				t.finish()
			})
		}
	}
	redlock.Together(bound, rest...)
	closeAll(trials) // observers may close the client, which would wait for them
	told := false
	defer func() {
		if !told {
			forgo(trials)
		}
	}()
	for i := range trials {
		t := &trials[i]
		if l := *t.lease; l != nil && ctx.Done() != nil {
			l.waited = ctx
		}
		if t.observed != nil {
			t.engine.client.audience.end(&t.call, *t.lease, *t.err)
		}
	}
	told = true
}

// forgo unlocks what was granted, when an observer ends the goroutine: nobody else can.
func forgo(trials []trial) {
	for i := range trials {
		if l := *trials[i].lease; l != nil {
			_ = l.Unlock(trials[i].ctx)
		}
	}
}

// closeAll closes the trials that were opened.
func closeAll(trials []trial) {
	for i := range trials {
		if t := &trials[i]; t.opened {
			t.opened = false
			t.close()
		}
	}
}

// open reports to observers that the call has begun, and does what comes before the slot's turn.
func (t *trial) open() {
	if s := t.engine.client.audience; s != nil {
		s.begin(&t.call)
	}
	if err := t.acquisition.open(); err != nil {
		t.end(nil, err)
		return
	}
	t.opened = true
}

// draft queues an attempt, unless none is needed or it is another's turn.
func (t *trial) draft() {
	if t.over || !t.slot.takeNow() {
		return
	}
	if l, d, err := t.here(); l != nil || err != nil {
		t.slot.give()
		_, err = t.outcome(false, l, d, err)
		t.end(l, err)
		return
	}
	t.tenure = t.engine.newTenure(t.slot)
	t.tenure.brief = true
	t.ballot = t.tenure.draftClaim(true, false)
	t.ballot.Prepare()
}

// prompt finishes a trial that need not wait for anything but the answers to the attempt.
func (t *trial) prompt() bool {
	if t.ballot == nil || t.ballot.Wait(t.ctx) != nil || !t.tenure.isPrompt(t.ballot) {
		return false
	}
	return t.conclude()
}

// isPrompt reports whether concluding a claim with the result b needs no further round.
func (t *tenure) isPrompt(b *redlock.Ballot) bool {
	if t.engine.numbered != nil {
		return false
	}
	if !b.Won() {
		return !t.footprint.Present()
	}
	_, agree := t.minted(b)
	return agree >= t.engine.client.group.Quorum()
}

// conclude handles the result of the attempt, and reports whether it was the last one.
func (t *trial) conclude() (over bool) {
	l, d, err := t.tenure.conclude(t.ctx, t.ballot, t.ballot.Wait(t.ctx), nil)
	t.tenure, t.ballot = nil, nil
	t.slot.give()
	over, failed := t.outcome(false, l, d, err)
	if over {
		t.end(l, failed)
		return true
	}
	t.denied = d
	return false
}

// finish continues to the end like a single TryLock.
func (t *trial) finish() {
	if t.ballot != nil && t.conclude() {
		return
	}
	if t.denied != nil {
		if err := t.wait(t.denied); err != nil {
			t.end(nil, t.give(err, nothing))
			return
		}
	}
	l, err := t.attempts(false)
	t.end(l, err)
}

// end records the result of the trial.
func (t *trial) end(l *Lease, err error) {
	*t.lease, *t.err, t.over = l, err, true
}
