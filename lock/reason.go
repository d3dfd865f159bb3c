package lock

import "fmt"

// A Reason is why a lease is over. Its text is what errors and logs show. The zero value
// is ReasonNone.
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
	ReasonAbandoned:  "every parent of its contexts has ended, so it was not renewed",
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

// Code is the reason in a word, for metrics: that of ReasonMaxHold is "max_hold".
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
// [ErrNoQuorum] or whatever else is its Err. It is what [Lease.Err] returns, what ends the
// contexts of [Lease.Context], and what Extend and Unlock return.
type LeaseError struct {
	Op     string // "extend", "re-enter" or "unlock"; "" of [Lease.Err] and in causes of contexts
	Name   string // of the lock
	Hold   string // the hold's id
	Err    error
	Reason Reason // why the lease is over, if Err is ErrLost or ErrReleased

	// Last is what the last round of renewals came to if Reason is ReasonNotRenewed: as a
	// rule a [*redlock.NoQuorumError] with the answer of each node. nil if there was none.
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

// Unwrap lists Err and Last, and [ErrClosed] if that is the reason. So a lost lease may also
// be an [ErrNoQuorum]: look for [ErrLost] first.
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
