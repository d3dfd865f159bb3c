package lua

import "time"

// Release calls release.lua: it ends a hold.
type Release struct {
	Keys  Keys
	Hold  string
	Quiet bool          // do not publish the end
	Mark  time.Duration // void the hold id for so long; 0: no need
	Undo  bool          // there never was a lease: take its token back
	Noted bool          // the hold has a note: delete it
}

// The script puts the channel's name together, so that all calls in a batch have the same argument.
var ofChannel, noChannel any = channelSuffix, ""

// Call makes the call.
func (r Release) Call() Call {
	channel := ofChannel
	if r.Quiet {
		channel = noChannel
	}
	keys, argv := 1, 2 // as a rule
	if r.Mark > 0 || r.Undo || r.Noted {
		keys, argv = 4, 4
	}
	args := append(newCall(releaseScript, keys, argv), r.Keys.Lock)
	if r.Mark > 0 || r.Undo || r.Noted {
		args = append(args, r.Keys.Void())
	}
	if r.Undo || r.Noted {
		args = append(args, r.Keys.Token())
	}
	if r.Noted {
		args = append(args, r.Keys.Note())
	}
	args[2] = len(args) - 3
	args = append(args, r.Hold, channel)
	if r.Undo || r.Mark > 0 {
		args = append(args, Millis(r.Mark))
	}
	if r.Undo {
		args = append(args, flag(true))
	}
	return Call{script: releaseScript, args: args}
}

// ParseReleased reads a reply of release.lua or fair_release.lua: whether the hold was there.
func ParseReleased(reply any) (found bool, err error) { return parseBool(releaseScript, reply) }

func parseBool(s *Script, reply any) (bool, error) {
	if n, ok := reply.(int64); ok && (n == 0 || n == 1) {
		return n == 1, nil
	}
	return false, &unexpected{s, reply}
}
