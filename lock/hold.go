package lock

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/watchdog"
)

// A hold lasts from an owner's first lease on a name to its last unlock. Its leases
// share one key, one TTL and one renewal.
type hold struct {
	// Immutable once granted.
	engine    *Engine
	slot      *slot
	id        string
	token     int64
	footprint *redlock.Footprint
	brief     bool  // of a TryLock, which waits no longer than its bound for anything
	round     int64 // of a queuer's asking in which it was granted; 0: it was not queued

	ward watchdog.Ward // its dates are set with mu held

	mu       sync.Mutex
	leases   []*Lease      // those that are not over, in no order
	first    [1]*Lease     // of leases, until there are more
	pending  int           // leases, over or not, whose Unlock has not been called
	ttl      time.Duration // the longest of its leases'
	longest  time.Duration // TTL that a node was asked for
	validity time.Time     // until when a quorum has the key, as far as is known
	endAt    time.Time     // when the watchdog looks for leases that have ended
	renewAt  time.Time     // the next renewal, if a lease wants one
	renewing chan struct{} // closed when the renewal in flight is decided; nil: none
	over     error         // nil, ErrLost or ErrReleased
	reason   Reason        // why it is over
	last     error         // what the last round of renewals came to, if it failed
	since    time.Time     // when it was granted
	warned   bool          // that others of this client wait for it
	uneven   bool          // a node has refused it since it was last renewed: a rival has that one
	mending  bool          // nodes may lack it: they are asked once though no lease is renewed
	pause    time.Duration // until it is renewed for that; 0: it was not of late
}

// request is what the kind's scripts are told about the hold.
func (h *hold) request() Request { return h.engine.request(h.id) }

func (h *hold) keys() lua.Keys { return h.engine.keys() }

// lease adds a lease that is valid until deadline, by a command sent at start. It is
// called with mu held, or before the hold is known to others.
func (h *hold) lease(set settings, start, deadline time.Time) *Lease {
	l := &Lease{
		hold:     h,
		count:    int32(len(h.leases) + 1),
		index:    int32(len(h.leases)),
		deadline: deadline,
		renew:    set.renew,
	}
	if set.maxHold > 0 {
		until := start.Add(set.maxHold)
		l.renewUntil = &until
	}
	if h.leases == nil {
		h.leases = h.first[:0]
	}
	h.leases = append(h.leases, l)
	h.pending++
	h.ttl = max(h.ttl, set.ttl)
	return l
}

// watch puts the hold under the watchdog's eye.
func (h *hold) watch(start time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ward.Owner = h
	h.since = start
	h.renewAt = start.Add(h.beat() - rand.N(h.ttl/6+1)) // holds taken together part
	if h.uneven {
		h.renewSoon()
	}
	h.schedule()
}

// beat is when to renew after a write: a third of the TTL, less a jitter that keeps
// holds from moving in step. Two more renewals can fail before the validity ends.
func (h *hold) beat() time.Duration {
	third := h.ttl / 3
	return third - rand.N(third/8+1)
}

// voted notes a node's answer to the claim.
func (h *hold) voted(_ int, a redlock.Answer) {
	if a.Vote == redlock.No {
		h.refused()
	}
}

// refused notes that a node does not have the hold, as another has its vote. Rivals give such
// votes back at once, so the node is soon free, and the next renewal repairs it. It comes
// early then: until it does, the hold hangs on the nodes that are left.
func (h *hold) refused() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.uneven || h.over != nil {
		return
	}
	h.uneven = true
	if h.since.IsZero() || h.renewing != nil {
		return // watch and decided look at it
	}
	h.renewSoon()
	h.schedule()
}

// renewSoon has the next renewal come early, with a pause that grows while nodes go on to
// refuse. Called with mu held.
func (h *hold) renewSoon() {
	h.mending = true
	h.pause = min(max(2*h.pause, 10*time.Millisecond+rand.N(15*time.Millisecond)), h.ttl)
	if soon := time.Now().Add(h.pause); soon.Before(h.renewAt) {
		h.renewAt = soon
	}
}

// schedule sets the ward's dates from the leases. Called with mu held.
func (h *hold) schedule() {
	if h.over != nil {
		h.engine.client.watchdog.Forget(&h.ward)
		return
	}
	var renewAt, endAt time.Time
	now := time.Now()
	for _, l := range h.leases {
		if endAt.IsZero() || l.deadline.Before(endAt) {
			endAt = l.deadline
		}
		if h.renewing == nil && (h.mending || l.wantsRenewal(now)) {
			renewAt = h.renewAt
		}
	}
	h.endAt = endAt
	h.engine.client.watchdog.Set(&h.ward, renewAt, endAt)
}

// renewed tells whether the watchdog renews the hold. Called with mu held.
func (h *hold) renewed(now time.Time) bool {
	return slices.ContainsFunc(h.leases, func(l *Lease) bool { return l.wantsRenewal(now) })
}

// span is the TTL that a renewal asks for. If no lease is renewed, nodes that lack the hold
// get it back by one that ends with what is proven already. It is zero if there is nothing to ask
// for. Called with mu held.
func (h *hold) span(now time.Time) time.Duration {
	switch {
	case h.renewed(now):
		return h.ttl
	case h.mending && now.Before(h.validity):
		return h.validity.Sub(now) + h.engine.client.group.Drift(h.ttl)
	default:
		return 0
	}
}

// confirm notes until when a quorum has the key, unless what was known before has ended
// meanwhile: the hold was not proven to be valid then, and is lost (I2). Called with mu held.
func (h *hold) confirm(validity time.Time) {
	if validity.After(h.validity) && time.Now().Before(h.validity) {
		h.validity = validity
	}
}

