package lua

import (
	"strconv"
	"strings"
	"time"
)

// PermitMark is the end of the id of a semaphore's hold that wants n of so many permits. Scripts
// read both numbers from it, also for waiters.
func PermitMark(n, permits int) string {
	return "p" + strconv.Itoa(n) + "/" + strconv.Itoa(permits)
}

// ParsePermitMark reads the mark at the end of a hold's id.
func ParsePermitMark(id string) (n, permits int, ok bool) {
	_, mark, _ := strings.Cut(id[strings.LastIndexByte(id, ':')+1:], "p")
	first, second, found := strings.Cut(mark, "/")
	n, err1 := strconv.Atoi(first)
	permits, err2 := strconv.Atoi(second)
	return n, permits, found && err1 == nil && err2 == nil && n > 0
}

// Permit is what the scripts of the semaphore are told in common.
type Permit struct{ Fair }

// PermitAcquire calls permit_acquire.lua: it takes as many slots as the hold's id says, or has the hold wait.
type PermitAcquire struct {
	Permit
	Hold      string
	TTL       time.Duration
	Retention time.Duration // life of an idle fencing counter
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
	Wait      bool          // in the queue, if it is not this hold's turn
	Ticket    Ticket        // to wait with
	Round     int64         // number of this request of the hold, with Wait; from 1
	Slots     Slots         // to take if they are free; "": the lowest ones
	Noted     bool          // a refusal includes the notes about the holders of permits
}

// Call makes the call.
func (a PermitAcquire) Call() Call {
	var ticket any = ""
	if a.Wait {
		ticket = a.Ticket.Number
	}
	token, void, queue, waiters, permits, slots, free := a.Keys.ofPermits()
	args := append(newCall(permitAcquireScript, 8, 12),
		a.Keys.Lock, token, void, queue, waiters, permits, slots, free,
		a.Hold, Millis(a.TTL), Millis(a.Retention), ticket, flag(a.Ticket.Final), Millis(a.Life), a.Round,
		a.Channel, string(a.Slots), flag(a.Alone), flag(a.Noted))
	return Call{script: permitAcquireScript, args: withGuard(args, a.Guard)}
}

// ParsePermitAcquired reads a reply of permit_acquire.lua.
func ParsePermitAcquired(reply any) (Acquired, error) {
	switch r := reply.(type) {
	case int64:
		if r == -1 {
			return Acquired{Void: true}, nil
		}
	case []any:
		if len(r) == 2 || len(r) == 3 {
			token, ok1 := r[0].(int64)
			slots, ok2 := r[1].(string)
			free, ok3 := r[len(r)-1].(string) // of two, the slots again
			if ok1 && ok2 && ok3 && token > 0 {
				a := Acquired{Token: token, Slots: Slots(slots)}
				if len(r) == 3 {
					a.Free = Slots(free)
				}
				return a, nil
			}
		}
		if len(r) >= 6 {
			ttl, ok1 := r[0].(int64)
			holder, ok2 := r[1].(string)
			count, ok3 := integer(r[2])
			ticket, ok4 := r[3].(int64)
			head, ok5 := r[4].(string)
			dying, ok6 := r[5].(int64)
			noted, ok7 := parseNoted(r[6:])
			if ok1 && ok2 && ok3 && ok4 && ok5 && ok6 && ok7 {
				a := Acquired{
					Holder: holder, Count: int(count), Ticket: ticket, Head: head, Noted: noted,
					Dying: time.Duration(dying) * time.Millisecond,
				}
				if holder != "" {
					a.TTL = remaining(ttl)
				} else {
					holder = head
				}
				// Whichever of them a node has named: together they are in the way.
				_, _, a.Reads = ParsePermitMark(strings.TrimSuffix(holder, Lingers))
				return a, nil
			}
		}
	}
	return Acquired{}, &unexpected{permitAcquireScript, reply}
}

// PermitRelease calls permit_release.lua: it ends a hold or its wait, and tells all whose turn it is then.
type PermitRelease struct {
	Permit
	Hold      string
	Mark      time.Duration // void the hold id for so long; 0: no need
	Successor string        // waiting hold that asks right after this, and need not be woken; "": none
}

