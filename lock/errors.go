package lock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

var (
	// ErrLocked says that another owner has the lock.
	ErrLocked = errors.New("locked by another owner")
	// ErrLost says that a lease ended before its Unlock: it could not be renewed in time, a quorum
	// of nodes no longer has it, or its fixed TTL is over. Work under the lease must stop.
	ErrLost = errors.New("lease is lost")
	// ErrNotHeld is the error of a zero [Lease], which is a lease of nothing.
	ErrNotHeld = errors.New("not held")
	// ErrReleased says that a lease was ended by Unlock or by [Client.Close].
	ErrReleased = errors.New("lease is released")
	// ErrClosed says that the client is closed.
	ErrClosed = errors.New("client is closed")
	// ErrUpgrade says that a reading owner wants to write: it would wait for itself. It must first
	// unlock all its leases to read, and others may write in between; see package readwrite.
	ErrUpgrade = errors.New("the owner holds the lock to read, and must unlock it before it can write")
	// ErrKind says that a name is in use as another kind of lock, which cannot work together with
	// this one. The error names both kinds.
	ErrKind = errors.New("the name is in use as another kind of lock")
	// ErrNoQuorum says that too few nodes answered or agreed, or did so too late, and that the reason
	// is not another owner. It is redlock.ErrNoQuorum; [redlock.NoQuorumError] has each node's answer.
	ErrNoQuorum = redlock.ErrNoQuorum
	// ErrRestarted says that a node started recently and does not vote yet, or does not tell since when it is up and never
	// does; see [WithRestartGuard].
	// It is redlock.ErrRestarted.
	ErrRestarted = redlock.ErrRestarted
)

// An AcquireError says why a lock was not acquired, unless an argument or option was invalid, which is
// an error of another type. It is an [ErrLocked] if others had the lock, an
// [ErrNoQuorum] if too few nodes could be asked, and never both. It is also the context's error if
// the context ended the wait, [ErrClosed] if the client was closed, or [ErrLost] if the owner's
// earlier lease of the lock is lost and not unlocked yet. An [ErrUpgrade] or an [ErrKind] is
// nothing else, because waiting would not help.
type AcquireError struct {
	Name   string
	Holder string        // the hold id that had the lock or whose turn it was, as last seen; "" if none was
	Own    bool          // Holder is a hold of the same client
	TTL    time.Duration // how long Holder, or the last of several readers, had left then, unless renewed; negative: no TTL
	Waited time.Duration // how long the caller waited
	Err    error         // why the caller stopped trying
	Last   error         // why the last attempt failed, if not because of Holder; may be nil
	Silent []string      // nodes that had not answered when the end of the wait cut off the last attempt

	// Texts about Holder, if known; see [WithLabel] and [WithNote].
	Label   string        // of its process
	Note    string        // of its lock
	HeldFor time.Duration // how long its process has had the lock, by a node's clock; 0: not known
}

func (e *AcquireError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "lock %q: %v", e.Name, e.Err)
	if e.Waited >= time.Millisecond && !e.isWrong() {
		fmt.Fprintf(&s, " after %v", e.Waited.Round(time.Millisecond))
	}
	if e.Holder != "" {
		fmt.Fprintf(&s, "; held by %s", strings.TrimSuffix(e.Holder, lua.Lingers))
		if e.Own {
			s.WriteString(" (this client)")
		}
		s.WriteString(e.about())
		switch {
		case e.TTL < 0:
			s.WriteString(", whose key has no TTL")
		case e.TTL > 0 && strings.HasSuffix(e.Holder, lua.Lingers):
			fmt.Fprintf(&s, ", which is over and keeps it for another %v", e.TTL.Round(time.Millisecond))
		case e.TTL > 0:
			fmt.Fprintf(&s, ", which ends in %v unless renewed", e.TTL.Round(time.Millisecond))
		}
	}
	switch {
	case e.Last == nil:
	case errors.Is(e.Last, errNotAsked), errors.Is(e.Last, errTurn), errors.Is(e.Last, errBehind): // there was no attempt
		fmt.Fprintf(&s, "; %v", e.Last)
	default:
		fmt.Fprintf(&s, "; last attempt: %v", e.Last)
	}
	var votes *redlock.NoQuorumError
	if len(e.Silent) > 0 && !errors.As(e.Last, &votes) {
		fmt.Fprintf(&s, "; cut off while asking again, without an answer from %s", strings.Join(e.Silent, ", "))
	}
	return s.String()
}

// about is what is known of the holder, in brackets: "" if that is nothing.
func (e *AcquireError) about() string {
	s := e.Label
	if e.HeldFor > 0 {
		s += fmt.Sprintf(" for %v", e.HeldFor.Round(100*time.Millisecond))
	}
	if e.Note != "" {
		s += ": " + e.Note
	}
	if s = strings.TrimLeft(s, " :"); s == "" {
		return ""
	}
	return " (" + s + ")"
}

// Unwrap returns why the caller stopped trying, why the last attempt failed, and [ErrLocked] if
// others had the lock.
func (e *AcquireError) Unwrap() []error {
	errs := []error{e.Err}
	if e.Last != nil {
		errs = append(errs, e.Last)
	}
	down := errors.Is(e.Err, ErrNoQuorum) || errors.Is(e.Last, ErrNoQuorum)
	if e.Holder != "" && !down && !e.isWrong() && !errors.Is(e.Err, ErrLocked) {
		errs = append(errs, ErrLocked)
	}
	return errs
}

// isWrong reports whether the caller must not have the lock this way, however long it waits: that is no ErrLocked.
func (e *AcquireError) isWrong() bool {
	return errors.Is(e.Err, ErrKind) || errors.Is(e.Err, ErrUpgrade)
}

// A splitError says that nobody had the lock, as rivals split the votes. It is no
// [ErrNoQuorum]: the nodes are well, and it is the rivals that are in the way.
type splitError struct {
	votes *redlock.NoQuorumError
	slots bool // enough nodes granted it, but not the same slots
}

func (e *splitError) Error() string {
	if e.slots {
		return fmt.Sprintf("rivals split the slots: %d of %d nodes granted some, and fewer than %d of them the same ones", e.votes.Agreed, len(e.votes.Nodes), e.votes.Need)
	}
	return fmt.Sprintf("rivals split the votes: %d of %d nodes granted it, %d needed", e.votes.Agreed, len(e.votes.Nodes), e.votes.Need)
}

// Unwrap returns [ErrLocked].
func (e *splitError) Unwrap() error { return ErrLocked }

// A cutError is the end of a caller's context in the middle of a round.
type cutError struct {
	error       // the context's
	votes error // what was known of the round by then
}

func cutShort(ctx context.Context, b *redlock.Ballot) error {
	_, votes := b.SoFar()
	return &cutError{contextError(ctx), votes}
}

// Unwrap returns the context's error.
func (e *cutError) Unwrap() error { return e.error }

var (
	errNotAsked = errors.New("no node had been asked")
	errBehind   = fmt.Errorf("%w: other calls of this process had it, or stood before this one", ErrLocked)
	errTurn     = errors.New("another call of the same owner was in progress")
	errTooLate  = errors.New("it was granted after the wait had ended, and was given back")
	errTryOver  = errors.New("the time of a TryLock is over")
)

// errFree is a node's answer that does not have the hold, though nobody has the lock there. As
// an error it does not lose a ballot before the others have answered, or were silent for too
// long: those that have the hold may be slower.
var errFree = errors.New("the hold is not there")
