package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// A verdict is the result of a round of extensions, or of a round of restorations after it.
type verdict uint8

const (
	undecided  verdict = iota // too few answers: another round may find a quorum
	confirmed                 // a quorum has the hold, and nobody else was granted the lock since it was
	restorable                // a round of restorations may find such a quorum
	gone                      // so many nodes do not have the hold that no quorum can
)

// judge returns the result of b, which extended the hold, or restored it after an extension.
//
// A free node gets the hold back before a quorum has confirmed it if it vouches that nobody else
// has been granted the lock since. So the nodes that have the hold and those that vouch count
// together: a later holder would have had one of them, and that node would know (spec/vouch.pml).
//
// If no node has the hold, somebody has deleted it, and that counts: an operator who ends a lock by
// hand must not find it back. Likewise, a single node has no other node from which to get the hold
// back.
func judge(g *redlock.Group, b *redlock.Ballot, restored bool) verdict {
	var has, free, refuse int
	forced := false
	for i := range g.Size() {
		a := b.Answer(i)
		answer, err := lua.ParseRestored(a.Reply)
		switch {
		case a.Vote == redlock.Pending || err != nil:
		case answer == lua.ExtendDone:
			has++
		case answer == lua.ExtendFree:
			free++
		case answer == lua.ExtendBack:
		default:
			refuse++
			forced = forced || answer == lua.ExtendForced
		}
	}
	most := g.Size() - g.Quorum() // may be without it
	switch {
	case b.Won():
		return confirmed
	case !restored && has > 0 && free > 0 && refuse <= most && !forced:
		return restorable
	case free+refuse > most:
		return gone
	}
	return undecided
}

// restoration is extension, except that a free node that vouches for the hold gets it again.
func (t *tenure) restoration(ttl time.Duration) redlock.Motion {
	g := t.engine.client.group
	t.mu.Lock()
	count, token, since, reads := t.count(), t.reserve.top, t.since, t.reads
	lasts := t.lasting(ttl)
	t.mu.Unlock()
	r := lua.Restore{
		Keys:      t.keys(),
		Hold:      t.id,
		Count:     count,
		TTL:       lasts,
		Token:     token,
		Retention: t.engine.client.retention,
		// Later answers do not count.
		Uptime: max(time.Since(since)+g.NodeTimeout(), t.engine.client.guard),
		Queued: t.engine.order == queued,
		Round:  t.round,
		Guard:  t.engine.client.guard,
	}
	call := r.Call()
	if k := t.engine.shared; k != nil {
		call = k.Restore(t.numbered(), r, reads)
	}
	return redlock.Motion{
		Name: "restore",
		Call: call,
		Yes: func(reply any) (bool, error) {
			e, err := lua.ParseRestored(reply)
			return e == lua.ExtendDone || e == lua.ExtendBack, unlessFree(e, err)
		},
		Each:      t.extended,
		Creates:   true,
		Footprint: t.footprint,
	}
}
