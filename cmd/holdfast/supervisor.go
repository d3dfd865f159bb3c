package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/lock"
)

// killAgain is the pause between two SIGKILLs to a group that does not go, or that has children meanwhile.
const killAgain = 20 * time.Millisecond

// Why a command was ended before its lease could expire.
var (
	errNotRenewed = errors.New("the lock could not be renewed")
	errMaxHold    = errors.New("the lock was held for --max-hold")
)

// A target is what a supervisor ends: a [*group].
type target interface {
	over() <-chan struct{}
	signal(s syscall.Signal) error
	end(s syscall.Signal) error
}

// A supervisor sees to it that a group does not outlive its lease.
type supervisor struct {
	lease  lease
	group  target
	grace  time.Duration
	margin time.Duration
	until  time.Time // when renewal stops for good, as --max-hold says; zero: never
	caught <-chan os.Signal
	events *events

	// Owned by run.
	lost       error     // why the group is being ended; nil: it is not
	killAt     time.Time // when SIGKILL is due, if it is
	killed     bool
	denied     bool // a warning has told that signals are not allowed
	interrupts int
	stopping   bool // a signal that asks to end was forwarded
}

// run returns when the group is gone: with nil if it ended by itself, and otherwise with the reason why it
// was ended. The lease may still be valid then, and must be given back in any case.
func (s *supervisor) run() error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	lost := s.lease.Done()
	for {
		select {
		case <-s.group.over():
			return s.lost
		case sig := <-s.caught:
			s.forward(sig.(syscall.Signal))
		case <-lost:
			lost = nil
		case <-timer.C:
		}
		timer.Reset(time.Until(s.look(time.Now())))
	}
}

// look does what is due, and returns when to look again.
func (s *supervisor) look(now time.Time) (next time.Time) {
	deadline := s.lease.Deadline() // it moves with each renewal
	kill := deadline.Add(-s.margin)
	switch err := s.lease.Err(); {
	case s.lost != nil:
	case err != nil:
		// The keys are gone, or this process was paused for longer than they live: nothing is left that
		// SIGKILL could be in time for.
		s.end(err, now.Add(s.grace))
	case !now.Before(kill.Add(-s.grace)):
		s.end(s.why(now), kill)
	default:
		return kill.Add(-s.grace)
	}
	if now.Before(s.killAt) {
		return s.killAt
	}
	s.told(s.group.end(syscall.SIGKILL))
	if !s.killed {
		s.killed = true
		s.events.tell(event{Event: "kill", Name: s.events.name})
	}
	return now.Add(killAgain)
}

// why is the reason why there was no renewal.
func (s *supervisor) why(now time.Time) error {
	if !s.until.IsZero() && !now.Before(s.until) {
		return errMaxHold
	}
	return errNotRenewed
}

// end begins to end the group. SIGCONT lets one that was stopped act on SIGTERM.
func (s *supervisor) end(why error, killAt time.Time) {
	s.lost, s.killAt = why, killAt
	err := s.group.end(syscall.SIGTERM)
	s.told(err, s.group.end(syscall.SIGCONT))
	s.events.lost(why)
}

// forward passes a signal on. A second Ctrl-C is for a command that does not heed the first.
func (s *supervisor) forward(sig syscall.Signal) {
	switch sig {
	case syscall.SIGTSTP:
		s.events.warn("not stopped, because the lock could not be renewed meanwhile; the command continues")
		return
	case syscall.SIGINT:
		if s.interrupts++; s.interrupts > 1 {
			s.told(s.group.signal(syscall.SIGKILL))
			return
		}
		s.stopping = true
	case syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTERM:
		s.stopping = true
	}
	err := s.group.signal(sig)
	switch sig {
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM:
		err = cmp.Or(err, s.group.signal(syscall.SIGCONT)) // one that is stopped acts on it only then
	}
	s.told(err)
}

// told warns of signals that were not allowed, once: of the first of these that is an error.
func (s *supervisor) told(errs ...error) {
	err := cmp.Or(errs...)
	if err == nil || s.denied {
		return
	}
	s.denied = true
	what := "the command"
	if part := new(partError); errors.As(err, &part) {
		what = "a part of the command"
	}
	s.events.warn(fmt.Sprintf("%s cannot be sent signals: %v", what, err))
}

// lossText says why a lock was lost, for people.
func lossText(err error) string {
	var l *lock.LeaseError
	switch {
	case errors.Is(err, errMaxHold):
		return err.Error()
	case !errors.As(err, &l):
		return err.Error() + "; `holdfast doctor` may tell why"
	}
	text := l.Reason.String()
	if l.Last != nil {
		text += ": " + l.Last.Error()
	}
	return fmt.Sprintf("%s (hold %s)", text, l.Hold)
}

// reasonOf is a word for scripts.
func reasonOf(err error) string {
	var l *lock.LeaseError
	switch {
	case errors.Is(err, errMaxHold):
		return "maxHold"
	case !errors.As(err, &l):
		return "notRenewed"
	case l.Reason == lock.ReasonGone:
		return "gone"
	case l.Reason == lock.ReasonForced:
		return "forced"
	case l.Reason == lock.ReasonMaxHold:
		return "maxHold"
	default:
		return "notRenewed"
	}
}
