package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// vacate sends the release of the whole tenure, and does not wait.
func (t *tenure) vacate(quiet bool) *redlock.Ballot {
	return t.engine.client.group.Vote(t.vacation(quiet, ""))
}

// draftVacation drafts the release of a lease, which is quiet if it names a successor: that one asks right after
// it. As for draftClaim, the motion does not stay on the stack.
func (t *tenure) draftVacation(successor string) *redlock.Ballot {
	return t.engine.client.group.Draft(t.vacation(successor != "", successor))
}

// lastCall is longer than the pause before a pending removal is tried again.
const lastCall = 2 * time.Second

// vacation is the release of the tenure, on every node that has the key or may have it. Nodes that
// do not confirm are asked again until the key has expired. Nothing may create the key from here on.
// successor is empty unless the release is quiet and of a lock with a queue.
func (t *tenure) vacation(quiet bool, successor string) redlock.Motion {
	t.footprint.Close()
	until, found, sends := t.takeAlong()
	return redlock.Motion{
		Name:      "release",
		Call:      t.releaseCall(successor, quiet, 0, false),
		Removal:   t.removal(successor, quiet),
		Found:     found,
		Narrow:    t.narrow(),
		Yes:       t.engine.vacated,
		Removes:   true,
		Footprint: t.footprint,
		Flush:     sends,
		Until:     until,
		Unsent:    2 * t.engine.client.group.NodeTimeout(), // Unlock has a bound
	}
}

// takeAlong has the release of t take those that were served within it out of the queues. One that a
// node may yet queue leaves by a command of its own, sent with the release. takeAlong returns a time by
// which nodes can no longer have any of them, or t itself; found; and whether there are such commands.
func (t *tenure) takeAlong() (until time.Time, found func(reply any) bool, sends bool) {
	t.mu.Lock()
	leaving := t.leaves()
	if t.run != nil && t.run.dismissal != nil {
		t.run.dismissal.Stop()
	}
	until, found = t.outlives(), t.found()
	t.mu.Unlock()
	for _, w := range leaving {
		w.footprint.Close()
		if t.engine.shared != nil || !t.footprint.Absorb(w.footprint) {
			t.engine.client.group.Draft(w.vacation(false, "")).Prepare()
			sends = true
			continue
		}
		w.mu.Lock()
		outlives := w.outlives()
		w.mu.Unlock()
		t.mu.Lock()
		t.run.along = append(t.run.along, w.id)
		t.mu.Unlock()
		if outlives.After(until) {
			until = outlives
		}
	}
	return until, found, sends
}

// dismiss takes those that were served within t out of the queues, without the release of t.
func (t *tenure) dismiss() {
	t.mu.Lock()
	leaving := t.leaves()
	t.mu.Unlock()
	if len(leaving) == 0 {
		return
	}
	first := leaving[0]
	first.mu.Lock()
	if len(leaving) > 1 {
		first.running().leaving = leaving[1:]
	}
	first.mu.Unlock()
	first.vacate(false)
}

// releaseCall is the call that ends the tenure on a node. The tenure is over, so what the call says of it no
// longer changes.
func (t *tenure) releaseCall(successor string, quiet bool, mark time.Duration, again bool) lua.Call {
	r := t.request()
	r.Successor, r.Again = successor, again
	t.mu.Lock()
	r.Undo, r.Noted = !t.leased(), t.noting != nil
	if t.run != nil {
		r.Served = t.run.along
	}
	if !r.Undo && !t.engine.reads() { // a node may not have heard of a downgrade
		r.Token = t.reserve.last
	}
	t.mu.Unlock()
	return t.engine.kind.Release(r, quiet, mark)
}

// narrow makes the part of a release that touches the hash alone. Where holds have deadlines of their own there is
// none: the other keys would tell of one that is not there.
func (t *tenure) narrow() func() lua.Call {
	if t.engine.shared != nil {
		return nil
	}
	return func() lua.Call { return lua.Release{Keys: t.keys(), Hold: t.id}.Call() }
}

// asks is the call that only asks whether a node has the hold.
func (t *tenure) asks() lua.Call { return lua.Holds{Keys: t.keys(), Hold: t.id}.Call() }

// outlives is a time by which nodes can no longer have the key. Called with mu held.
func (t *tenure) outlives() time.Time {
	set, g := &t.engine.set, t.engine.client.group
	// The last command may still be in flight for one node timeout. A node that was stopped may
	// resume, and extend the key just before it would have expired.
	return time.Now().Add(max(set.extended(max(t.ttl, t.longest)), set.granted()) + g.NodeTimeout() + lastCall)
}

// removal makes the releases that a vacation sends when its Call is not sufficient. They are seldom
// needed, so they are built only then.
func (t *tenure) removal(successor string, quiet bool) func(mark, again bool) lua.Call {
	return func(mark, again bool) lua.Call {
		// A quiet release relies on a successor that asks right after it. By now that one has been
		// refused.
		return t.releaseCall(successor, quiet && !again, t.voids(mark), again)
	}
}

// leased reports whether there ever was a lease; an attempt that is given back has none. Called
// with mu held.
func (t *tenure) leased() bool { return !t.validity.IsZero() }

// found returns how a reply to a release says that the node had the hold. Only of a lease does
// anybody want to know. Called with mu held.
func (t *tenure) found() func(reply any) bool {
	if !t.leased() {
		return nil
	}
	return t.engine.had
}

// markLife is how long a node remembers a voided hold id at the least, from when the node executes the
// removal: a stall of the node before that, however long, does not shorten it.
const markLife = 10 * time.Second

const (
	// resend is more than TCP's first pause before it sends again, and than a removal is under way that gets through.
	resend = 2 * time.Second
	// longestMark is more than its longest.
	longestMark = 3 * time.Minute
)

// voids returns for how long a removal that is sent now is to void the hold id, if it has to mark it; else 0. A
// command that is even later leaves a key for a TTL (I5).
//
// A command that a network has not delivered is sent again by TCP, even if its connection has been given up. Each
// pause is twice the one before. So when a removal gets through on a new connection, the next time is hardly farther
// away than the first.
func (t *tenure) voids(mark bool) time.Duration {
	if !mark {
		return 0
	}
	return min(max(markLife, time.Since(t.made)+resend), longestMark)
}

// except skips all nodes but these.
func except(nodes []int) func(int) bool {
	return func(node int) bool {
		for _, n := range nodes {
			if n == node {
				return false
			}
		}
		return true
	}
}
