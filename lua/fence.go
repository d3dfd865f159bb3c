package lua

import "time"

// Fence calls fence.lua: it raises the fencing counter to a hold's token.
type Fence struct {
	Keys      Keys
	Hold      string
	Token     int64
	Retention time.Duration // life of an idle fencing counter
	Round     int64         // number of the request that a quorum granted; 0: the hold did not wait
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
}

// Call makes the call.
func (f Fence) Call() Call {
	args := append(newCall(fenceScript, 2, 6), f.Keys.Lock, f.Keys.Token())
	if f.Round > 0 {
		args[2] = 3
		args = append(args, f.Keys.Waiters())
	}
	args = append(args, f.Hold, f.Token, Millis(f.Retention))
	if f.Round > 0 {
		args = withGuard(append(args, f.Round), f.Guard)
	}
	return Call{script: fenceScript, args: args}
}

// ParseFenced reads a reply of fence.lua: whether the counter is at least the token.
func ParseFenced(reply any) (bool, error) {
	return parseBool(fenceScript, reply)
}
