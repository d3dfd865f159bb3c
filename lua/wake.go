package lua

// Wake calls wake.lua: it tells who waits for a lock that it is free, if it is.
type Wake struct {
	Keys  Keys
	About string // the same on every node, and never again
}

// Call makes the call.
func (w Wake) Call() Call {
	args := append(newCall(wakeScript, 1, 2), w.Keys.Lock, w.Keys.Channel(), w.About)
	return Call{script: wakeScript, args: args}
}

// ParseWoken reads a reply of wake.lua: whether the lock is free.
func ParseWoken(reply any) (free bool, err error) { return parseBool(wakeScript, reply) }
