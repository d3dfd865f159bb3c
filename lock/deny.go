package lock

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/redlock"
)

// denied finds out from a lost ballot who has the lock, or why nobody can tell. If a quorum of
// nodes answered, rivals are the reason; if not, the nodes are.
func (e *engine) denied(b *redlock.Ballot) *denial {
	g := e.client.group
	d := new(denial)
	if e.disagree(b) {
		_, votes := b.SoFar()
		d.split = &splitError{votes: votes, slots: true}
		return d
	}
	holders := make(map[string]named, 1)
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
		if e.sees(d, holders, a) {
			foreign++
		}
	}
	if other, _ := kind.FamilyOf(d.holder); foreign >= g.Quorum() {
		d.err, d.final = e.mistaken(other), true
		return d
	}
	if e.numbered != nil && d.sure {
		d.mixed = mixed(b, e)
	}
	d.free = e.free(b)
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

// sees records in d who has the lock, according to one more node's answer. It reports whether the
// lock is one with which this one cannot work together.
func (e *engine) sees(d *denial, holders map[string]named, a redlock.Answer) (foreign bool) {
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
	together := holders[who].by(seen.TTL)
	holders[who] = together
	left := together.ttl
	if seen.Reads && e.numbered != nil { // of several holds of permits, each node names the one that ends first there
		one := holders[seen.Holder].by(seen.TTL)
		holders[seen.Holder] = one
		left = one.ttl
	}
	if n := together.nodes; n >= d.nodes {
		d.nodes = n
		if d.holder != seen.Holder {
			d.about = description{}
		}
		d.holder, d.ttl = seen.Holder, left
		if about := describe(seen.Noted); about != (description{}) {
			d.about = about
		}
		d.sure = n >= e.client.group.Quorum()
	}
	family, ours := kind.FamilyOf(seen.Holder)
	return ours && family != e.kind.Family()
}

// named is what nodes say of a holder, or of all readers.
type named struct {
	nodes int           // that have named it
	ttl   time.Duration // the longest that one of them has it for
}

// by is n with one more node.
func (n named) by(ttl time.Duration) named {
	if n.nodes == 0 || ttl > n.ttl {
		n.ttl = ttl
	}
	n.nodes++
	return n
}

// free returns how long it takes until a quorum of nodes may be free, as far as a lost ballot tells, or 0.
// A quorum of refusals decides a ballot, and a node may refuse because it has yet to hear of a release
// of which others, and the caller, have heard. So what counts is not the node that has the lock for
// longest, but the first one that completes a quorum; and a node whose answer is missing may be free.
func (e *engine) free(b *redlock.Ballot) time.Duration {
	g := e.client.group
	left := make([]time.Duration, 0, 8)
	for i := range g.Size() {
		a := b.Answer(i)
		if a.Err != nil {
			continue
		}
		var ttl time.Duration
		if a.Vote == redlock.No {
			seen, _ := e.kind.Acquired(a.Reply)
			ttl = seen.TTL
		}
		if ttl >= 0 { // a key without a TTL stays
			left = append(left, ttl)
		}
	}
	if len(left) < g.Quorum() {
		return 0
	}
	slices.Sort(left)
	return left[g.Quorum()-1]
}

// mixed returns the holds that nodes named in their refusals; nil: a quorum named the same one.
func mixed(b *redlock.Ballot, e *engine) (named []string) {
	counts := make(map[string]int)
	for i := range e.client.group.Size() {
		if a := b.Answer(i); a.Vote == redlock.No {
			if seen, _ := e.kind.Acquired(a.Reply); seen.Holder != "" {
				counts[seen.Holder]++
			}
		}
	}
	for id, n := range counts {
		if n >= e.client.group.Quorum() {
			return nil
		}
		named = append(named, id)
	}
	return named
}

// readers stands for all readers, among holders.
const readers = "readers"

// mistaken is the error of a name that is in use as a lock of another family.
func (e *engine) mistaken(other kind.Family) error {
	return fmt.Errorf("%w: it is a %v, not a %v", ErrKind, other, e.kind.Family())
}

// cutOff returns what a caller whose time is over knows from a ballot, decided or not.
func (e *engine) cutOff(b *redlock.Ballot) *denial {
	answers, votes := b.SoFar()
	d := &denial{cut: votes}
	holders := make(map[string]named, 1)
	for _, a := range answers {
		e.sees(d, holders, a)
	}
	return d
}

// known returns what this process knows about why the engine's lock is not available.
func (e *engine) known() *denial {
	c := e.client
	c.mu.Lock()
	ct := c.contests[e.contest()]
	if ct == nil {
		c.mu.Unlock()
		return nothing
	}
	d, b := ct.seen(e), ct.asking.Load()
	c.mu.Unlock()
	if d.holder == "" && d.err == nil && b != nil {
		return e.cutOff(b)
	}
	return d
}
