package lua

import "time"

// Reserve calls reserve.lua: it raises the fencing counter for the holds that follow one
// another within a tenure.
type Reserve struct {
	Keys      Keys
	Hold      string
	Last      int64         // token of the reserve
	Retention time.Duration // life of an idle fencing counter
	Unasked   bool          // do not ask who listens: the server could not tell
}

// Call makes the call.
func (r Reserve) Call() Call {
	channel := r.Keys.Channel()
	if r.Unasked {
		channel = ""
	}
	return Call{script: reserveScript, args: append(newCall(reserveScript, 3, 4),
		r.Keys.Lock, r.Keys.Token(), r.Keys.Void(), r.Hold, r.Last, Millis(r.Retention), channel)}
}

// Reserved is what reserve.lua answers.
type Reserved struct {
	Gone      bool      // the hold is not there, and nothing was reserved
	Forced    bool      // it was ended by force
	Listeners int       // clients of that server that wait for the end; negative: it cannot tell
	Deaf      bool      // others wait for it who cannot listen
	Far       []FarMark // of processes that are farther away than others
}

// ParseReserved reads a reply of reserve.lua.
func ParseReserved(reply any) (Reserved, error) {
	n, ok := reply.(int64)
	deaf, far := false, []FarMark(nil)
	if r, isSlice := reply.([]any); isSlice && len(r) >= 2 {
		n, ok = r[0].(int64)
		ok = ok && (n == -3 || n >= 0)
		if ok {
			deaf, far, ok = parseMarks(r[1:])
		}
	}
	switch {
	case !ok || n < -3:
		return Reserved{}, &unexpected{reserveScript, reply}
	case n == -1 || n == -2:
		return Reserved{Gone: true, Forced: n == -2}, nil
	case n == -3:
		n = -1
	}
	return Reserved{Listeners: int(n), Deaf: deaf, Far: far}, nil
}
