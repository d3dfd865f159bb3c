package lua

import "time"

// Deaf calls deaf.lua: it tells who holds the lock that somebody waits who cannot hear of its end.
type Deaf struct {
	Keys Keys
	Life time.Duration // of the mark
}

// Call makes the call.
func (d Deaf) Call() Call {
	return Call{script: deafScript, args: append(newCall(deafScript, 2, 1), d.Keys.Lock, d.Keys.Void(), Millis(d.Life))}
}

// ParseDeaf reads a reply of deaf.lua.
func ParseDeaf(reply any) (marked bool, err error) {
	if n, ok := reply.(int64); ok && (n == 0 || n == 1) {
		return n == 1, nil
	}
	return false, &unexpected{deafScript, reply}
}
