package lua

import "time"

// Release calls release.lua: it lowers a hold's count, or ends the hold.
type Release struct {
	Keys  Keys
	Hold  string
	Count int           // what is left; 0 ends the hold
	Quiet bool          // do not publish the end
	Mark  time.Duration // void the hold id for so long; 0: no need
}

// Call makes the call.
func (r Release) Call() Call {
	channel := r.Keys.Channel
	if r.Quiet {
		channel = ""
	}
	args := append(newCall(releaseScript, 2, 4), r.Keys.Lock, r.Keys.Void,
		r.Hold, r.Count, channel, Millis(r.Mark))
	return Call{script: releaseScript, args: args}
}

// ParseReleased reads a reply of release.lua: whether the hold was there.
func ParseReleased(reply any) (found bool, err error) {
	return parseBool(releaseScript, reply)
}

func parseBool(s *Script, reply any) (bool, error) {
	if n, ok := reply.(int64); ok && (n == 0 || n == 1) {
		return n == 1, nil
	}
	return false, unexpected(s, reply)
}
