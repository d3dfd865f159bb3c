package lock

import (
	"math/rand/v2"
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

	ward watchdog.Ward // its dates are set with mu held

	mu       sync.Mutex
	leases   []*Lease      // those that are not over
	first    [1]*Lease     // of leases, until there are more
	pending  int           // leases, over or not, whose Unlock has not been called
	ttl      time.Duration // the longest of its leases'
	longest  time.Duration // TTL that a node was asked for
	renewAt  time.Time     // the next renewal, if a lease wants one
	renewing chan struct{} // closed when the renewal in flight is decided; nil: none
	over     error         // nil, ErrLost or ErrReleased
	reason   string        // why it was lost
}

// request is what the kind's scripts are told about the hold.
func (h *hold) request(count int) Request { return h.engine.request(h.id, count) }

func (h *hold) keys() lua.Keys { return h.engine.keys() }

// lease adds a lease that is valid until deadline, by a command sent at start. It is
// called with mu held, or before the hold is known to others.
func (h *hold) lease(set settings, count int, start, deadline time.Time) *Lease {
	l := &Lease{
		hold:     h,
		count:    count,
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
	h.renewAt = start.Add(h.beat() - rand.N(h.ttl/6+1)) // holds taken together part
	h.schedule()
}

// beat is when to renew after a write: a third of the TTL, less a jitter that keeps
// holds from moving in step. Two more renewals can fail before the validity ends.
func (h *hold) beat() time.Duration {
	third := h.ttl / 3
	return third - rand.N(third/8+1)
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
		if h.renewing == nil && l.wantsRenewal(now) {
			renewAt = h.renewAt
		}
	}
	h.engine.client.watchdog.Set(&h.ward, renewAt, endAt)
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
	for _, l := range over {
		l.end(ErrLost)
	}
	if len(h.leases) == 0 && len(over) > 0 {
		h.lost("it was not renewed before its validity ended")
	} else {
		h.schedule()
	}
	lost := h.over != nil && len(over) > 0
	left := len(h.leases)
	h.mu.Unlock()
	for _, l := range over {
		l.cancel(ErrLost)
	}
	switch {
	case lost:
		return h.abandon
	case left > 0 && len(over) > 0:
		return h.recount
	}
	return nil
}

// lose ends every lease of the hold: it is not, or cannot be proven to be, held any more.
func (h *hold) lose(reason string) {
	h.mu.Lock()
	if h.over != nil {
		h.mu.Unlock()
		return
	}
	over := h.leases
	h.leases = nil
	for _, l := range over {
		l.end(ErrLost)
	}
	h.lost(reason)
	h.mu.Unlock()
	for _, l := range over {
		l.cancel(ErrLost)
	}
	h.abandon()
}

// lost notes that the hold is over. Called with mu held.
func (h *hold) lost(reason string) {
	if h.over == nil {
		h.over, h.reason = ErrLost, reason
		h.schedule()
	}
}

// abandon cleans up after a loss: what is left of the keys is given back, so that
// others need not wait for the TTL.
func (h *hold) abandon() {
	c := h.engine.client
	h.vacate(false)
	c.over(h, nil, nil)
	c.journal.lost(h)
}

// vacate sends the release of the whole hold, and does not wait.
func (h *hold) vacate(quiet bool) *redlock.Ballot {
	return h.engine.client.group.Vote(h.vacation(quiet, nil))
}

// vacation is the release of the whole hold: on every node that has the key or may
// have it. Nodes that do not confirm are asked again until the key has expired.
// Nothing may create the key from here on. heir is nil if it is not quiet or of no queue.
func (h *hold) vacation(quiet bool, heir *place) redlock.Motion {
	e := h.engine
	r := h.request(0)
	if heir != nil {
		r.Heir = heir.id
	}
	h.footprint.Close()
	h.mu.Lock()
	// What was sent last may be on its way for a node timeout.
	until := time.Now().Add(max(h.ttl, h.longest) + e.client.group.NodeTimeout())
	h.mu.Unlock()
	return redlock.Motion{
		Name:      "release",
		Call:      e.kind.Release(r, quiet, 0),
		Removal:   h.removal(r, quiet),
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

// vacated reads one node's reply to a release: that the hold is not there any more is
// a yes, whether or not it was.
func (e *Engine) vacated(reply any) (bool, error) {
	_, err := e.kind.Released(reply)
	return err == nil, err
}

// close releases the hold for Client.Close, with so much patience for each node. It
// returns nil if the hold is over already.
func (h *hold) close(patience time.Duration) *redlock.Ballot {
	h.mu.Lock()
	if h.over != nil {
		h.mu.Unlock()
		return nil
	}
	h.over = ErrReleased
	leases := h.leases
	h.leases = nil
	for _, l := range leases {
		l.end(ErrReleased)
	}
	renewing := h.renewing
	h.schedule()
	h.mu.Unlock()
	for _, l := range leases {
		l.cancel(ErrReleased)
	}
	h.await(renewing)
	h.slot.clear(h)
	m := h.vacation(false, nil)
	m.Patience, m.Unsent = patience, 0
	b := h.engine.client.group.Vote(m)
	h.engine.client.over(h, nil, nil)
	return b
}

// await waits for a renewal in flight: none need follow a release (trap 21). One that is
// stuck will find nothing to renew.
func (h *hold) await(renewing <-chan struct{}) {
	if renewing == nil {
		return
	}
	timer := time.NewTimer(h.engine.client.group.NodeTimeout())
	defer timer.Stop()
	select {
	case <-renewing:
	case <-timer.C:
	}
}

// gone counts the nodes that said for certain that the hold is not there.
func gone(g *redlock.Group, b *redlock.Ballot) int {
	n := 0
	for i := range g.Size() {
		if a := b.Answer(i); a.Vote == redlock.No && a.Err == nil && a.Reply != nil {
			n++
		}
	}
	return n
}

// isGone tells whether so many nodes do not have the hold that no quorum can.
func isGone(g *redlock.Group, b *redlock.Ballot) bool {
	return gone(g, b) > g.Size()-g.Quorum()
}
