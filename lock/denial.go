package lock

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/redlock"
)

// A denial is why an attempt did not get the lock.
type denial struct {
	holder string        // who has it, or a part of its nodes, or whose turn it is
	ttl    time.Duration // what the holder has left; negative: no TTL
	about  description   // of the holder
	sure   bool          // a quorum agrees on the holder: it is worth waiting for the release
	nodes  int           // that agree on it
	err    error         // too few nodes answered; nil if they did
	split  error         // nobody had it: rivals split the votes
	cut    error         // what was known of an attempt that the end of the wait cut off
	final  bool          // trying again is no use
}

// tells tells whether d says for certain why the lock was not to be had.
func (d *denial) tells() bool {
	return d.cut == nil && (d.holder != "" || d.err != nil || d.split != nil)
}

// denied makes out of a lost ballot who has the lock, or why nobody can tell.
func (e *engine) denied(b *redlock.Ballot) denial {
	g := e.client.group
	var d denial
	if e.disagree(b) {
		_, votes := b.SoFar()
		d.split = &splitError{votes: votes, slots: true}
		return d
	}
	holders := make(map[string]int, 1)
	failed, pending, foreign := 0, 0, 0
	for i := range g.Size() {
		a := b.Answer(i)
		if a.Err != nil {
			failed++
			continue
		}
		if a.Vote == redlock.Pending {
			pending++
		}
		if e.sees(&d, holders, a) {
			foreign++
		}
	}
	if other, _ := kind.FamilyOf(d.holder); foreign >= g.Quorum() {
		d.err, d.final = e.mistaken(other), true
		return d
	}
	// With a quorum of nodes answering, rivals are the reason; without, it is the nodes.
	if len(holders) == 0 || g.Size()-failed < g.Quorum() {
		d.err = b.Err()
		d.final = b.Refused()
		d.sure = false
	} else if d.nodes+failed+pending < g.Quorum() {
		_, votes := b.SoFar()
		d.split = &splitError{votes: votes}
	}
	return d
}

// sees notes in d who, by one more node's answer, has the lock, and tells whether that is by a lock
// which this one cannot work together with.
func (e *engine) sees(d *denial, holders map[string]int, a redlock.Answer) (foreign bool) {
	if a.Vote != redlock.No {
		return false
	}
	seen, _ := e.kind.Acquired(a.Reply)
	if seen.Holder == "" {
		seen.Holder = seen.Head // free, but it is another's turn
	}
	if seen.Holder == "" {
		return false
	}
	who := seen.Holder
	if seen.Reads {
		who = readers // together they are in the way, whichever of them a node has named
	}
	holders[who]++
	if n := holders[who]; n >= d.nodes {
		d.nodes = n
		if d.holder != seen.Holder {
			d.about = description{}
			if !seen.Reads {
				d.ttl = seen.TTL
			}
		}
		d.holder, d.ttl = seen.Holder, max(d.ttl, seen.TTL)
		if about := describe(seen.Noted); about != (description{}) {
			d.about = about
		}
		d.sure = n >= e.client.group.Quorum()
	}
	family, ours := kind.FamilyOf(seen.Holder)
	return ours && family != e.kind.Family()
}

// readers stands for whoever reads, among holders.
const readers = "readers"

// mistaken is the error of a name that is in use as a lock of another family.
func (e *engine) mistaken(other kind.Family) error {
	return fmt.Errorf("%w: it is in use as a %v, and this is a %v", ErrKind, other, e.kind.Family())
}

// cutOff makes out of a ballot, decided or not, what a caller knows whose time is over.
func (e *engine) cutOff(b *redlock.Ballot) denial {
	answers, votes := b.SoFar()
	d := denial{cut: votes}
	holders := make(map[string]int, 1)
	for _, a := range answers {
		e.sees(&d, holders, a)
	}
	return d
}

// give gives up: it leaves the queue and says why. The wait is over; of an attempt that its
// end cut off, d tells what was known then.
func (a *acquisition) give(err error, d denial) error {
	known := a.known(&d)
	a.quit()
	switch {
	case known.tells():
	case d.cut != nil:
		known = denial{holder: d.holder, ttl: d.ttl, about: d.about, err: d.cut}
	default:
		if known = a.engine.known(); known.cut != nil {
			known.err = known.cut
		} else if !known.tells() {
			known.err = errNotAsked
		}
	}
	if errors.Is(err, errTryOver) {
		if err = ErrLocked; known.err != nil {
			err, known.err = known.err, nil
		}
	}
	if d.cut != nil {
		known.cut = d.cut
	}
	return a.fail(err, known)
}

// known is why the lock was not to be had the last time that this is certain: by the last
// attempt that was not cut off, of a's own or, for one who waits, of others in its contest.
func (a *acquisition) known(d *denial) denial {
	if a.turns != nil {
		if seen := a.turns.seen(); seen.tells() {
			return seen
		}
	}
	if !d.tells() && a.last != nil {
		return *a.last
	}
	return *d
}

// fail says why the lock was not acquired.
func (a *acquisition) fail(err error, d denial) error {
	// Close ends the contexts of leases, and their holds, as it ends this call.
	if c := a.engine.client; errors.Is(err, ErrReleased) && isClosed(c.closing) {
		err = ErrClosed
		if a.ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", ErrClosed, a.ctx.Err())
		}
	}
	e := &AcquireError{
		Name:   a.engine.name,
		Holder: d.holder,
		Own:    d.holder != "" && a.engine.client.made(d.holder),
		TTL:    d.ttl,
		Waited: time.Since(a.began),
		Err:    err,
		Last:   cmp.Or(d.err, d.split),
	}
	about := d.about
	if e.Own {
		if t := a.engine.client.tenureOf(a.engine.key, d.holder); t != nil {
			about = t.description()
		}
	}
	e.Label, e.Note, e.HeldFor = about.label, about.note, about.heldFor()
	var votes *redlock.NoQuorumError
	if errors.As(d.cut, &votes) {
		e.Silent = votes.Silent()
	}
	return e
}
