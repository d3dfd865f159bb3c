package lua

import "time"

// Fair is what the scripts of the fair queue are told in common.
type Fair struct {
	Keys    Keys
	Channel string        // what the channel of a client begins with; see ClientChannels
	Alone   bool          // no node is a Cluster: who listens, listens on the very server
	Life    time.Duration // of a waiter without a sign of life
}

// A Ticket is a place in a fair queue. The zero value asks for a new one.
type Ticket struct {
	Number int64
	Final  bool // a quorum has it: it no longer grows
}

// flag is how scripts are told a bool.
func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// FairAcquire calls fair_acquire.lua: it takes a free lock for the hold whose turn it
// is, or has the hold wait.
type FairAcquire struct {
	Fair
	Hold      string
	TTL       time.Duration
	Retention time.Duration // life of an idle fencing counter
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
	Wait      bool          // in the queue, if it is not this hold's turn
	Ticket    Ticket        // to wait with
	Round     int64         // number of this request of the hold, with Wait; from 1
	Noted     bool          // a refusal includes the note about the holder
}

// Call makes the call.
func (a FairAcquire) Call() Call {
	var ticket any = ""
	if a.Wait {
		ticket = a.Ticket.Number
	}
	args := append(newCall(fairAcquireScript, 6, 8),
		a.Keys.Lock, a.Keys.Token(), a.Keys.Void(), a.Keys.Queue(), a.Keys.Waiters())
	if a.Noted {
		args = append(args, a.Keys.Note())
	}
	args[2] = len(args) - 3
	args = append(args, a.Hold, Millis(a.TTL), Millis(a.Retention), ticket, flag(a.Ticket.Final), Millis(a.Life), a.Round)
	return Call{script: fairAcquireScript, args: withGuard(args, a.Guard)}
}

// ParseFairAcquired reads a reply of fair_acquire.lua.
func ParseFairAcquired(reply any) (Acquired, error) {
	switch r := reply.(type) {
	case int64:
		return Acquired{Token: max(r, 0), Void: r < 0}, nil
	case []any:
		if len(r) == 2 {
			token, ok1 := r[0].(int64)
			behind, ok2 := r[1].(int64)
			if ok1 && ok2 && token > 0 && behind > 0 {
				return Acquired{Token: token, Behind: behind}, nil
			}
		}
		if len(r) >= 5 {
			ttl, ok1 := r[0].(int64)
			holder, ok2 := r[1].(string)
			count, ok3 := integer(r[2])
			ticket, ok4 := r[3].(int64)
			head, ok5 := r[4].(string)
			noted, ok6 := parseNoted(r[5:])
			if ok1 && ok2 && ok3 && ok4 && ok5 && ok6 {
				a := Acquired{Holder: holder, Count: int(count), Ticket: ticket, Head: head, Noted: noted}
				switch {
				case holder != "":
					a.TTL = remaining(ttl)
				case ttl > 0:
					a.Dying = remaining(ttl)
				}
				return a, nil
			}
		}
	}
	return Acquired{}, &unexpected{fairAcquireScript, reply}
}

// FairRelease calls fair_release.lua: it ends a hold or its wait, and the waits of those that were served
// within it, and wakes who is next.
type FairRelease struct {
	Fair
	Hold      string
	Mark      time.Duration // void the hold id for so long; 0: no need
	Successor string        // waiting hold that asks right after this, and need not be woken; "": none
	Undo      bool          // there never was a lease: take its token back
	Noted     bool          // the hold has a note: delete it
	Again     bool          // a part of a release may have run before, and told nobody
	Served    []string      // holds that waited and were served within the hold: they wait no more
}

