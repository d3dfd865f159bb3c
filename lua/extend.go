package lua

import "time"

// Extend calls extend.lua: it makes a hold that is there live longer.
type Extend struct {
	Keys      Keys
	Hold      string
	Count     int // of the hold
	TTL       time.Duration
	Token     int64
	Retention time.Duration // life of an idle fencing counter
	Queued    bool          // the hold came out of a fair queue
	Round     int64         // number of the request that a quorum granted; 0: the hold did not wait
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
	Noted     bool          // the hold has a note
	Narrow    bool          // leave the counter alone: it is where the hold is not, as a Cluster moves both
}

// Call makes the call.
func (e Extend) Call() Call {
	args := newCall(extendScript, 5, 7)
	args = append(args, e.Keys.Lock)
	if !e.Narrow {
		args = append(args, e.Keys.Token(), e.Keys.Void())
		if e.Queued || e.Noted {
			args = append(args, e.Keys.Waiters())
		}
		if e.Noted {
			args = append(args, e.Keys.Note())
		}
	}
	args[2] = len(args) - 3
	args = append(args, e.Hold, Millis(e.TTL), e.Token, Millis(e.Retention), e.Count)
	return Call{script: extendScript, args: withRound(args, e.Round, e.Guard)}
}

// Extended is what extend.lua and restore.lua answer.
type Extended int

// The answers of extend.lua, and the first one of restore.lua.
const (
	ExtendBack  Extended = 2  // the hold was not there, and is again
	ExtendDone  Extended = 1  // the hold is there and lives longer
	ExtendFree  Extended = 0  // the hold is not there, and nobody has the lock
	ExtendTaken Extended = -1 // the hold is not there, and another has the lock

	ExtendForced Extended = -2 // the hold is not there: it was ended by force
)

// ParseExtended reads a reply of extend.lua.
func ParseExtended(reply any) (Extended, error) {
	if n, ok := reply.(int64); ok && n >= -2 && n <= 1 {
		return Extended(n), nil
	}
	return 0, &unexpected{extendScript, reply}
}
