package lua

import "time"

// Release calls release.lua: it ends a hold.
type Release struct {
	Keys  Keys
	Hold  string
	Quiet bool          // do not publish the end
	Mark  time.Duration // void the hold id for so long; 0: no need
	Undo  bool          // there never was a lease: take its token back
}

// Call makes the call.
func (r Release) Call() Call {
	channel := r.Keys.Channel
	if r.Quiet {
		channel = ""
	}
	args := append(newCall(releaseScript, 1, 6), r.Keys.Lock)
	switch {
	case r.Undo:
		args[2] = 3
		args = append(args, r.Keys.Void, r.Keys.Token)
	case r.Mark > 0:
		args[2] = 2
		args = append(args, r.Keys.Void)
	}
	args = append(args, r.Hold, channel)
	if r.Undo || r.Mark > 0 {
		args = append(args, Millis(r.Mark))
	}
	return Call{script: releaseScript, args: args}
}

// Released is what release.lua answers, and fair_release.lua, which never says OnlyOne.
type Released struct {
	Found   bool // the hold was there
	OnlyOne bool // its end was published, and at most one listener to that server was told
}

// ParseReleased reads a reply of release.lua or fair_release.lua.
func ParseReleased(reply any) (Released, error) {
	if n, ok := reply.(int64); ok && 0 <= n && n <= 2 {
		return Released{Found: n > 0, OnlyOne: n == 2}, nil
	}
	return Released{}, &unexpected{releaseScript, reply}
}

func parseBool(s *Script, reply any) (bool, error) {
	if n, ok := reply.(int64); ok && (n == 0 || n == 1) {
		return n == 1, nil
	}
	return false, &unexpected{s, reply}
}
