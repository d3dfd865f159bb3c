package lua

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Acquire calls acquire.lua: it takes a free lock.
type Acquire struct {
	Keys      Keys
	Hold      string
	TTL       time.Duration
	Retention time.Duration // life of an idle fencing counter
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
	Noted     bool          // a refusal includes the note about the holder
}

// Call makes the call.
func (a Acquire) Call() Call {
	token, void := a.Keys.tokenAndVoid()
	keys, argv := 3, 3
	if a.Noted {
		keys++
	}
	if a.Guard > 0 {
		argv++
	}
	args := append(newCall(acquireScript, keys, argv), a.Keys.Lock, token, void)
	if a.Noted {
		args = append(args, a.Keys.Note())
	}
	args = append(args, a.Hold, Millis(a.TTL), Millis(a.Retention))
	return Call{script: acquireScript, args: withGuard(args, a.Guard)}
}

// withGuard appends the argument that tells of a guard, where there is one: each costs the
// server a quarter of a microsecond.
func withGuard(args []any, guard time.Duration) []any {
	if guard > 0 {
		args = append(args, Millis(guard))
	}
	return args
}

// withRound appends the arguments that have a server which may have its data from a snapshot tell what it has of an
// earlier request of a hold from what it has of the one that was granted.
func withRound(args []any, round int64, guard time.Duration) []any {
	if round > 0 && guard > 0 {
		args = append(args, round, Millis(guard))
	}
	return args
}

// Acquired is what acquire.lua answers.
type Acquired struct {
	Token  int64         // > 0: granted
	Holder string        // otherwise: who has it; "" when nobody has, or the hold id was voided
	Void   bool          // it was
	Count  int           // the holder's
	TTL    time.Duration // the holder's remaining; negative: it has none
	Noted  Noted         // about the holder

	// Of a grant of a mutex without a queue.
	Deaf bool      // others wait for it who cannot listen
	Far  []FarMark // of processes that are farther away than others

	// Of a fair lock.
	Ticket int64         // that the hold waits with; 0: it does not wait
	Head   string        // who is first in the queue; "": nobody
	Dying  time.Duration // > 0: the head seems to be dead, and will be dropped after so long
	Behind int64         // of a grant: every waiter with a lower ticket is of the hold's client; 0: no waiter is known

	// Of a read-write lock.
	Reads  bool  // the holder does, or Head
	Waiter int64 // of a grant: the ticket of who waits to write, or, of one to write, of another client's; 0: nobody does

	// Of a semaphore.
	Slots Slots // that the node granted
	Free  Slots // that it could have granted; "": those were asked for, or none by name
}

// ParseAcquired reads a reply of acquire.lua.
func ParseAcquired(reply any) (Acquired, error) {
	switch r := reply.(type) {
	case int64:
		return Acquired{Token: max(r, 0), Void: r < 0}, nil
	case []any:
		if len(r) >= 2 {
			if token, ok := r[0].(int64); ok && token > 0 {
				if deaf, far, ok := parseMarks(r[1:]); ok {
					return Acquired{Token: token, Deaf: deaf, Far: far}, nil
				}
			}
		}
		if len(r) >= 3 {
			ttl, ok1 := r[0].(int64)
			holder, ok2 := r[1].(string)
			count, ok3 := integer(r[2])
			noted, ok4 := parseNoted(r[3:])
			if ok1 && ok2 && ok3 && ok4 {
				return Acquired{Holder: holder, Count: int(count), TTL: remaining(ttl), Noted: noted}, nil
			}
		}
	}
	return Acquired{}, &unexpected{acquireScript, reply}
}

// IsRestarted reports whether a server refused to grant because it started recently.
func IsRestarted(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "RESTARTED")
}

// IsUnguarded reports whether a server refused to grant because it does not tell since when it is up: a restart guard
// needs that.
func IsUnguarded(err error) bool {
	return err != nil && strings.Contains(err.Error(), "does not tell its uptime")
}

// Millis rounds d up to whole milliseconds: a key must not expire before the validity that was
// computed from d.
func Millis(d time.Duration) int64 {
	n := int64(d / time.Millisecond)
	if d%time.Millisecond > 0 {
		n++
	}
	return n
}

// remaining reads a PTTL. A key that is there has some left, if less than its unit.
func remaining(pttl int64) time.Duration {
	if pttl == 0 {
		pttl = 1
	}
	return time.Duration(pttl) * time.Millisecond
}

// integer reads a number that came as an integer or as a string of digits.
func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}

// An unexpected is a reply that a script never gives. It is put into words only for who
// asks: a caller that reads the answers of all nodes has this for each that has not answered.
type unexpected struct {
	script *Script
	reply  any
}

func (u *unexpected) Error() string {
	return fmt.Sprintf("%s.lua answered %v (%T), which it never does: is another program using this key?", u.script.Name, u.reply, u.reply)
}
