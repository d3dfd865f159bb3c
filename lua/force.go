package lua

import "time"

// Force calls force.lua: it marks a hold that is about to be ended by force.
type Force struct {
	Keys Keys
	Hold string
	Life time.Duration // of the mark
}

// Call makes the call.
func (f Force) Call() Call {
	return Call{script: forceScript, args: append(newCall(forceScript, 1, 2), f.Keys.Void(), f.Hold, Millis(f.Life))}
}

// Forced calls forced.lua: it tells whether a hold was ended by force.
type Forced struct {
	Keys  Keys
	Hold  string
	Guard time.Duration // how long a restarted server must not grant; 0: no guard
}

// Call makes the call.
func (f Forced) Call() Call {
	return Call{script: forcedScript, args: withGuard(append(newCall(forcedScript, 1, 2), f.Keys.Void(), f.Hold), f.Guard)}
}

// ParseForced reads a reply of force.lua or forced.lua: whether the hold is marked.
func ParseForced(reply any) (bool, error) { return parseBool(forcedScript, reply) }
