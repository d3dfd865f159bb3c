package lock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// An Observer is told what the locks of a client do, for metrics, traces and tests. Every
// field may be nil. A client without an observer spends nothing on any of this.
//
// Began, Waits, Ended, and HoldEnded for a hold that was unlocked are called on the goroutine of
// the Lock, TryLock or Unlock that they tell of, which waits for them. Everything else, the
// losses above all, is told in order on a goroutine of its own: no lock waits for an observer
// that is slow. Calls may come at the same time, and none is made with a mutex held, so an
// observer may use locks itself. Two things it must not do in Waits, as the caller has its place in line by then: wait for
// a lock of that name, and close the client. If it panics, the lock goes on, and the first panic is logged.
//
// Packages otelholdfast and promholdfast, in modules of their own, are made of it.
type Observer struct {
	// Began is called when a Lock or TryLock begins. The context that it returns is handed to
	// the other calls that tell of it, and of the hold that it may begin; nil is the one that
	// was given. It does not concern the wait.
	Began func(context.Context, Acquisition) context.Context

	// Waits is called when the acquisition has found that it cannot have the lock yet, as others have
	// it or too few nodes answer, and before it waits for the first time. It is not called of one
	// that does not wait.
	Waits func(context.Context, Acquisition)

	// Ended is called when it has succeeded or failed.
	Ended func(context.Context, Acquisition)

	// HoldEnded is called when a hold is over: unlocked, or lost. A hold began with each
	// acquisition that succeeded and is no re-entry.
	HoldEnded func(context.Context, HoldEnd)

	// Renewed is called when a round of renewals is decided.
	Renewed func(Renewal)

	// Answered is called when a node has answered a command of any kind, or was silent for too
	// long. If an observer cannot follow, some of these calls and of those of Renewed are left
	// out; the log says how many.
	Answered func(NodeAnswer)
}

// A LockKind says what kind of lock an observer is told of.
type LockKind struct {
	Kind string // "reentrant", "fair", "readwrite" or "semaphore"
	Mode string // of a read-write lock "read" or "write", else ""
}

// An Acquisition is one call of Lock, TryLock or Do, as an [Observer] is told of it.
type Acquisition struct {
	LockKind
	Name  string    // of the lock
	Try   bool      // it is a TryLock
	Start time.Time // when it began: the same in all calls that tell of it

	// What follows is zero before Ended.

	Waited    time.Duration // how long it took
	Contended bool          // it had to wait; Waits was called
	Handover  Handover      // how the lock came, if it did
	Lease     *Lease        // nil: it failed
	Err       error         // why
}

// Outcome is what became of the acquisition in a word, for metrics: "acquired"; "locked", of a
// TryLock whose lock others have; "timeout" and "canceled", of one whose context ended; "no_quorum";
// "closed"; or "error".
func (a Acquisition) Outcome() string {
	switch err := a.Err; {
	case err == nil:
		return "acquired"
	case errors.Is(err, ErrClosed):
		return "closed"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, ErrNoQuorum):
		return "no_quorum"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, ErrLocked):
		return "locked"
	default:
		return "error"
	}
}

// A Handover is how a lock came to who has it. The zero value is HandoverFree.
type Handover uint8

// The hand-overs.
const (
	HandoverFree    Handover = iota // nobody else had the lock
	HandoverReentry                 // the owner had it already
	HandoverPassed                  // another goroutine of this process has passed it on or shares it, without a command
	HandoverMessage                 // the release woke who waited: by a message, or within this process
	HandoverPoll                    // who waited has looked: after it began to listen, or after split votes; or the holder's TTL was over, or a message was missed
)

var handovers = [...]string{
	HandoverFree:    "free",
	HandoverReentry: "reentry",
	HandoverPassed:  "passed",
	HandoverMessage: "message",
	HandoverPoll:    "poll",
}

// String is the hand-over in a word, for metrics.
func (h Handover) String() string {
	if int(h) < len(handovers) {
		return handovers[h]
	}
	return fmt.Sprintf("handover %d", uint8(h))
}

// A HoldEnd is the end of a hold, as an [Observer] is told of it.
type HoldEnd struct {
	LockKind
	Name   string // of the lock
	Hold   string // its id
	Token  int64
	Held   time.Duration
	Reason Reason // of a loss any but ReasonUnlocked and ReasonClosed
}

// A Renewal is one round of renewals, as an [Observer] is told of it.
type Renewal struct {
	LockKind
	Name      string // of the lock
	Hold      string // the id that the nodes know
	Took      time.Duration
	Left      time.Duration // of the validity, when the round was decided and had not moved it: what failed rounds may take
	TTL       time.Duration // that the validity is of: as a rule two thirds of it are left
	Confirmed bool          // by a quorum
	Nodes     []NodeAnswer  // of all nodes
}

// A NodeAnswer is what one node said to a command, as an [Observer] is told of it.
type NodeAnswer struct {
	Node    string        // its address
	Command string        // what the command is for: "acquire", "extend", "release" and others
	Outcome string        // "yes", "no", "timeout" or "error"; "late" in a Renewal that was decided without it
	Took    time.Duration // from when the nodes were asked, with the wait to be sent; 0 in a Renewal
	Err     error         // of a timeout or an error
}

// An audience is the observers of a client. What happens on the client's own goroutines is told
// on another one, while there is any: an observer may block, and neither a loss nor a renewal, nor a
// node's lane, must wait for it (I2).
type audience struct {
	// Immutable. The observers taken apart, in their order: what nobody asked for costs a look at a length.
	began     []func(context.Context, Acquisition) context.Context
	waits     []func(context.Context, Acquisition)
	ended     []func(context.Context, Acquisition)
	holdEnded []func(context.Context, HoldEnd)
	renewed   []func(Renewal)
	answered  []func(NodeAnswer)
	journal   *journal
	nodes     []string // their addresses; set before there is anything to tell

	mu       sync.Mutex
	busy     bool
	news     []news
	spare    []news        // empty: room for more, while what came before is told
	most     int           // of them, apart from ends
	dropped  int           // for want of room
	idle     chan struct{} // closed when all is told; nil: nobody waits for that
	panicked bool          // the log says so
}

// news is what one observer after the other is told: one of these.
type news struct {
	ctx     context.Context
	ended   *HoldEnd
	renewed *Renewal
	answer  NodeAnswer
}
