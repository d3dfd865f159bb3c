package lock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// An Observer reports what the locks of a client do, for metrics, traces and tests. Every field may
// be nil. A client without an observer spends nothing on this.
//
// The goroutine of a Lock, TryLock or Unlock calls Began, Waits, Ended, and HoldEnded for a hold
// that was unlocked, and waits for them. Everything else, in particular losses, is reported in
// order on a separate goroutine: no lock waits for a slow observer. Calls may be concurrent, and no
// mutex is held during a call, so an observer may use locks itself. In Waits, the caller already
// has its place in line, so Waits must not wait for a lock of that name, and must not close the
// client. If an observer panics, the lock continues, and the first panic is logged. An observer must not end
// its goroutine by runtime.Goexit, as t.FailNow does: the lock is given back, but other observers may miss
// that event, and the end of that call.
//
// Packages otelholdfast and promholdfast, in separate modules, are built on it.
type Observer struct {
	// Began is called when a Lock or TryLock begins. The context that it returns is passed to the
	// other calls for this acquisition, and for the hold that may come of it; nil stands for the
	// context that Began was given. It does not affect the wait.
	Began func(context.Context, Acquisition) context.Context

	// Waits is called before the acquisition waits for the first time, when it has found that it
	// cannot have the lock yet, because others have it or too few nodes answer. It is not called if
	// the acquisition does not wait.
	Waits func(context.Context, Acquisition)

	// Ended is called when the acquisition has succeeded or failed.
	Ended func(context.Context, Acquisition)

	// HoldEnded is called when a hold is over: unlocked, or lost. Each successful acquisition that
	// is not a re-entry begins a hold.
	HoldEnded func(context.Context, HoldEnd)

	// Renewed is called when a round of renewals is decided.
	Renewed func(Renewal)

	// Answered is called when a node has answered a command of any kind, or was silent for too
	// long. If an observer is too slow, some of these calls and of the calls of Renewed are left
	// out; the log says how many.
	Answered func(NodeAnswer)
}

// A LockKind is the kind of the lock that an observer is told about.
type LockKind struct {
	Kind string // "reentrant", "fair", "readwrite" or "semaphore"
	Mode string // "read" or "write" for a read-write lock, else ""
}

// An Acquisition is one call of Lock, TryLock or Do, as reported to an [Observer]. A call that fails
// because an argument or option is invalid is not reported.
type Acquisition struct {
	LockKind
	Name  string    // of the lock
	Try   bool      // it is a TryLock
	Start time.Time // when it began: the same in all calls for this acquisition

	// What follows is zero before Ended.

	Waited    time.Duration // how long it took
	Contended bool          // it had to wait; Waits was called
	Handover  Handover      // how the caller got the lock, if it did
	Lease     *Lease        // nil: it failed
	Err       error         // why
}

// Outcome is the result of the acquisition in one word, for metrics: "acquired"; "locked", if a
// TryLock found that others have the lock; "timeout" or "canceled", if the context ended; "no_quorum", if too
// few nodes had answered, also by the end of a context's time, which may be shorter than a round trip; "closed";
// or "error".
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

// A Handover is how a caller got a lock. The zero value is HandoverFree.
type Handover uint8

// The hand-overs.
const (
	HandoverFree    Handover = iota // nobody else had the lock
	HandoverReentry                 // the owner had it already
	HandoverPassed                  // another goroutine of this process passed it on or shares it, without a command
	HandoverMessage                 // the release woke the waiter: by a message, or within this process
	HandoverPoll                    // the waiter looked by itself: after it began to listen, after split votes, because the holder's TTL was over, or because a message was missed
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

// A HoldEnd is the end of a hold, as reported to an [Observer].
type HoldEnd struct {
	LockKind
	Name   string // of the lock, as in the Acquisition with which the hold began
	Hold   string // its id
	Token  int64
	Held   time.Duration
	Reason Reason // a loss, unless it is ReasonUnlocked or ReasonClosed
}

// A Renewal is one round of renewals, as reported to an [Observer].
type Renewal struct {
	LockKind
	Name      string // of the lock, as its process came by it: holds that followed may have the other name of the same lock
	Hold      string // the id that the nodes know
	Took      time.Duration
	Left      time.Duration // validity left when the round was decided, before it moved: time for further rounds if this one failed
	TTL       time.Duration // the TTL of the lease: usually two thirds of it are left
	Confirmed bool          // by a quorum
	Nodes     []NodeAnswer  // of all nodes
}

// A NodeAnswer is one node's answer to a command, as reported to an [Observer].
type NodeAnswer struct {
	Node    string        // its address
	Command string        // the purpose of the command: "acquire", "extend", "release" and others
	Outcome string        // "yes", "no", "timeout" or "error"; "late" in a Renewal that was decided without this node
	Took    time.Duration // since the nodes were asked, including the time in the queue; 0 in a Renewal
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
