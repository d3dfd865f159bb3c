package lua

import (
	"strings"
	"time"
)

// The ends of hold ids of a read-write lock. The code that creates hold ids adds them; hold ids of
// other locks end with a digit.
const (
	Reads  = "r" // the end of the id of a hold that reads
	Writes = "w" // and of one that writes
)

// RW is what the scripts of the read-write lock are told in common.
type RW struct{ Fair }

// RWAcquire calls rw_acquire.lua: it takes the lock to read or to write, as the hold's id tells, or has
// the hold wait.
type RWAcquire struct {
	RW
	Hold      string
	TTL       time.Duration
	Retention time.Duration // life of an idle fencing counter
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
	Wait      bool          // in the queue, if somebody is in the way
	Ticket    Ticket        // to wait with
	Round     int64         // number of this request of the hold, with Wait; from 1
	Noted     bool          // a refusal includes the note about the holder
}

// Call makes the call.
func (a RWAcquire) Call() Call {
	var ticket any = ""
	if a.Wait {
		ticket = a.Ticket.Number
	}
	args := append(newCall(rwAcquireScript, 7, 9),
		a.Keys.Lock, a.Keys.Token(), a.Keys.Void(), a.Keys.Queue(), a.Keys.Waiters(), a.Keys.Readers())
	if a.Noted {
		args = append(args, a.Keys.Note())
	}
	args[2] = len(args) - 3
	args = append(args, a.Hold, Millis(a.TTL), Millis(a.Retention),
		ticket, flag(a.Ticket.Final), Millis(a.Life), a.Round, a.Channel)
	return Call{script: rwAcquireScript, args: withGuard(args, a.Guard)}
}

// ParseRWAcquired reads a reply of rw_acquire.lua.
func ParseRWAcquired(reply any) (Acquired, error) {
	if r, ok := reply.([]any); ok && len(r) == 2 {
		token, ok1 := r[0].(int64)
		ticket, ok2 := r[1].(int64)
		if ok1 && ok2 && token > 0 {
			return Acquired{Token: token, Waiter: ticket}, nil
		}
		return Acquired{}, &unexpected{rwAcquireScript, reply}
	}
	a, err := ParseFairAcquired(reply)
	if err != nil {
		return a, &unexpected{rwAcquireScript, reply}
	}
	if a.Count < 0 {
		a.Count, a.Reads = 0, true
	}
	a.Reads = a.Reads || a.Holder == "" && strings.HasSuffix(a.Head, Reads)
	return a, nil
}

// RWRelease calls rw_release.lua: it ends a hold or its wait, and tells those whose turn it is then.
type RWRelease struct {
	RW
	Hold      string
	Mark      time.Duration // void the hold id for so long; 0: no need
	Successor string        // waiting hold that asks right after this, and need not be woken; "": none
	Undo      bool          // there never was a lease: take its token back
	Token     int64         // of a hold that wrote
	Noted     bool          // the hold has a note: delete it
}

// Call makes the call. Its replies are those of [Release].
func (r RWRelease) Call() Call {
	args := append(newCall(rwReleaseScript, 7, 6), r.Keys.Lock, r.Keys.Void(), r.Keys.Queue(), r.Keys.Waiters(), r.Keys.Readers())
	writes := strings.HasSuffix(r.Hold, Writes) && (r.Undo || r.Token > 0)
	if writes || r.Noted {
		args = append(args, r.Keys.Token())
	}
	if r.Noted {
		args = append(args, r.Keys.Note())
	}
	args[2] = len(args) - 3
	args = append(args, r.Hold, r.Channel, Millis(r.Mark), flag(r.Alone), r.Successor)
	switch {
	case writes && r.Undo:
		args = append(args, 0)
	case writes:
		args = append(args, r.Token)
	}
	return Call{script: rwReleaseScript, args: args}
}

// RWYield calls rw_yield.lua: it gives back a minority's grant, and the hold continues to wait. A
// hold that already waits gets its final ticket.
type RWYield struct {
	RW
	Hold   string
	Ticket Ticket
	Round  int64 // grants of this round and earlier ones are given back
}