// Call makes the call.
func (r FairRelease) Call() Call {
	args := append(newCall(fairReleaseScript, 6, 7+len(r.Served)), r.Keys.Lock, r.Keys.Void(), r.Keys.Queue(), r.Keys.Waiters())
	if r.Undo || r.Noted || len(r.Served) > 0 {
		args = append(args, r.Keys.Token())
	}
	if r.Noted {
		args = append(args, r.Keys.Note())
	}
	args[2] = len(args) - 3
	args = append(args, r.Hold, r.Channel, Millis(r.Mark), flag(r.Alone), r.Successor)
	if r.Undo || r.Again || len(r.Served) > 0 {
		args = append(args, flag(r.Undo), flag(r.Again))
	}
	for _, hold := range r.Served {
		args = append(args, hold)
	}
	return Call{script: fairReleaseScript, args: args}
}

// FairYield calls fair_yield.lua: it gives back a minority's grant, and the hold continues to wait.
// A hold that already waits gets its final ticket.
type FairYield struct {
	Fair
	Hold   string
	Ticket Ticket
	Round  int64 // grants of this round and earlier ones are given back
}

// Call makes the call.
func (y FairYield) Call() Call {
	args := append(newCall(fairYieldScript, 5, 7),
		y.Keys.Lock, y.Keys.Void(), y.Keys.Queue(), y.Keys.Waiters(), y.Keys.Token(),
		y.Hold, y.Ticket.Number, flag(y.Ticket.Final), Millis(y.Life), y.Channel, flag(y.Alone), y.Round)
	return Call{script: fairYieldScript, args: args}
}

// ParseFairYielded reads a reply of fair_yield.lua: the ticket the hold waits with.
func ParseFairYielded(reply any) (int64, error) {
	if n, ok := reply.(int64); ok && n >= 0 {
		return n, nil
	}
	return 0, &unexpected{fairYieldScript, reply}
}

// FairSettle calls fair_settle.lua: it takes a granted hold out of a node's queue.
type FairSettle struct {
	Fair
	Hold string
}

// Call makes the call.
func (s FairSettle) Call() Call {
	args := append(newCall(fairSettleScript, 3, 3), s.Keys.Lock, s.Keys.Queue(), s.Keys.Waiters(),
		s.Hold, s.Channel, flag(s.Alone))
	return Call{script: fairSettleScript, args: args}
}

// ParseFairSettled reads a reply of fair_settle.lua: whether the hold waited there.
func ParseFairSettled(reply any) (bool, error) { return parseBool(fairSettleScript, reply) }

// FairBeat calls fair_beat.lua: it shows that waiters are alive.
type FairBeat struct {
	Fair
	Name  string // of the beat, the same on every node
	Holds []string
}

// Call makes the call.
func (b FairBeat) Call() Call {
	args := append(newCall(fairBeatScript, 3, 4+len(b.Holds)), b.Keys.Lock, b.Keys.Queue(), b.Keys.Waiters(),
		Millis(b.Life), b.Channel, flag(b.Alone), b.Name)
	for _, hold := range b.Holds {
		args = append(args, hold)
	}
	return Call{script: fairBeatScript, args: args}
}

// A Beaten is what a node says to a sign of life.
type Beaten struct {
	Due   []string // holds that should ask, because they do not wait there or it is their turn
	First string   // the one of those that gave the sign that is first in the queue and not due; "": none is
}

// ParseFairBeat reads a reply of fair_beat.lua.
func ParseFairBeat(reply any) (Beaten, error) {
	r, ok := reply.([]any)
	if !ok {
		return Beaten{}, &unexpected{fairBeatScript, reply}
	}
	var b Beaten
	if n := len(r); n > 1 && r[n-2] == int64(0) {
		if b.First, ok = r[n-1].(string); !ok {
			return Beaten{}, &unexpected{fairBeatScript, reply}
		}
		r = r[:n-2]
	}
	b.Due = make([]string, len(r))
	for i, v := range r {
		if b.Due[i], ok = v.(string); !ok {
			return Beaten{}, &unexpected{fairBeatScript, reply}
		}
	}
	return b, nil
}
