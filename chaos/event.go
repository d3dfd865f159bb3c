package main

import (
	"encoding/json"
	"os"
	"sync"
)

// Kinds of events. Those that begin something are written down before it begins, and
// those that end something after it has ended: what the history claims about a lease
// is then no more than what was the case.
const (
	evLock     = "lock"     // Lock or TryLock is about to be called
	evGranted  = "granted"  // it returned a lease
	evDenied   = "denied"   // it returned an error
	evHeld     = "held"     // the lease said, when asked at this moment or later, that it is held
	evLost     = "lost"     // the lease was seen to be lost
	evSilent   = "silent"   // the lease is past its deadline, and its Done is not closed
	evExtended = "extended" // Extend returned
	evUnlock   = "unlock"   // Unlock is about to be called
	evUnlocked = "unlocked" // it returned
	evFinal    = "final"    // a last Lock, for which nothing stands in the way, is about to be called
	evServed   = "served"   // it returned
	evOff      = "off"      // the context of a candidate has ended
	evAsleep   = "asleep"   // the process did not come to run from From on, until now
)

// An Event is one line of a worker's history.
type Event struct {
	At   int64  `json:"t"` // on the machine's monotonic clock
	Kind string `json:"k"`
	Op   int64  `json:"op"` // the acquisition it is about; a number of its own in each process

	Name     string `json:"name,omitempty"`
	Within   int64  `json:"in,omitempty"`      // evLock: the lease it is nested in; 0: none
	Blocks   bool   `json:"block,omitempty"`   // evLock: it waits
	Reads    bool   `json:"reads,omitempty"`   // evLock: it is to read, where others write
	Upgrade  bool   `json:"up,omitempty"`      // evLock: it is to write by an owner that reads
	Fixed    bool   `json:"fixed,omitempty"`   // evLock: the lease is not renewed
	Refused  bool   `json:"refused,omitempty"` // evDenied: as there was no quorum, and not as the caller's time was over
	Hold     string `json:"hold,omitempty"`
	Token    int64  `json:"tok,omitempty"`
	Count    int    `json:"n,omitempty"`
	Deadline int64  `json:"dl,omitempty"` // as the lease told just before
	TTL      int64  `json:"ttl,omitempty"`
	Err      string `json:"err,omitempty"`
	Why      string `json:"why,omitempty"`  // evLost, evUnlocked: the reason of a loss
	From     int64  `json:"from,omitempty"` // evAsleep
}

// A recorder writes a worker's history: an event to a line, each written at once, so
// that a worker that is killed leaves all that it saw.
type recorder struct {
	mu   sync.Mutex
	file *os.File
}

func newRecorder(path string) (*recorder, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return &recorder{file: file}, err
}

// note writes e. Who gives no moment gets the present one.
func (r *recorder) note(e Event) {
	if e.At == 0 {
		e.At = now()
	}
	line, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.file.Write(append(line, '\n')); err != nil {
		panic(err) // a history with holes proves nothing
	}
}
