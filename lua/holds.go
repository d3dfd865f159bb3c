package lua

// Holds calls holds.lua: it tells whether a hold is there.
type Holds struct {
	Keys Keys
	Hold string
}

// Call makes the call.
func (h Holds) Call() Call {
	return Call{script: holdsScript, args: append(newCall(holdsScript, 1, 1), h.Keys.Lock, h.Hold)}
}

// ParseHolds reads a reply of holds.lua.
func ParseHolds(reply any) (bool, error) { return parseBool(holdsScript, reply) }
