package lua

// Server calls server.lua: it tells which server runs what is about a lock.
type Server struct{ Keys Keys }

// Call makes the call.
func (s Server) Call() Call {
	return Call{script: serverScript, args: append(newCall(serverScript, 1, 0), s.Keys.Lock)}
}
