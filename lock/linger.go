package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// A lock can stay taken when nobody works under it any more: for the rest of its minimum hold
// (WithMinHold) after a release, and for its rest (WithRest) after an expiry. In both cases the
// nodes keep it, so that it does not matter what happens to this process: the key was written with
// a TTL that is long enough, and is left to expire. Validity counts only the lease's TTL, so a
// lease ends before its key does, by the difference.

// stays returns how long the lock stays taken after a release.
func (t *tenure) stays() time.Duration {
	if t.engine.set.minHold == 0 {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.minimum()
}

// minimum returns what is left of the minimum hold. Called with mu held.
func (t *tenure) minimum() time.Duration {
	if t.engine.set.minHold == 0 || t.granted.IsZero() {
		return 0
	}
	return max(0, time.Until(t.granted.Add(t.engine.set.minHold)))
}

// lasting returns the TTL with which nodes write the key when its leases are to be valid for ttl: a node
// that lacked it, or on which the hold reads from then on, is to keep it for the rest of the minimum hold,
// too. Called with mu held.
func (t *tenure) lasting(ttl time.Duration) time.Duration {
	return t.engine.set.extended(max(ttl, t.minimum()))
}

// rests returns how long the lock stays taken after its loss.
func (t *tenure) rests() time.Duration {
	t.mu.Lock()
	forced, leased := t.reason == ReasonForced, t.leased()
	t.mu.Unlock()
	if forced || !leased {
		return 0
	}
	return max(t.engine.set.rest, t.stays())
}

// keeping is sent instead of a release, to let the lock stay taken for d. The hold itself has ended
// then, so no late command can prolong it. A node that does not confirm is asked again, as for a
// release, for what is left of d by then.
func (t *tenure) keeping(d time.Duration) redlock.Motion {
	t.footprint.Close()
	t.dismiss() // those that were served have no release to leave with
	over := time.Now().Add(d)
	t.mu.Lock()
	noted, until, found := t.noting != nil, t.outlives(), t.found()
	t.mu.Unlock()
	left := func() time.Duration { return max(time.Millisecond, time.Until(over)) }
	var narrow func() lua.Call
	if t.engine.shared == nil {
		narrow = func() lua.Call { return lua.Keep{Fair: lua.Fair{Keys: t.keys()}, Hold: t.id, For: left()}.Call() }
	}
	return redlock.Motion{
		Name:      "keep",
		Call:      t.keepCall(d, 0, noted),
		Removal:   func(mark, _ bool) lua.Call { return t.keepCall(left(), t.voids(mark), noted) },
		Yes:       t.engine.vacated,
		Found:     found,
		Narrow:    narrow,
		Removes:   true,
		Footprint: t.footprint,
		Each:      t.unqueue,
		Until:     until,
		Unsent:    2 * t.engine.client.group.NodeTimeout(), // Unlock has a bound
	}
}

// keepCall is the call that lets the lock stay taken for d on a node.
func (t *tenure) keepCall(d, mark time.Duration, noted bool) lua.Call {
	r := t.request()
	t.mu.Lock()
	if !t.engine.reads() { // a node may not have heard of a downgrade
		r.Token = t.reserve.last // for whoever reads next
	}
	t.mu.Unlock()
	k := lua.Keep{
		Fair: lua.Fair{Keys: r.Keys, Channel: r.Channel, Alone: r.Alone},
		Hold: t.id, For: d, Mark: mark, Queued: t.engine.order == queued, Noted: noted,
	}
	if s := t.engine.shared; s != nil {
		return s.Keep(r, k)
	}
	return k.Call()
}

// unqueue takes the hold, which has ended, out of the queue of a node that did not have it: what keeps the
// lock there does not touch the queue, and the node may not have heard that others had granted the lock.
func (t *tenure) unqueue(node int, a redlock.Answer) {
	if t.engine.order == unordered || t.engine.had(a.Reply) {
		return
	}
	t.engine.client.group.Vote(redlock.Motion{
		Name: "release",
		Call: t.releaseCall("", false, 0, false),
		Yes:  t.engine.vacated,
		Skip: except([]int{node}),
	})
}
