package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// repair gives the hold to nodes that lack it, after a quorum has confirmed that the hold had no
// gap. Such a node counts from the next renewal on.
func (t *tenure) repair(missing []bool, ttl time.Duration) {
	t.mu.Lock()
	count, token, ended, reads := t.count(), t.reserve.top, t.ended, t.reads
	lasts := t.lasting(ttl)
	t.mu.Unlock()
	if missing == nil || ended {
		return
	}
	r := lua.Repair{
		Keys:      t.keys(),
		Hold:      t.id,
		Count:     count,
		TTL:       lasts,
		Token:     token,
		Retention: t.engine.client.retention,
		Guard:     t.engine.client.guard,
	}
	call := r.Call()
	if k := t.engine.shared; k != nil {
		call = k.Repair(t.numbered(), r, reads)
	}
	t.engine.client.group.Vote(redlock.Motion{
		Name:      "repair",
		Call:      call,
		Yes:       lua.ParseRepaired,
		Creates:   true,
		Footprint: t.footprint,
		Skip:      func(node int) bool { return !missing[node] },
		Each:      t.repaired,
		Missed:    t.missed,
		Unsent:    patience(ttl), // as the renewal before it
	})
}

// repaired notes a node's answer to a repair.
func (t *tenure) repaired(node int, a redlock.Answer) {
	if a.Vote == redlock.Yes {
		t.gave(node)
	}
	t.voted(node, a)
}

// voted records a node's answer to the claim.
func (t *tenure) voted(node int, a redlock.Answer) {
	if a.Vote == redlock.No {
		t.refused()
	}
	t.gives(node, a)
}

// gives records the slots that a node has given, or makes it take them back if others were granted.
func (t *tenure) gives(node int, a redlock.Answer) {
	g := t.engine.client.group
	if t.engine.numbered == nil || g.Size() == 1 || a.Vote != redlock.Yes {
		return
	}
	slots := t.engine.gave(a.Reply)
	if slots == "" {
		return
	}
	t.mu.Lock()
	n := t.numbering
	differs := n.aligned && slots != n.slots
	if !n.aligned {
		if n.given == nil {
			n.given = make([]lua.Slots, g.Size())
		}
		n.given[node] = slots
	}
	t.mu.Unlock()
	if differs {
		missing := make([]bool, g.Size())
		missing[node] = true
		t.realign(missing)
	}
}

// align makes the nodes that gave other slots than the hold's take them back, and give the hold its
// slots if they are free there.
func (t *tenure) align() {
	if t.engine.numbered == nil {
		return
	}
	var missing []bool
	t.mu.Lock()
	n := t.numbering
	n.aligned = true
	for node, slots := range n.given {
		if slots != "" && slots != n.slots {
			if missing == nil {
				missing = make([]bool, len(n.given))
			}
			missing[node] = true
		}
	}
	n.given = nil
	t.mu.Unlock()
	if missing != nil {
		t.realign(missing)
	}
}

func (t *tenure) realign(missing []bool) {
	t.refused()
	t.repair(missing, t.engine.set.ttl)
}
