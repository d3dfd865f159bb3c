package lua

// Probe calls probe.lua: a server that answers runs scripts for this user.
type Probe struct{}

// Call makes the call.
func (Probe) Call() Call {
	return Call{script: probeScript, args: newCall(probeScript, 0, 0)}
}
