package redlock

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lua"
)

// An op is one node's part of a ballot. Between submit and settle it belongs to the
// node's lane.
type op struct {
	ballot  *Ballot
	lane    *lane     // it was queued in first; nil: in none
	expires time.Time // counts as a no from then on; see also Motion.Unsent
	counted uint64    // the count of its lane's pending releases that it is in; 0: none
	node    int32
	again   bool // it was owed
	marked  bool // a removal that was sent with a mark for a command that may come later

	// In a Cluster.
	moves  uint8 // how often it was sent to another server
	asking bool  // the server does it only if asked to
	stray  bool  // the ClusterClient is to find the server
	narrow bool  // only the first key is to be touched
	halved bool  // and that was a part of a removal, all of which is still owed
	apart  bool  // a removal, as far as it is owed because the keys are apart

	told   bool // what the node said; guarded by ballot.mu
	missed bool // Motion.Missed was called; guarded by ballot.mu
	silent bool // the node was down when the ballot began; guarded by ballot.mu
	far    bool // the node is much farther away than others; guarded by ballot.mu

	deferred *Answer // a no that may yet become a yes, as the removal is tried again in time; nil: none

	answer Answer // guarded by ballot.mu until the ballot is decided
}

// key returns the key of the op's command.
func (o *op) key() string { return o.ballot.motion.Call.Key() }

// removes reports whether o is to remove a key.
func (o *op) removes() bool { return o.ballot.motion.Removes }

// isPlain reports whether o is only to be queued, as nothing else has to be decided about its node.
func (o *op) isPlain() bool {
	m := &o.ballot.motion
	return !m.Flush && !o.needless()
}

// needless reports whether o removes something that was never sent. The creation may still wait in
// a queue: the footprint is closed by now, so it will never be sent.
func (o *op) needless() bool {
	m := &o.ballot.motion
	if !m.Removes {
		return false
	}
	needed, _ := m.Footprint.remove(int(o.node))
	return !needed
}

// owed reports whether o's removal, which was not confirmed, has to be tried again. The key has
// expired with its TTL if it was written in time; if it may be written late, nobody knows when that
// will be.
func (o *op) owed(now time.Time) bool {
	m := &o.ballot.motion
	return now.Before(m.Until) || m.Footprint.open(int(o.node))
}

// call decides at the moment of sending what to send; if ok is false, nothing. Only now is it known
// what is still in flight to this node before it.
func (o *op) call() (call lua.Call, ok bool) {
	call, ok = o.choose()
	if o.asking {
		call = call.Asking()
	}
	return call, ok
}

func (o *op) choose() (call lua.Call, ok bool) {
	m := &o.ballot.motion
	switch {
	case m.Creates:
		if !m.Footprint.create(int(o.node)) {
			o.ballot.vote(o, Answer{Vote: No, Err: errAbandoned})
			return lua.Call{}, false
		}
	case m.Removes:
		needed, mark := m.Footprint.remove(int(o.node))
		if !needed {
			o.ballot.vote(o, Answer{Vote: Yes, unasked: true})
			return lua.Call{}, false
		}
		o.marked = mark && m.Removal != nil && !o.narrow
		if o.narrow {
			o.halved = true
			return m.Narrow(), true
		}
		if (mark || o.again) && m.Removal != nil {
			return m.Removal(mark, o.again), true
		}
	}
	if o.narrow {
		return m.Narrow(), true
	}
	return m.Call, true
}

// narrows has o touch only its first key from now on. It reports false if o cannot, or does so already.
func (o *op) narrows() bool {
	if o.ballot.motion.Narrow == nil || o.narrow {
		return false
	}
	o.narrow = true
	return true
}

// recall undoes what call recorded, for a command for which the server did nothing and that will be
// sent to another server.
func (o *op) recall() {
	if m := &o.ballot.motion; m.Creates {
		m.Footprint.created(int(o.node), false, true, 0)
	}
}

