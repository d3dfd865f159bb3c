package lock

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// A Status summarizes the nodes' answers. Its zero value is StatusUnknown.
type Status uint8

// The statuses. A node may have any hold if it does not answer, answers with an error, or would not
// grant because it has restarted ([WithRestartGuard]).
const (
	StatusUnknown Status = iota // not certain: together with the nodes that cannot tell, a hold could have a quorum
	StatusFree                  // nobody has the lock: no hold can have a quorum
	StatusHeld                  // a quorum of nodes has the same hold
)

// String is "unknown", "free" or "held".
func (s Status) String() string {
	switch s {
	case StatusUnknown:
		return "unknown"
	case StatusFree:
		return "free"
	case StatusHeld:
		return "held"
	default:
		return fmt.Sprintf("status %d", uint8(s))
	}
}

// MarshalText is String.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A State is a lock as a quorum of nodes sees it. Nodes shows separately what each node sees.
//
// The JSON form is for reading, not for decoding into a State again. Its keys are in lower case,
// errors are text, and durations are text such as "29.5s"; the TTL of a key without a TTL is
// "none".
type State struct {
	Status  Status
	Held    bool          // Status is StatusHeld; if false, there may still be a holder, unless Status is StatusFree
	Holder  string        // hold id, if Held; "<hold id> lingers" if the holder is gone: see [WithMinHold] and [WithRest]
	Count   int           // hold count, as of the last renewal or Extend
	Label   string        // of the holder's process, see [WithLabel]; "": none is known
	Note    string        // of the holder's lock, see [WithNote]; "": none is known
	HeldFor time.Duration // how long the holder's process has had the lock, by a node's clock; 0: not known
	TTL     time.Duration // remaining on a quorum; negative: the key has no TTL
	Token   int64         // the greatest fencing token that a quorum knows; 0: none
	Readers []string      // read-write locks: the readers' hold ids; semaphores: all hold ids; the first one is the Holder
	Queue   []string      // locks with a queue: waiting hold ids, in order
	Waits   []Wait        // the same waiters, with details
	Nodes   []NodeState
}

// A Wait is one waiter of a lock with a queue; its place is its index in State.Waits.
type Wait struct {
	Hold   string        // the id its hold will have
	Waited time.Duration // since its enqueue, by the clock of the node that has known it longest
	Reads  bool          // read-write locks: it waits to read, not to write
}

// A NodeState is a lock as one node sees it.
type NodeState struct {
	Address   string
	Reachable bool          // it answered, if only with an error
	Holder    string        // hold id; "": free
	Count     int           // hold count
	TTL       time.Duration // remaining; negative: the key has no TTL
	Token     int64         // fencing counter; 0: none
	Readers   []string      // read-write locks: the readers' hold ids, in alphabetical order
	Queue     []string      // locks with a queue: waiting hold ids, in order
	Err       error         // why the node could not tell, or would not grant
}

// votes counts the nodes that have the hold called id, and those that cannot tell.
func (s *State) votes(id string) (seen, undecided int) {
	for _, n := range s.Nodes {
		switch {
		case n.Err != nil && n.Holder == "":
			undecided++
		case n.has(id):
			seen++
		}
	}
	return seen, undecided
}

// has reports whether the node has the hold called id, or no hold if id is empty.
func (n *NodeState) has(id string) bool { return n.Holder == id || slices.Contains(n.Readers, id) }

// MarshalJSON implements [json.Marshaler].
func (s State) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Status  Status      `json:"status"`
		Held    bool        `json:"held"`
		Holder  string      `json:"holder,omitempty"`
		Count   int         `json:"count,omitempty"`
		Label   string      `json:"label,omitempty"`
		Note    string      `json:"note,omitempty"`
		HeldFor string      `json:"heldFor,omitempty"`
		TTL     string      `json:"ttl,omitempty"`
		Token   int64       `json:"token,omitempty"`
		Readers []string    `json:"readers,omitempty"`
		Queue   []string    `json:"queue,omitempty"`
		Waits   []Wait      `json:"waits,omitempty"`
		Nodes   []NodeState `json:"nodes"`
	}{s.Status, s.Held, s.Holder, s.Count, s.Label, s.Note, ttlText(s.HeldFor), ttlText(s.TTL), s.Token, s.Readers, s.Queue, s.Waits, s.Nodes})
}

// MarshalJSON implements [json.Marshaler].
func (w Wait) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Hold   string `json:"hold"`
		Waited string `json:"waited"`
		Reads  bool   `json:"reads,omitempty"`
	}{w.Hold, w.Waited.String(), w.Reads})
}

// MarshalJSON implements [json.Marshaler].
func (n NodeState) MarshalJSON() ([]byte, error) {
	problem := ""
	if n.Err != nil {
		problem = n.Err.Error()
	}
	return json.Marshal(struct {
		Address   string   `json:"address"`
		Reachable bool     `json:"reachable"`
		Holder    string   `json:"holder,omitempty"`
		Count     int      `json:"count,omitempty"`
		TTL       string   `json:"ttl,omitempty"`
		Token     int64    `json:"token,omitempty"`
		Readers   []string `json:"readers,omitempty"`
		Queue     []string `json:"queue,omitempty"`
		Err       string   `json:"err,omitempty"`
	}{n.Address, n.Reachable, n.Holder, n.Count, ttlText(n.TTL), n.Token, n.Readers, n.Queue, problem})
}

// ttlText is a remaining TTL in words; "" is none, as there is no hold.
func ttlText(d time.Duration) string {
	switch {
	case d < 0:
		return "none"
	case d == 0:
		return ""
	default:
		return d.String()
	}
}