// Call makes the call. Its replies are those of [Release].
func (r PermitRelease) Call() Call {
	_, void, queue, waiters, permits, slots, free := r.Keys.ofPermits()
	return Call{script: permitReleaseScript, args: append(newCall(permitReleaseScript, 7, 5),
		r.Keys.Lock, void, queue, waiters, permits, slots, free,
		r.Hold, r.Channel, Millis(r.Mark), flag(r.Alone), r.Successor)}
}

// PermitYield calls permit_yield.lua: it gives back a minority's grant, or grants that differ
// between nodes, and the hold continues to wait. A hold that already waits gets its final ticket.
type PermitYield struct {
	Permit
	Hold   string
	Ticket Ticket
	Round  int64 // grants of this round and earlier ones are given back
}

// Call makes the call. Its replies are those of [FairYield].
func (y PermitYield) Call() Call {
	return Call{script: permitYieldScript, args: append(newCall(permitYieldScript, 7, 7),
		y.Keys.Lock, y.Keys.Void(), y.Keys.Queue(), y.Keys.Waiters(), y.Keys.Permits(), y.Keys.Slots(), y.Keys.Free(),
		y.Hold, y.Ticket.Number, flag(y.Ticket.Final), Millis(y.Life), y.Channel, flag(y.Alone), y.Round)}
}

// PermitSettle calls permit_settle.lua: it takes a granted hold out of a node's queue.
type PermitSettle struct {
	Permit
	Hold string
}

// Call makes the call. Its replies are those of [FairSettle].
func (s PermitSettle) Call() Call {
	return Call{script: permitSettleScript, args: append(newCall(permitSettleScript, 6, 3),
		s.Keys.Lock, s.Keys.Queue(), s.Keys.Waiters(), s.Keys.Permits(), s.Keys.Slots(), s.Keys.Free(),
		s.Hold, s.Channel, flag(s.Alone))}
}

// PermitBeat calls permit_beat.lua: it shows that waiters are alive.
type PermitBeat struct {
	Permit
	Name  string // of the beat, the same on every node
	Holds []string
}

// Call makes the call. Its replies are those of [FairBeat].
func (b PermitBeat) Call() Call {
	args := append(newCall(permitBeatScript, 6, 4+len(b.Holds)),
		b.Keys.Lock, b.Keys.Queue(), b.Keys.Waiters(), b.Keys.Permits(), b.Keys.Slots(), b.Keys.Free(),
		Millis(b.Life), b.Channel, flag(b.Alone), b.Name)
	for _, hold := range b.Holds {
		args = append(args, hold)
	}
	return Call{script: permitBeatScript, args: args}
}

// PermitExtend calls permit_extend.lua: it makes a hold that is there with its slots live longer.
type PermitExtend struct {
	Permit
	Hold      string
	Count     int // of the hold
	TTL       time.Duration
	Token     int64
	Retention time.Duration // life of an idle fencing counter
	Slots     Slots
	Round     int64         // number of the request that a quorum granted; 0: the hold did not wait
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
}

// Call makes the call. Its replies are those of [Extend].
func (e PermitExtend) Call() Call {
	token, void, queue, waiters, permits, slots, free := e.Keys.ofPermits()
	args := append(newCall(permitExtendScript, 8, 10),
		e.Keys.Lock, token, void, queue, waiters, permits, slots, free,
		e.Hold, Millis(e.TTL), e.Token, Millis(e.Retention), e.Count, string(e.Slots), e.Channel, flag(e.Alone))
	return Call{script: permitExtendScript, args: withRound(args, e.Round, e.Guard)}
}

// PermitRestore calls permit_restore.lua: it extends a hold, and gives it back to a node that lacks it and
// vouches that nobody was granted anything since.
type PermitRestore struct {
	PermitExtend
	Uptime time.Duration // how long the server must have run to vouch
}

