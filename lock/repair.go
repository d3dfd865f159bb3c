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
