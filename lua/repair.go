package lua

import "time"

// Repair calls repair.lua: it gives a hold to a node that lost it.
type Repair struct {
	Keys      Keys
	Hold      string
	Count     int
	TTL       time.Duration
	Token     int64
	Retention time.Duration // life of an idle fencing counter
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
}

// Call makes the call.
func (r Repair) Call() Call {
	args := append(newCall(repairScript, 3, 6), r.Keys.Lock, r.Keys.Token(), r.Keys.Void(),
		r.Hold, r.Count, Millis(r.TTL), r.Token, Millis(r.Retention))
	return Call{script: repairScript, args: withGuard(args, r.Guard)}
}

// ParseRepaired reads a reply of repair.lua: whether the hold is there now.
func ParseRepaired(reply any) (bool, error) {
	return parseBool(repairScript, reply)
}
