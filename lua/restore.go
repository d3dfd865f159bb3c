package lua

import "time"

// Restore calls restore.lua: it extends a hold, and gives it back to a node that lacks it and
// vouches that nobody else has been granted the lock since.
type Restore struct {
	Keys      Keys
	Hold      string
	Count     int // of the hold
	TTL       time.Duration
	Token     int64
	Retention time.Duration // life of an idle fencing counter
	Uptime    time.Duration // how long the server must have run to vouch
	Queued    bool          // the hold came out of a fair queue
	Round     int64         // number of the request that a quorum granted; 0: the hold did not wait
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
}

// Call makes the call.
func (r Restore) Call() Call {
	args := append(newCall(restoreScript, 3, 9), r.Keys.Lock, r.Keys.Token(), r.Keys.Void())
	if r.Queued {
		args[2] = 4
		args = append(args, r.Keys.Waiters())
	}
	args = append(args, r.Hold, Millis(r.TTL), r.Token, Millis(r.Retention), r.Count, Millis(r.Uptime))
	return Call{script: restoreScript, args: afterCrash(args, r.Guard, r.Round)}
}

// afterCrash appends the arguments that have a server which restarted a moment ago tell that it grants nothing, and what
// it has of an earlier request of a hold from what it has of the one that was granted.
func afterCrash(args []any, guard time.Duration, round int64) []any {
	args = withGuard(args, guard)
	if guard > 0 && round > 0 {
		args = append(args, round)
	}
	return args
}

// ParseRestored reads a reply of restore.lua.
func ParseRestored(reply any) (Extended, error) {
	if n, ok := reply.(int64); ok && n >= -2 && n <= 2 {
		return Extended(n), nil
	}
	return 0, &unexpected{restoreScript, reply}
}
