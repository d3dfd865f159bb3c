package lua

import "time"

// Fence calls fence.lua: it raises the fencing counter to a hold's token.
type Fence struct {
	Keys      Keys
	Hold      string
	Token     int64
	Retention time.Duration // life of an idle fencing counter
}

// Call makes the call.
func (f Fence) Call() Call {
	args := append(newCall(fenceScript, 2, 3), f.Keys.Lock, f.Keys.Token,
		f.Hold, f.Token, Millis(f.Retention))
	return Call{script: fenceScript, args: args}
}

// ParseFenced reads a reply of fence.lua: whether the counter is at least the token.
func ParseFenced(reply any) (bool, error) {
	return parseBool(fenceScript, reply)
}
