package lock

import (
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/watchdog"
)

// renew is the watchdog's callback: it sends the renewals of holds, and the signs of life of
// waiters, that are due. It does not wait for them; the lanes put them into one pipeline per node,
// and the failure of one affects no other.
func renew(due []*watchdog.Ward) {
	for _, w := range due {
		w.Owner.(interface{ renew() }).renew()
	}
}

// renew sends one renewal, unless it is no longer wanted.
func (t *tenure) renew() {
	now := time.Now()
	t.mu.Lock()
	t.dates.renewAt = time.Time{} // the ward has none now
	ttl := t.span(now)
	if ttl == 0 || t.ended || t.renewing != nil {
		t.mu.Unlock()
		return
	}
	h := t.present[0]
	t.renewing = make(chan struct{})
	if !t.uneven {
		t.pause = 0
	}
	t.uneven = false
	longest := t.ttl
	look := !h.warned && now.Sub(h.began) > longest
	mends := t.mending
	t.mu.Unlock()
	if look {
		h.warn(now.Add(-longest))
	}

	r := &renewal{tenure: t, ttl: ttl, mends: mends}
	m := t.extension(ttl)
	m.Unsent = patience(ttl) // among a hundred thousand others
	m.Each = r.answered
	m.Missed = r.missed
	m.Then = r.decided
	t.engine.client.group.Vote(m) // without mu: on a closed group the decision comes at once
}

// remain has the nodes keep the key until the minimum hold is over: they wrote it when the attempt came, and the
// grant may have been decided much later, by when a key that is to live no longer than the minimum would end too
// soon. A renewal that is sent here comes before whatever ends the hold, which only shortens the key. One that
// comes in its own time would be too late for work that is soon done, or a process that dies meanwhile. Nothing is
// sent if the TTL and the time for WithRest make up for it.
func (t *tenure) remain() {
	set := &t.engine.set
	if set.minHold == 0 || !t.since.Add(set.granted()).Before(t.granted.Add(set.minHold)) {
		return
	}
	t.mu.Lock()
	t.mending = true // though no lease may be renewed
	t.mu.Unlock()
	t.renew()
}

// warn logs, once, that a call of this client has waited for the hold since before then. Only a
// hold that is renewed can be waited for longer than its TTL, so its renewal is the time to check.
func (h *hold) warn(then time.Time) {
	c := h.engine.client
	waits := 0
	c.mu.Lock()
	for order := range orders {
		if ct := c.contests[contestKey{h.engine.keys.Lock, order}]; ct != nil {
			for _, p := range ct.queue {
				if p.call.began.Before(then) {
					waits++
				}
			}
		}
	}
	c.mu.Unlock()
	if waits == 0 {
		return
	}
	h.mu.Lock()
	h.warned = true
	h.mu.Unlock()
	c.journal.Warn("lock: a Lock has waited for longer than a TTL for a hold of its own client; "+
		"if it was called by that holder's own work, it was not given the lease's context, and waits for itself",
		append(h.about(), "waiting", waits)...)
}

// A renewal is one round of extensions, and one round of restorations after it, if the first finds
// no quorum and the second may find one.
type renewal struct {
	tenure   *tenure
	ttl      time.Duration
	mends    bool // it comes early, as nodes may lack the hold
	restored bool // the second round is under way

	mu        sync.Mutex
	confirmed bool   // by a quorum
	missing   []bool // nodes that could have the hold again; nil: none
}

// prolong moves the deadlines of the leases that are renewed. Called with mu held.
func (t *tenure) prolong(validity, now time.Time) {
	for l := range t.leases() {
		if l.valid(now) && l.wantsRenewal(now) && validity.After(l.deadline) {
			l.deadline = validity
		}
	}
}

// decided handles the decision.
func (r *renewal) decided(b *redlock.Ballot) {
	t := r.tenure
	g := t.engine.client.group
	found := judge(g, b, r.restored)
	if found == restorable {
		r.restored = true
		m := t.restoration(r.ttl)
		m.Unsent = patience(r.ttl)
		m.Each = r.answered
		m.Missed = r.missed
		m.Then = r.decided
		g.Vote(m)
		return
	}
	validity := g.Validity(b.Start(), r.ttl)

	t.mu.Lock()
	now := time.Now()
	left, ttl := t.validity.Sub(now), t.ttl
	switch {
	case found != undecided || !t.isAbsent(b.Start()):
	case keptOut(g, b):
		t.absent = time.Time{} // by an answer of a node that has granted nobody anything since
	default:
		found = gone
	}
	renewed := !t.ended && found == confirmed
	given := t.ended && !errors.Is(t.reason.end(), ErrLost) // back meanwhile: that some nodes do not have it any more is no failure
	var late *hold
	if renewed && left < t.ttl/2 && len(t.present) > 0 && t.renewed(now) {
		late = t.present[0]
	}
	switch {
	case renewed:
		t.confirm(b.Start(), validity)
		t.prolong(validity, now)
		t.renewAt = b.Start().Add(t.beat())
		t.mending = false
		if t.uneven {
			t.renewSoon()
		}
		t.last = nil
	default:
		// There was no quorum, which may pass: try again soon, until the validity ends.
		t.renewAt = now.Add(min(max(r.ttl/30, 20*time.Millisecond), time.Second))
		t.last = b.Err()
	}
	close(t.renewing)
	t.renewing = nil
	t.schedule()
	t.mu.Unlock()
	if late != nil {
		t.engine.client.journal.late(late, left)
	}
	if found == confirmed || !given {
		t.engine.client.audience.decided(t, b, left, ttl, found == confirmed)
	}

	switch {
	case found == gone:
		t.lose(t.whyGone(b))
	case renewed:
		r.mu.Lock()
		r.confirmed = true
		missing := r.missing
		r.mu.Unlock()
		t.repair(missing, r.ttl)
		t.write()
	}
}

// missed records a node that may still lack the hold. A node that has the hold and was not heard this
// once needs no early renewal.
func (r *renewal) missed(node int, a redlock.Answer, down bool) {
	if r.mends || !r.tenure.footprint.Has(node) {
		r.tenure.missed(node, a, down)
	}
}

// answered records a node that lacks the hold and could have it again, or repairs it if a quorum
// has confirmed that the hold had no gap.
func (r *renewal) answered(node int, a redlock.Answer) {
	r.tenure.extended(node, a)
	extended, err := lua.ParseRestored(a.Reply)
	switch {
	case err != nil:
	case extended == lua.ExtendTaken:
		r.tenure.refused()
	case extended == lua.ExtendBack:
		r.tenure.gave(node)
	}
	if err != nil || extended != lua.ExtendFree {
		return
	}
	missing := make([]bool, r.tenure.engine.client.group.Size())
	missing[node] = true
	r.mu.Lock()
	confirmed := r.confirmed
	if !confirmed {
		if r.missing != nil {
			r.missing[node] = true
		} else {
			r.missing = missing
		}
	}
	r.mu.Unlock()
	if confirmed {
		r.tenure.repair(missing, r.ttl)
	}
}