// Call makes the call. Its replies are those of [Restore].
func (r PermitRestore) Call() Call {
	token, void, queue, waiters, permits, slots, free := r.Keys.ofPermits()
	args := append(newCall(permitRestoreScript, 8, 11),
		r.Keys.Lock, token, void, queue, waiters, permits, slots, free,
		r.Hold, Millis(r.TTL), r.Token, Millis(r.Retention), r.Count, string(r.Slots), r.Channel, flag(r.Alone), Millis(r.Uptime))
	return Call{script: permitRestoreScript, args: afterCrash(args, r.Guard, r.Round)}
}

// PermitRepair calls permit_repair.lua: it gives a hold, with its slots, to a node that lost it or gave it others.
type PermitRepair struct{ PermitExtend }

// Call makes the call. Its replies are those of [Repair].
func (r PermitRepair) Call() Call {
	args := append(newCall(permitRepairScript, 8, 9),
		r.Keys.Lock, r.Keys.Token(), r.Keys.Void(), r.Keys.Queue(), r.Keys.Waiters(), r.Keys.Permits(), r.Keys.Slots(), r.Keys.Free(),
		r.Hold, r.Count, Millis(r.TTL), r.Token, Millis(r.Retention), string(r.Slots), r.Channel, flag(r.Alone))
	return Call{script: permitRepairScript, args: withGuard(args, r.Guard)}
}

// PermitKeep calls permit_keep.lua: it lets slots stay taken for a while when their holder has gone.
type PermitKeep struct {
	Permit
	Hold string
	For  time.Duration
	Mark time.Duration // life of the mark that voids the hold id; 0: no mark
}

// Call makes the call. Its replies are those of [Release].
func (k PermitKeep) Call() Call {
	args := append(newCall(permitKeepScript, 7, 5),
		k.Keys.Lock, k.Keys.Permits(), k.Keys.Slots(), k.Keys.Free(), k.Keys.Queue(), k.Keys.Waiters())
	if k.Mark > 0 {
		args = append(args, k.Keys.Void())
	}
	args[2] = len(args) - 3
	return Call{script: permitKeepScript, args: append(args, k.Hold, Millis(k.For), Millis(k.Mark), k.Channel, flag(k.Alone))}
}

// PermitFence calls permit_fence.lua: it raises the fencing counter to a token that no other hold has.
type PermitFence struct {
	Permit
	Hold      string
	Token     int64
	Retention time.Duration // life of an idle fencing counter
	Slots     Slots         // of the hold
	Round     int64         // number of the request that a quorum granted; 0: the hold did not wait
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
}

// Call makes the call.
func (f PermitFence) Call() Call {
	args := append(newCall(permitFenceScript, 4, 6),
		f.Keys.Lock, f.Keys.Token(), f.Keys.Waiters(), f.Keys.Slots(), f.Hold, f.Token, Millis(f.Retention), f.Round, string(f.Slots))
	return Call{script: permitFenceScript, args: withGuard(args, f.Guard)}
}

// ParsePermitFenced reads a reply of permit_fence.lua: whether the token is this hold's alone; if not,
// and the hold is there, the counter.
func ParsePermitFenced(reply any) (known int64, alone bool, err error) {
	n, ok := reply.(int64)
	if !ok || n < 0 {
		return 0, false, &unexpected{permitFenceScript, reply}
	}
	if n <= 1 {
		return 0, n == 1, nil
	}
	return n, false, nil
}

// PermitReserve calls permit_reserve.lua: it has the fencing counter skip the tokens of the holds that will follow one
// another on the same permits.
type PermitReserve struct {
	Permit
	Hold      string
	Slots     Slots         // of the hold
	After     int64         // token before the first one of the reserve
	Last      int64         // token of the reserve
	Retention time.Duration // life of an idle fencing counter
}

// Call makes the call.
func (r PermitReserve) Call() Call {
	return Call{script: permitReserveScript, args: append(newCall(permitReserveScript, 5, 5),
		r.Keys.Lock, r.Keys.Token(), r.Keys.Void(), r.Keys.Queue(), r.Keys.Slots(),
		r.Hold, string(r.Slots), r.After, r.Last, Millis(r.Retention))}
}

// PermitReserved is what permit_reserve.lua answers.
type PermitReserved struct {
	Gone    bool  // the hold is not there with its slots
	Forced  bool  // it was ended by force
	Alone   bool  // the tokens are this hold's alone
	Counter int64 // fencing counter; 0: not known
	Others  bool  // somebody of another client waits, or that is not known
}

