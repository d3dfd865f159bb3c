package lock

import "time"

// maxUnheard is how long others may join after the nodes were last heard.
const maxUnheard = 50 * time.Millisecond

// joining records whether others may join a tenure that reads. It is guarded by the tenure's mu.
type joining struct {
	closed bool      // somebody waits to write, or no quorum had it for a moment; never again open
	heard  time.Time // when a quorum answered that knew of nobody
	asked  time.Time // when the nodes were last asked
	asking bool
}

// serving is what a tenure that writes knows of the turns within it. It is guarded by the tenure's mu.
type serving struct {
	closed  bool      // somebody elsewhere waits; never again open
	writing bool      // the hold in progress writes
	wrote   time.Time // when the last one that did had ended
	clear   time.Time // when a quorum last answered about waiters
	timed   bool      // a review is due

	// Those with a place on the nodes who stand before anybody of another process; see run.go.
	asked time.Time // when the tenure was asked for
	limit int64     // the ticket below which they all are of this process
	run   int       // how many of them were served since it is closed
}

// maxRun is how many waiters are served in a run. A node looks a little further for those of other processes.
const maxRun = 128

// precedes reports whether p, which has a place on the nodes, stands there before anybody of another process. Called with
// the client's mu and the tenure's held.
func (s *serving) precedes(p *place) bool {
	return s.run < maxRun && p.ticket > 0 && p.ticket < s.limit && p.opened.Before(s.asked)
}

// toReview reports whether a review has to be made due. Called with mu held.
func (s *serving) toReview() bool {
	due := s.timed
	s.timed = true
	return !due
}

// joins reports whether others of this process may join t, if nobody waits to write.
func (t *tenure) joins() bool { return t.reads && t.engine.joinable != nil }

// isOpen reports whether new callers may have their turn within t. Called with mu held.
func (t *tenure) isOpen() bool { return t.serving != nil && !t.ended && !t.reads && !t.serving.closed }

// suits reports whether a lease with set may follow within the tenure, without asking the nodes
// (U2). Called with mu held.
func (t *tenure) suits(set *settings, now time.Time) bool {
	return t.engine.set.renew && set.renew && // not a fixed lease, before or after
		!t.engine.set.apart && !set.apart &&
		t.engine.set.note == set.note && // which the nodes have
		t.engine.set.rest == set.rest && // so do they have this
		t.engine.set.minHold+set.minHold == 0 &&
		set.ttl == t.ttl && t.longest <= t.ttl && // a crash blocks others for no longer than it said
		t.last == nil && t.validity.Sub(now) >= set.ttl/2
}

// same reports whether leases with other can be within one tenure (U2), as suits does for an
// existing lease.
func (s *settings) same(other *settings) bool {
	return s.renew && other.renew && !s.apart && !other.apart && s.ttl == other.ttl && s.note == other.note && s.rest == other.rest &&
		s.minHold+other.minHold == 0
}