// Call makes the call. Its replies are those of [FairYield].
func (y RWYield) Call() Call {
	return Call{script: rwYieldScript, args: append(newCall(rwYieldScript, 6, 7),
		y.Keys.Lock, y.Keys.Void(), y.Keys.Queue(), y.Keys.Waiters(), y.Keys.Readers(), y.Keys.Token(),
		y.Hold, y.Ticket.Number, flag(y.Ticket.Final), Millis(y.Life), y.Channel, flag(y.Alone), y.Round)}
}

// RWSettle calls rw_settle.lua: it takes a granted hold out of a node's queue.
type RWSettle struct {
	RW
	Hold string
}

// Call makes the call. Its replies are those of [FairSettle].
func (s RWSettle) Call() Call {
	return Call{script: rwSettleScript, args: append(newCall(rwSettleScript, 4, 3),
		s.Keys.Lock, s.Keys.Queue(), s.Keys.Waiters(), s.Keys.Readers(), s.Hold, s.Channel, flag(s.Alone))}
}

// RWBeat calls rw_beat.lua: it shows that waiters are alive.
type RWBeat struct {
	RW
	Name  string // of the beat, the same on every node
	Holds []string
}

// Call makes the call. Its replies are those of [FairBeat].
func (b RWBeat) Call() Call {
	args := append(newCall(rwBeatScript, 4, 4+len(b.Holds)), b.Keys.Lock, b.Keys.Queue(), b.Keys.Waiters(), b.Keys.Readers(),
		Millis(b.Life), b.Channel, flag(b.Alone), b.Name)
	for _, hold := range b.Holds {
		args = append(args, hold)
	}
	return Call{script: rwBeatScript, args: args}
}

// RWExtend calls rw_extend.lua: it makes a hold that is there live longer, or has one that wrote read
// from now on.
type RWExtend struct {
	RW
	Hold      string
	Count     int // of the hold
	TTL       time.Duration
	Token     int64
	Retention time.Duration // life of an idle fencing counter
	Reads     bool
	Round     int64         // number of the request that a quorum granted; 0: the hold did not wait
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
	Noted     bool          // the hold has a note
}

// Call makes the call. Its replies are those of [Extend].
func (e RWExtend) Call() Call {
	args := append(newCall(rwExtendScript, 7, 10),
		e.Keys.Lock, e.Keys.Token(), e.Keys.Void(), e.Keys.Queue(), e.Keys.Waiters(), e.Keys.Readers())
	if e.Noted {
		args = append(args, e.Keys.Note())
	}
	args[2] = len(args) - 3
	args = append(args, e.Hold, Millis(e.TTL), e.Token, Millis(e.Retention), e.Count, flag(e.Reads), e.Channel, flag(e.Alone))
	return Call{script: rwExtendScript, args: withRound(args, e.Round, e.Guard)}
}

// RWRestore calls rw_restore.lua: it extends a hold, and gives one that reads back to a node that lacks
// it and vouches that nobody has written since.
type RWRestore struct {
	RW
	Hold      string
	Count     int // of the hold
	TTL       time.Duration
	Token     int64
	Retention time.Duration // life of an idle fencing counter
	Reads     bool
	Uptime    time.Duration // how long the server must have run to vouch
	Round     int64         // number of the request that a quorum granted; 0: the hold did not wait
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
}

// Call makes the call. Its replies are those of [Restore].
func (r RWRestore) Call() Call {
	args := append(newCall(rwRestoreScript, 5, 9),
		r.Keys.Lock, r.Keys.Token(), r.Keys.Void(), r.Keys.Waiters(), r.Keys.Readers(),
		r.Hold, Millis(r.TTL), r.Token, Millis(r.Retention), r.Count, flag(r.Reads), Millis(r.Uptime))
	return Call{script: rwRestoreScript, args: afterCrash(args, r.Guard, r.Round)}
}

// RWRepair calls rw_repair.lua: it gives a hold to a node that lost it.
type RWRepair struct {
	RW
	Hold      string
	Count     int
	TTL       time.Duration
	Token     int64
	Retention time.Duration // life of an idle fencing counter
	Reads     bool
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
}

