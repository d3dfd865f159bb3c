package lock

import (
	"errors"

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
// A node that the restart guard keeps out answers a restoration with an error, and does not count as one without the
// hold: whatever it forgot by its restart, it has granted nobody anything since. Another round may find that a rival has
// given up on the others.
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

// keptOut reports whether b has an answer of a node that the restart guard keeps out.
func keptOut(g *redlock.Group, b *redlock.Ballot) bool {
	for i := range g.Size() {
		if errors.Is(b.Answer(i).Err, ErrRestarted) {
			return true
		}
	}
	return false
}

// extended ends the hold if a node that was to extend it says that it was ended by force, though a quorum may
// have confirmed it. A quorum marked it before it was ended anywhere: a node that still has it was not reached,
// or has restarted with an old snapshot.
func (t *tenure) extended(_ int, a redlock.Answer) {
	if e, err := lua.ParseRestored(a.Reply); err == nil && e == lua.ExtendForced {
		t.lose(ReasonForced)
	}
}

// unlessFree is err, or errFree.
func unlessFree(e lua.Extended, err error) error {
	if err == nil && e == lua.ExtendFree {
		return errFree
	}
	return err
}
