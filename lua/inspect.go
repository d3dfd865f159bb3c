package lua

import "time"

// Inspect calls inspect.lua: it tells who holds a lock and who waits for it.
type Inspect struct {
	Keys  Keys
	Guard time.Duration // how long a restarted server must not grant; 0: no guard
}

// Call makes the call.
func (i Inspect) Call() Call {
	args := append(newCall(inspectScript, 8, 1),
		i.Keys.Lock, i.Keys.Token(), i.Keys.Queue(), i.Keys.Waiters(), i.Keys.Note(), i.Keys.Readers(), i.Keys.Permits(), i.Keys.Slots())
	return Call{script: inspectScript, args: withGuard(args, i.Guard)}
}

// Inspected is what inspect.lua answers.
type Inspected struct {
	Holder string        // "": nobody
	Count  int           // the holder's
	TTL    time.Duration // the holder's remaining; negative: it has none
	Token  int64         // the fencing counter; 0: there is none
	Queue  []Waiting     // in order
	Noted  Noted         // about the holder

	Readers []Reading // of a read-write lock that is read, or of a semaphore; the holder is the first one

	Refusal string // why the node would not grant; "": it would
}

// Waiting is one hold in a fair queue.
type Waiting struct {
	Hold   string
	Ticket int64
	Waited time.Duration // by the node's clock
}

// Reading is one hold that reads, or that has permits.
type Reading struct {
	Hold string
	TTL  time.Duration // remaining
}

// ParseInspected reads a reply of inspect.lua.
func ParseInspected(reply any) (Inspected, error) {
	bad := func() (Inspected, error) { return Inspected{}, &unexpected{inspectScript, reply} }
	r, _ := reply.([]any)
	if len(r) < 7 {
		return bad()
	}
	var in Inspected
	pttl, ok1 := r[0].(int64)
	holder, ok2 := r[2].(string)
	count, ok3 := integer(r[3])
	queue, ok4 := r[4].([]any)
	refusal, ok5 := r[5].(string)
	readers, ok6 := r[6].([]any)
	noted, ok7 := parseNoted(r[7:])
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || !ok7 || len(readers)%2 != 0 {
		return bad()
	}
	in.Refusal, in.Noted = refusal, noted
	if r[1] != "" {
		token, ok := integer(r[1])
		if !ok {
			return bad()
		}
		in.Token = token
	}
	if holder != "" {
		in.Holder, in.Count, in.TTL = holder, int(count), remaining(pttl)
	}
	if in.Queue, ok4 = parseQueue(queue); !ok4 {
		return bad()
	}
	for i := 0; i < len(readers); i += 2 {
		id, ok1 := readers[i].(string)
		left, ok2 := readers[i+1].(int64)
		if !ok1 || !ok2 {
			return bad()
		}
		in.Readers = append(in.Readers, Reading{Hold: id, TTL: remaining(left)})
	}
	return in, nil
}

// parseQueue reads who waits: hold ids, each with its ticket and for how long it has waited.
func parseQueue(queue []any) (all []Waiting, ok bool) {
	if len(queue)%3 != 0 {
		return nil, false
	}
	for i := 0; i < len(queue); i += 3 {
		id, ok1 := queue[i].(string)
		ticket, ok2 := queue[i+1].(int64)
		waited, ok3 := queue[i+2].(int64)
		if !ok1 || !ok2 || !ok3 {
			return nil, false
		}
		all = append(all, Waiting{Hold: id, Ticket: ticket, Waited: time.Duration(waited) * time.Millisecond})
	}
	return all, true
}
