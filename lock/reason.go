package lock

import "fmt"

// A Reason says why a lease is over. Errors and logs show its text. The zero value is ReasonNone.
type Reason uint8

// The reasons. All but ReasonNone, ReasonUnlocked and ReasonClosed are losses.
const (
	ReasonNone       Reason = iota // the lease is not over, or the error is about something else
	ReasonUnlocked                 // its Unlock was called
	ReasonClosed                   // the client was closed
	ReasonNotRenewed               // no quorum confirmed a renewal before the validity ended
	ReasonGone                     // a quorum of nodes does not have the hold: it was deleted, evicted or flushed, or has expired there
	ReasonForced                   // ForceUnlock ended it
	ReasonExpired                  // a fixed lease ([WithoutWatchdog]) whose time is over
	ReasonMaxHold                  // renewal stopped for good ([WithMaxHold])
	ReasonAbandoned                // every context that its work was given has ended ([Lease.Context])
)

var reasons = [...]string{
	ReasonNone:       "no reason",
	ReasonUnlocked:   "unlocked",
	ReasonClosed:     "the client was closed",
	ReasonNotRenewed: "it was not renewed before its validity ended",
	ReasonGone:       "a quorum of nodes no longer has it",
	ReasonForced:     "it was ended by ForceUnlock",
	ReasonExpired:    "its fixed time is over",
	ReasonMaxHold:    "its maximum hold time is over",
	ReasonAbandoned:  "every context of its work has ended, so it was not renewed",
}

// String is the reason in words.
func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

var codes = [...]string{
	ReasonNone:       "none",
	ReasonUnlocked:   "unlocked",
	ReasonClosed:     "closed",
	ReasonNotRenewed: "not_renewed",
	ReasonGone:       "gone",
	ReasonForced:     "forced",
	ReasonExpired:    "expired",
	ReasonMaxHold:    "max_hold",
	ReasonAbandoned:  "abandoned",
}

// Code is the reason in one word, for metrics: for example "max_hold" for ReasonMaxHold.
func (r Reason) Code() string {
	if int(r) < len(codes) {
		return codes[r]
	}
	return fmt.Sprintf("reason_%d", uint8(r))
}

// MarshalText is String, for logs.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// end is what a lease that is over for r is: lost or released.
func (r Reason) end() error {
	switch r {
	case ReasonUnlocked, ReasonClosed:
		return ErrReleased
	default:
		return ErrLost
	}
}

// A LeaseError says what went wrong with which lease: it wraps [ErrLost], [ErrReleased],
// [ErrNoQuorum] or any other error that is its Err. [Lease.Err], [Lease.Extend] and [Lease.Unlock]
// return it, and it is the cause of the contexts of [Lease.Context].
type LeaseError struct {
	Op     string // "extend", "re-enter", "unlock" or "downgrade"; "" of [Lease.Err] and in causes of contexts
	Name   string // of the lock that the hold was taken by: a re-entry may have been by its other name
	Hold   string // the hold's id
	Err    error
	Reason Reason // why the lease is over, if Err is ErrLost or ErrReleased

	// Last is the error of the last round of renewals if Reason is ReasonNotRenewed: usually a
	// [*redlock.NoQuorumError] with the answer of each node. It is nil if there was no round.
	Last error
}

func (e *LeaseError) Error() string {
	op := e.Op
	if op == "" {
		op = "lock"
	}
	s := fmt.Sprintf("%s %q (hold %s): %v", op, e.Name, e.Hold, e.Err)
	if e.Reason != ReasonNone && e.Reason != ReasonUnlocked {
		s += ": " + e.Reason.String()
	}
	if e.Last != nil {
		s += "; last renewal: " + e.Last.Error()
	}
	return s
}

// Unwrap returns Err and Last, and [ErrClosed] if that is the reason. So a lost lease may also be
// an [ErrNoQuorum]: check for [ErrLost] first.
func (e *LeaseError) Unwrap() []error {
	errs := append(make([]error, 0, 2), e.Err)
	if e.Last != nil {
		errs = append(errs, e.Last)
	}
	if e.Reason == ReasonClosed {
		errs = append(errs, ErrClosed)
	}
	return errs
}