// Call makes the call. Its replies are those of [Repair].
func (r RWRepair) Call() Call {
	args := append(newCall(rwRepairScript, 5, 7), r.Keys.Lock, r.Keys.Token(), r.Keys.Void(), r.Keys.Readers(), r.Keys.Waiters(),
		r.Hold, r.Count, Millis(r.TTL), r.Token, Millis(r.Retention), flag(r.Reads))
	return Call{script: rwRepairScript, args: withGuard(args, r.Guard)}
}

// RWKeep calls rw_keep.lua: it lets a lock stay taken for a while when its holder has gone.
type RWKeep struct {
	RW
	Hold  string
	For   time.Duration
	Mark  time.Duration // life of the mark that voids the hold id; 0: no mark
	Token int64         // of a hold that wrote: the last one that somebody was told; 0: of one that reads
	Noted bool          // the hold has a note
}

// Call makes the call. Its replies are those of [Release].
func (k RWKeep) Call() Call {
	args := append(newCall(rwKeepScript, 7, 6), k.Keys.Lock, k.Keys.Readers(), k.Keys.Queue(), k.Keys.Waiters())
	if k.Mark > 0 || k.Token > 0 || k.Noted {
		args = append(args, k.Keys.Void())
	}
	if k.Token > 0 || k.Noted {
		args = append(args, k.Keys.Token())
	}
	if k.Noted {
		args = append(args, k.Keys.Note())
	}
	args[2] = len(args) - 3
	args = append(args, k.Hold, Millis(k.For), Millis(k.Mark), k.Channel, flag(k.Alone))
	if k.Token > 0 {
		args = append(args, k.Token)
	}
	return Call{script: rwKeepScript, args: args}
}

// RWLook calls rw_look.lua: it asks whether others may join a hold that reads without asking.
type RWLook struct {
	RW
	Hold string
}

// Call makes the call.
func (l RWLook) Call() Call {
	return Call{script: rwLookScript, args: append(newCall(rwLookScript, 5, 1),
		l.Keys.Lock, l.Keys.Void(), l.Keys.Queue(), l.Keys.Waiters(), l.Keys.Readers(), l.Hold)}
}

// Looked is what rw_look.lua answers.
type Looked struct {
	Gone   bool // the hold is not there
	Forced bool // it was ended by force
	Writer bool // somebody waits to write
}

// ParseLooked reads a reply of rw_look.lua.
func ParseLooked(reply any) (Looked, error) {
	n, ok := reply.(int64)
	if !ok || n < -2 || n > 1 {
		return Looked{}, &unexpected{rwLookScript, reply}
	}
	return Looked{Gone: n < 0, Forced: n == -2, Writer: n == 0}, nil
}

// RWReserve calls rw_reserve.lua: it raises the fencing counter for the holds that follow one another within a
// tenure that writes.
type RWReserve struct {
	RW
	Hold      string
	Last      int64         // token of the reserve
	Retention time.Duration // life of an idle fencing counter
}

// Call makes the call.
func (r RWReserve) Call() Call {
	return Call{script: rwReserveScript, args: append(newCall(rwReserveScript, 6, 3),
		r.Keys.Lock, r.Keys.Token(), r.Keys.Void(), r.Keys.Queue(), r.Keys.Waiters(), r.Keys.Readers(),
		r.Hold, r.Last, Millis(r.Retention))}
}

// RWReserved is what rw_reserve.lua answers.
type RWReserved struct {
	Gone   bool // the hold is not there, and nothing was reserved
	Forced bool // it was ended by force
	Reads  bool // the hold reads by now, and nothing was reserved
	Others bool // somebody of another client waits
}

// ParseRWReserved reads a reply of rw_reserve.lua.
func ParseRWReserved(reply any) (RWReserved, error) {
	n, ok := reply.(int64)
	if !ok || n < -3 || n > 1 {
		return RWReserved{}, &unexpected{rwReserveScript, reply}
	}
	return RWReserved{Gone: n == -1 || n == -2, Forced: n == -2, Reads: n == -3, Others: n == 0}, nil
}
