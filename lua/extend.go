package lua

import "time"

// Extend calls extend.lua: it makes a hold that is there live longer.
type Extend struct {
	Keys      Keys
	Hold      string
	TTL       time.Duration
	Token     int64
	Retention time.Duration // life of an idle fencing counter
	Queued    bool          // the hold came out of a fair queue
}

// Call makes the call.
func (e Extend) Call() Call {
	args := newCall(extendScript, 2, 5)
	args = append(args, e.Keys.Lock, e.Keys.Token)
	if e.Queued {
		args[2] = 3
		args = append(args, e.Keys.Waiters)
	}
	args = append(args, e.Hold, Millis(e.TTL), e.Token, Millis(e.Retention))
	return Call{script: extendScript, args: args}
}

// Extended is what extend.lua answers.
type Extended int

// The answers of extend.lua.
const (
	ExtendDone  Extended = 1  // the hold is there and lives longer
	ExtendFree  Extended = 0  // the hold is not there, and nobody has the lock
	ExtendTaken Extended = -1 // the hold is not there, and another has the lock
)

// ParseExtended reads a reply of extend.lua.
func ParseExtended(reply any) (Extended, error) {
	if n, ok := reply.(int64); ok && n >= -1 && n <= 1 {
		return Extended(n), nil
	}
	return 0, &unexpected{extendScript, reply}
}
