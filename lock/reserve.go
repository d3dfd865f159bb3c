package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/redlock"
)

const (
	// minReserve and maxReserve bound the tokens that are reserved at once.
	minReserve = maxHolds
	maxReserve = 1 << 14
	// tokenGap is how far ahead of the known counter a reserve of permits begins, unless this process has all of
	// them. Permits that are granted elsewhere meanwhile have tokens from before it.
	tokenGap = 16
)

// begin records that the nodes are asked, and returns the token up to which; 0: they have been
// asked already. Called with mu held, and for permits with the client's mu, too.
//
// A forgotten counter starts again from the node's clock, in microseconds. So that tokens still
// grow, a reserve is never ahead of that clock: it is no larger than the number of microseconds
// since the previous one.
func (r *reserve) begin(t *tenure, now time.Time) int64 {
	if r.asking {
		r.short = r.short || r.last == r.top
		return 0
	}
	since := r.asked
	if since.IsZero() {
		since = t.since
	}
	switch {
	case r.size == 0:
		r.size = minReserve
	case r.short, r.top-r.last <= r.lot/2:
		r.size = min(2*r.size, maxReserve) // it was used up before its time, or before the nodes answered
	}
	r.asking, r.short, r.asked = true, false, now
	passed := now.Sub(since).Microseconds()
	if ct := t.contest; t.engine.numbered != nil {
		gap := int64(tokenGap)
		if ct.relay.hasAll(t.engine) {
			gap = 0
		}
		r.lot = max(1, min(r.size, passed/int64(max(1, len(ct.reads)))-gap)) // all of them share the microseconds
		t.after = max(r.top, ct.relay.token) + gap
		ct.relay.token = t.after + r.lot
		return ct.relay.token
	}
	r.lot = max(1, min(r.size, passed))
	return r.top + r.lot
}

// low reports whether it is time to ask. Called with mu held.
func (r *reserve) low(now time.Time) bool {
	return !r.asking && (now.Sub(r.asked) >= askEvery || r.top-r.last <= r.lot/2)
}

// stale reports whether the last answer is so old that nothing may be passed on without another
// one. Called with mu held.
func (r *reserve) stale(now time.Time) bool { return now.Sub(r.heard) >= maxReign }

// An absence counts the nodes that do not have a tenure any more.
type absence struct {
	nodes  int
	forced bool // it was ended by force on one of them
}

func (a *absence) count(forced bool) {
	a.nodes++
	a.forced = a.forced || forced
}

// decides reports whether no quorum of g can have the tenure.
func (a *absence) decides(g *redlock.Group) bool { return a.nodes > g.Size()-g.Quorum() }

// vanished is called when so many of the nodes that were asked about the tenure lack it that no quorum can have it.
// A renewal then decides whether it is lost, because nodes can vouch for a renewal: it is, unless a quorum confirms it or
// the restart guard keeps one of the nodes out.
// Until then nothing is passed on, and nobody joins. If it was ended by force, or there is a single node, it is lost
// at once.
func (t *tenure) vanished(forced bool) (lost bool) {
	switch {
	case forced:
		t.lose(ReasonForced)
	case t.engine.client.group.Size() == 1:
		t.lose(ReasonGone)
	default:
		t.mu.Lock()
		t.absent = time.Now()
		t.mu.Unlock()
		t.renewNow()
		return false
	}
	return true
}
