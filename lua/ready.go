package lua

import "time"

// Ready calls ready.lua: it asks whether a server would grant a free lock.
type Ready struct {
	Keys  Keys
	Guard time.Duration // how long a restarted server must not grant; 0: no guard
}

// Call makes the call.
func (r Ready) Call() Call {
	args := append(newCall(readyScript, 1, 1), r.Keys.Ready())
	return Call{script: readyScript, args: withGuard(args, r.Guard)}
}

// ParseReady reads a reply of ready.lua.
func ParseReady(reply any) (bool, error) { return parseBool(readyScript, reply) }