// settle handles n's reply to the command of call, or its error. It reports whether a removal on
// the node is still pending.
func (o *op) settle(n *node, reply any, err error) (owes bool) {
	m := &o.ballot.motion
	over := err == nil || isOver(err) // a dial that took too long among others
	if !over && isTimeout(err) {
		err = ErrSilent // by a bound's deadline or the connection's, whichever comes first
	}
	a := Answer{Vote: No, Reply: reply, Err: err}
	if lua.IsRestarted(err) {
		a.Err = fmt.Errorf("%w: %w", ErrRestarted, err)
	}
	if err == nil {
		var yes bool
		if yes, a.Err = m.Yes(reply); yes {
			a.Vote = Yes
		}
	}
	if m.Creates && (a.Vote == Yes || err != nil && !lua.IsRestarted(err)) { // the guard has a log entry of its own
		n.noteRefusal(err)
	}
	switch {
	case m.Creates:
		left := a.Vote == Yes || mayHaveWritten(err) || m.Leaves != nil && (lua.IsRestarted(err) || err == nil && m.Leaves(reply))
		grant := uint64(0)
		if a.Vote == Yes {
			grant = o.ballot.group.grants.Add(1)
		}
		m.Footprint.created(int(o.node), left, over, grant)
	case m.Removes && err == nil && !o.halved:
		m.Footprint.removed(int(o.node), o.marked)
	}
	a.Err = n.blame(a.Err)
	o.apart = m.Removes && (isPassing(err) || o.halved)
	if m.Removes && isPassing(err) && time.Now().Before(o.ballot.start.Add(n.lane.timeout)) {
		deferred := a // a itself stays on the stack
		o.deferred = &deferred
		return true
	}
	o.deferred = nil
	o.tell(a)
	o.ballot.vote(o, a)
	if m.Each != nil && err == nil {
		m.Each(int(o.node), a)
	}
	if err != nil {
		o.miss(a, isOutage(err)) // of which the lane learns when the flight has landed
	}
	return m.Removes && (err != nil || o.halved)
}

// conclude counts a deferred answer, as the removal is not tried again in time.
func (o *op) conclude() {
	if a := o.deferred; a != nil {
		o.deferred = nil
		o.tell(*a)
		o.ballot.vote(o, *a)
		o.miss(*a, false)
	}
}

// unsent ends an op whose command never left. For down, see Motion.Missed.
func (o *op) unsent(err error, down bool) (owes bool) {
	m := &o.ballot.motion
	if m.Removes {
		if needed, _ := m.Footprint.remove(int(o.node)); !needed {
			o.ballot.vote(o, Answer{Vote: Yes, unasked: true})
			return false
		}
	}
	a := Answer{Vote: No, Err: err}
	o.tell(a)
	o.ballot.vote(o, a)
	o.miss(a, down)
	return m.Removes
}

// timeout counts the node as a no. A later answer still settles the footprint. For down, see
// Motion.Missed.
func (o *op) timeout(n *node, down bool) {
	a := Answer{Vote: No, Err: n.silent()}
	o.tell(a)
	o.ballot.vote(o, a)
	o.miss(a, down)
}

// miss reports, once, that the node may not have run the command. It comes after the vote, so that
// Missed can see whether the ballot is decided.
func (o *op) miss(a Answer, down bool) {
	b := o.ballot
	if b.motion.Missed == nil {
		return
	}
	b.mu.Lock()
	missed := o.missed
	o.missed = true
	b.mu.Unlock()
	if !missed {
		b.motion.Missed(int(o.node), a, down)
	}
}

// tell reports the node's answer to the observer. Only the first answer counts, as in a vote.
func (o *op) tell(a Answer) {
	b := o.ballot
	if b.group.config.Answered == nil {
		return
	}
	b.mu.Lock()
	told := o.told
	o.told = true
	b.mu.Unlock()
	if !told {
		b.group.config.Answered(int(o.node), b.motion.Name, time.Since(b.start), a)
	}
}

// isOver reports whether a command that ended with err will not run later: the server answered, or
// the command never left this process.
func isOver(err error) bool {
	var refusal redis.Error
	if errors.As(err, &refusal) {
		return true
	}
	return isDial(err) || errors.Is(err, ErrDuplicateNode) || errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted)
}

// isDial reports whether err is that of a connection that could not be made.
func isDial(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
}

// notRun are the refusals of a script before it runs, or at its first command that touches a key or
// writes. Others may come from the middle of the script; and RESTARTED of one that queues, which settle knows.
var notRun = []string{
	"NOSCRIPT", "NOPERM", "NOAUTH", "WRONGPASS", "WRONGTYPE", "LOADING", "BUSY", "MASTERDOWN", "READONLY", "OOM",
	"MISCONF", "NOREPLICAS", "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "CROSSSLOT", "ERR unknown command",
	"ERR max number of clients", "RESTARTED",
}

// mayHaveWritten reports whether err came from a script that had begun to write, for example if an
// ACL allows HSET and not PEXPIRE.
func mayHaveWritten(err error) bool {
	var refusal redis.Error
	return errors.As(err, &refusal) &&
		!slices.ContainsFunc(notRun, func(prefix string) bool { return strings.HasPrefix(refusal.Error(), prefix) })
}

// isPassing reports whether a Cluster that has refused a command with err may soon do it: the keys of a slot that is
// moving are apart only for moments.
func isPassing(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "TRYAGAIN") }

// isTimeout reports whether err is the error of a deadline, whoever has set it. It is separate from
// settle, which would otherwise allocate even without an error.
func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