// End implements [watchdog.Owner].
func (h *hold) End() (after func()) { return h.expire() }

// expire ends the leases whose deadline has passed, and returns what is to be done
// then. It runs on the watchdog's goroutine, or on that of a caller who looked at a
// lease first.
func (h *hold) expire() (after func()) {
	now := time.Now()
	h.mu.Lock()
	var over []*Lease
	for _, l := range h.leases {
		if !now.Before(l.deadline) {
			over = append(over, l)
		}
	}
	reason := ReasonNone
	for _, l := range over {
		reason = l.lapsed()
		l.end(reason)
	}
	if len(h.leases) == 0 && len(over) > 0 {
		h.lost(reason)
	} else {
		h.schedule()
	}
	lost := h.over != nil && len(over) > 0
	h.mu.Unlock()
	for _, l := range over {
		l.cancel()
	}
	if lost {
		return h.abandon
	}
	return nil
}

// lose ends every lease of the hold: it is not, or cannot be proven to be, held any more. It
// returns why the hold is over: if it was released before, it is no wonder that it is gone.
func (h *hold) lose(reason Reason) Reason {
	h.mu.Lock()
	if h.over != nil {
		defer h.mu.Unlock()
		return h.reason
	}
	over := h.leases
	h.leases = nil
	for _, l := range over {
		l.end(reason)
	}
	h.lost(reason)
	h.mu.Unlock()
	for _, l := range over {
		l.cancel()
	}
	h.abandon()
	return reason
}

// lost notes that the hold is over. Called with mu held.
func (h *hold) lost(reason Reason) {
	if h.over == nil {
		h.over, h.reason = reason.end(), reason
		h.schedule()
	}
}

// abandon cleans up after a loss: what is left of the keys is given back, so that
// others need not wait for the TTL.
func (h *hold) abandon() {
	c := h.engine.client
	h.vacate(false)
	c.over(h, nil, nil)
	c.journal.lost(h, h.reason)
}

// vacate sends the release of the whole hold, and does not wait.
func (h *hold) vacate(quiet bool) *redlock.Ballot {
	return h.engine.client.group.Vote(h.vacation(quiet, nil))
}

// lastCall is longer than a removal that is owed waits until it is tried again.
const lastCall = 2 * time.Second

// vacation is the release of the whole hold: on every node that has the key or may
// have it. Nodes that do not confirm are asked again until the key has expired.
// Nothing may create the key from here on. heir is nil if it is not quiet or of no queue.
func (h *hold) vacation(quiet bool, heir *place) redlock.Motion {
	e := h.engine
	r := h.request()
	r.Undo = !h.leased()
	if heir != nil {
		r.Heir = heir.id
	}
	h.footprint.Close()
	h.mu.Lock()
	// What was sent last may be on its way for a node timeout; and a node that was stopped
	// may go on, and make the key live longer, just before it would have expired.
	until := time.Now().Add(max(h.ttl, h.longest) + e.client.group.NodeTimeout() + lastCall)
	h.mu.Unlock()
	return redlock.Motion{
		Name:      "release",
		Call:      e.kind.Release(r, quiet, 0),
		Removal:   h.removal(r, quiet),
		Narrow:    lua.Release{Keys: h.keys(), Hold: h.id}.Call,
		Yes:       e.vacated,
		Removes:   true,
		Footprint: h.footprint,
		Until:     until,
		Unsent:    2 * e.client.group.NodeTimeout(), // Unlock has a bound
	}
}

// removal makes the releases that a vacation sends where its call will not do.
func (h *hold) removal(r Request, quiet bool) func(mark, again bool) lua.Call {
	return func(mark, again bool) lua.Call {
		life := time.Duration(0)
		if mark {
			life = markLife
		}
		// A quiet one relies on who comes right behind it. By now that one has been refused.
		return h.engine.kind.Release(r, quiet && !again, life)
	}
}

// leased tells whether there ever was a lease of the hold: not of an attempt that is given back.
func (h *hold) leased() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.validity.IsZero()
}

// vacated reads one node's reply to a release: that the hold is not there any more is
// a yes, whether or not it was.
func (e *Engine) vacated(reply any) (bool, error) {
	_, err := e.kind.Released(reply)
	return err == nil, err
}

// retire ends the hold's leases for Client.Close. It returns the renewal in flight, if there
// is one, and false if the hold is over already.
func (h *hold) retire() (renewing <-chan struct{}, ended bool) {
	h.mu.Lock()
	if h.over != nil {
		h.mu.Unlock()
		return nil, false
	}
	h.over, h.reason = ErrReleased, ReasonClosed
	leases := h.leases
	h.leases = nil
	for _, l := range leases {
		l.end(ReasonClosed)
	}
	renewing = h.renewing
	h.schedule()
	h.mu.Unlock()
	for _, l := range leases {
		l.cancel()
	}
	return renewing, true
}

// close releases the hold after retire, with so much patience for each node.
func (h *hold) close(patience time.Duration) *redlock.Ballot {
	h.slot.clear(h)
	m := h.vacation(false, nil)
	m.Patience, m.Unsent = patience, 0
	b := h.engine.client.group.Vote(m)
	h.engine.client.over(h, nil, nil)
	return b
}

// await waits for renewals in flight, for so long at the most: none need follow a release
// (trap 21). One that is stuck will find nothing to renew.
func await(most time.Duration, renewing ...<-chan struct{}) {
	if len(renewing) == 0 {
		return
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	for _, r := range renewing {
		select {
		case <-r:
		case <-timer.C:
			return
		}
	}
}
