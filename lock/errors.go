package lock

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

var (
	// ErrLocked says that another owner has the lock.
	ErrLocked = errors.New("locked by another owner")
	// ErrLost says that a lease ended before its Unlock: it could not be renewed in
	// time, a quorum of nodes no longer has it, or its fixed TTL is over. Whoever
	// works under it must stop.
	ErrLost = errors.New("lease is lost")
	// ErrNotHeld says that nobody holds what should be held.
	ErrNotHeld = errors.New("not held")
	// ErrReleased says that a lease was ended by Unlock or by [Client.Close].
	ErrReleased = errors.New("lease is released")
	// ErrClosed says that the client is closed.
	ErrClosed = errors.New("client is closed")
)

// An AcquireError says why a lock was not acquired: it wraps [ErrLocked], the
// context's error, [ErrLost], [ErrClosed] or redlock.ErrNoQuorum, and tells who held
// the lock when it was last seen.
type AcquireError struct {
	Name   string
	Holder string        // the hold id last seen, or whose turn it was; "" if none was
	TTL    time.Duration // what that hold had left then, unless it is renewed; negative: it has no TTL
	Waited time.Duration // how long the caller waited
	Err    error         // why the caller stopped trying
	Last   error         // why the last attempt failed, if not because of Holder; may be nil
}

func (e *AcquireError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "lock %q: %v", e.Name, e.Err)
	if e.Waited >= time.Millisecond {
		fmt.Fprintf(&s, " after %v", e.Waited.Round(time.Millisecond))
	}
	if e.Holder != "" {
		fmt.Fprintf(&s, "; held by %s", e.Holder)
		switch {
		case e.TTL < 0:
			s.WriteString(", whose key has no TTL")
		case e.TTL > 0:
			fmt.Fprintf(&s, ", which ends in %v unless renewed", e.TTL.Round(time.Millisecond))
		}
	}
	if e.Last != nil {
		fmt.Fprintf(&s, "; last attempt: %v", e.Last)
	}
	return s.String()
}

// Unwrap lists why the caller stopped trying and why the last attempt failed.
func (e *AcquireError) Unwrap() []error {
	if e.Last == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Last}
}

// A LeaseError says what went wrong with a lease: it wraps [ErrLost], [ErrReleased]
// or redlock.ErrNoQuorum.
type LeaseError struct {
	Op     string // "unlock", "extend"
	Name   string
	Hold   string // the hold's id
	Err    error
	Reason string // why the lease was lost; may be empty
}

func (e *LeaseError) Error() string {
	s := fmt.Sprintf("%s %q (hold %s): %v", e.Op, e.Name, e.Hold, e.Err)
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	return s
}

// Unwrap returns Err.
func (e *LeaseError) Unwrap() error { return e.Err }
