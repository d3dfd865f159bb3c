package lua

import "time"

// Inspect calls inspect.lua: it tells who holds a lock.
type Inspect struct{ Keys Keys }

// Call makes the call.
func (i Inspect) Call() Call {
	args := append(newCall(inspectScript, 2, 0), i.Keys.Lock, i.Keys.Token)
	return Call{script: inspectScript, args: args}
}

// Inspected is what inspect.lua answers.
type Inspected struct {
	Holder string        // "": nobody
	Count  int           // the holder's
	TTL    time.Duration // the holder's remaining; negative: it has none
	Token  int64         // the fencing counter; 0: there is none
}

// ParseInspected reads a reply of inspect.lua.
func ParseInspected(reply any) (Inspected, error) {
	r, _ := reply.([]any)
	if len(r) != 2 && len(r) != 4 {
		return Inspected{}, unexpected(inspectScript, reply)
	}
	var in Inspected
	pttl, ok := r[0].(int64)
	if r[1] != "" {
		var digits bool
		in.Token, digits = integer(r[1])
		ok = ok && digits
	}
	if len(r) == 4 {
		holder, isString := r[2].(string)
		count, digits := integer(r[3])
		ok = ok && isString && digits
		in.Holder, in.Count, in.TTL = holder, int(count), time.Duration(pttl)*time.Millisecond
	}
	if !ok {
		return Inspected{}, unexpected(inspectScript, reply)
	}
	return in, nil
}
