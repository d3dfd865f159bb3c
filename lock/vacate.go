package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// vacate sends the release of the whole tenure, and does not wait.
func (t *tenure) vacate(quiet bool) *redlock.Ballot {
	return t.engine.client.group.Vote(t.vacation(quiet, nil))
}

// lastCall is longer than a removal that is owed waits until it is tried again.
const lastCall = 2 * time.Second

// vacation is the release of the tenure: on every node that has the key or may
// have it. Nodes that do not confirm are asked again until the key has expired.
// Nothing may create the key from here on. successor is nil if it is not quiet or of no queue.
func (t *tenure) vacation(quiet bool, successor *place) redlock.Motion {
	e := t.engine
	r := t.request()
	if successor != nil {
		r.Successor = successor.id
	}
	t.footprint.Close()
	t.mu.Lock()
	r.Undo, r.Noted = !t.leased(), !t.written.IsZero()
	if !r.Undo && !t.reads {
		r.Token = t.reserve.last
	}
	until := t.outlives()
	t.mu.Unlock()
	return redlock.Motion{
		Name:      "release",
		Call:      e.kind.Release(r, quiet, 0),
		Removal:   t.removal(r, quiet),
		Narrow:    t.narrow,
		Yes:       e.vacated,
		Removes:   true,
		Footprint: t.footprint,
		Until:     until,
		Unsent:    2 * e.client.group.NodeTimeout(), // Unlock has a bound
	}
}

// narrow is the part of a release that touches the hash alone.
func (t *tenure) narrow() lua.Call { return lua.Release{Keys: t.keys(), Hold: t.id}.Call() }

// outlives is a moment by which nodes cannot have the key any more. Called with mu held.
func (t *tenure) outlives() time.Time {
	set, g := &t.engine.set, t.engine.client.group
	// What was sent last may be on its way for a node timeout; and a node that was stopped
	// may go on, and make the key live longer, just before it would have expired.
	return time.Now().Add(max(set.extended(max(t.ttl, t.longest)), set.granted()) + g.NodeTimeout() + lastCall)
}

// removal makes the releases that a vacation sends where its call will not do.
func (t *tenure) removal(r kind.Request, quiet bool) func(mark, again bool) lua.Call {
	return func(mark, again bool) lua.Call {
		life := time.Duration(0)
		if mark {
			life = markLife
		}
		// A quiet one relies on who comes right behind it. By now that one has been refused.
		return t.engine.kind.Release(r, quiet && !again, life)
	}
}

// leased tells whether there ever was a lease: not of an attempt that is given back. Called with
// mu held.
func (t *tenure) leased() bool { return !t.validity.IsZero() }

// vacated reads one node's reply to a release: that the hold is not there any more is
// a yes, whether or not it was.
func (e *engine) vacated(reply any) (bool, error) {
	_, err := e.kind.Released(reply)
	return err == nil, err
}

// markLife is how long a voided hold id is remembered on a node, from when the node executes
// the removal: a stall before that, however long, takes nothing of it. A command that is
// even later leaves a key for a TTL (I5).
const markLife = 10 * time.Second