// ParsePermitReserved reads a reply of permit_reserve.lua.
func ParsePermitReserved(reply any) (PermitReserved, error) {
	switch r := reply.(type) {
	case int64:
		if r == -1 || r == -2 {
			return PermitReserved{Gone: true, Forced: r == -2}, nil
		}
	case []any:
		if len(r) == 3 {
			alone, ok1 := r[0].(int64)
			counter, ok2 := r[1].(int64)
			others, ok3 := r[2].(int64)
			if ok1 && ok2 && ok3 {
				return PermitReserved{Alone: alone == 1, Counter: counter, Others: others == 1}, nil
			}
		}
	}
	return PermitReserved{}, &unexpected{permitReserveScript, reply}
}

// PermitNote calls permit_note.lua: it writes down, for people, who has permits.
type PermitNote struct {
	Permit
	Hold  string
	Label string // of the holder's process, without line ends
	Text  string
	Age   time.Duration // of the hold
}

// Call makes the call. Its replies are those of [Note].
func (n PermitNote) Call() Call {
	return Call{script: permitNoteScript, args: append(newCall(permitNoteScript, 2, 3), n.Keys.Lock, n.Keys.Slots(),
		n.Hold, n.Label+"\n"+n.Text, Millis(n.Age))}
}

// PermitInspect calls permit_inspect.lua: it tells who has which permits and who waits for some.
type PermitInspect struct {
	Permit
	Guard time.Duration // how long a restarted server must not grant; 0: no guard
}

// Call makes the call.
func (i PermitInspect) Call() Call {
	args := append(newCall(permitInspectScript, 6, 1),
		i.Keys.Lock, i.Keys.Token(), i.Keys.Queue(), i.Keys.Waiters(), i.Keys.Permits(), i.Keys.Slots())
	return Call{script: permitInspectScript, args: withGuard(args, i.Guard)}
}

// PermitInspected is what permit_inspect.lua answers.
type PermitInspected struct {
	Token   int64 // the fencing counter; 0: there is none
	Holds   []PermitHold
	Queue   []Waiting // in order
	Refusal string    // why the node would not grant; "": it would
	Other   string    // who has the lock, if that is a hold of another kind
}

// PermitHold is one hold of permits.
type PermitHold struct {
	Hold  string
	TTL   time.Duration // remaining
	Token int64
	Slots Slots
	Noted Noted
}

// ParsePermitInspected reads a reply of permit_inspect.lua.
func ParsePermitInspected(reply any) (in PermitInspected, err error) {
	bad := func() (PermitInspected, error) { return PermitInspected{}, &unexpected{permitInspectScript, reply} }
	r, _ := reply.([]any)
	if len(r) != 5 {
		return bad()
	}
	holds, ok1 := r[1].([]any)
	queue, ok2 := r[2].([]any)
	refusal, ok3 := r[3].(string)
	other, ok4 := r[4].(string)
	if !ok1 || !ok2 || !ok3 || !ok4 || len(holds)%4 != 0 {
		return bad()
	}
	in.Refusal, in.Other = refusal, other
	if r[0] != "" {
		if in.Token, ok1 = integer(r[0]); !ok1 {
			return bad()
		}
	}
	for i := 0; i < len(holds); i += 4 {
		id, ok1 := holds[i].(string)
		left, ok2 := holds[i+1].(int64)
		record, ok3 := holds[i+2].(string)
		note, ok4 := holds[i+3].(string)
		token, slots, ok5 := strings.Cut(record, " ")
		number, err := strconv.ParseInt(token, 10, 64)
		if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || err != nil {
			return bad()
		}
		h := PermitHold{Hold: id, TTL: remaining(left), Token: number, Slots: Slots(slots)}
		if age, text, found := strings.Cut(note, " "); found {
			ms, _ := strconv.ParseInt(age, 10, 64)
			h.Noted, _ = parseNoted([]any{text, ms})
		}
		in.Holds = append(in.Holds, h)
	}
	in.Queue, ok1 = parseQueue(queue)
	if !ok1 {
		return bad()
	}
	return in, nil
}
