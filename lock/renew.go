package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/watchdog"
)

// renew is the watchdog's callback: it sends the renewals of holds, and the signs of
// life of waiters, that are due. None is waited for here; the lanes put them into one
// pipeline per node, and the failure of one concerns no other.
func renew(due []*watchdog.Ward) {
	for _, w := range due {
		w.Owner.(interface{ renew() }).renew()
	}
}

// renew sends one renewal, unless no lease wants it any more.
func (h *hold) renew() {
	h.mu.Lock()
	wanted := false
	now := time.Now()
	for _, l := range h.leases {
		wanted = wanted || l.wantsRenewal(now)
	}
	if !wanted || h.over != nil || h.renewing != nil {
		h.mu.Unlock()
		return
	}
	h.renewing = make(chan struct{})
	ttl := h.ttl
	h.mu.Unlock()

	m := h.extension(ttl)
	m.Each = h.noteMissing
	m.Then = func(b *redlock.Ballot) { h.renewed(b, ttl) }
	h.engine.client.group.Vote(m) // without mu: on a closed group the decision comes at once
}

// renewed takes the decision on a renewal.
func (h *hold) renewed(b *redlock.Ballot, ttl time.Duration) {
	g := h.engine.client.group
	lost := isGone(g, b)
	validity := g.Validity(b.Start(), ttl)

	h.mu.Lock()
	var repair []bool
	now := time.Now()
	switch {
	case h.over != nil || lost:
	case b.Won():
		for _, l := range h.leases {
			if l.valid(now) && l.wantsRenewal(now) && validity.After(l.deadline) {
				l.deadline = validity
			}
		}
		h.renewAt = b.Start().Add(h.beat())
		repair, h.missing = h.missing, nil
	default:
		// No quorum, which may pass: again soon, until the validity ends.
		h.renewAt = now.Add(min(max(ttl/30, 20*time.Millisecond), time.Second))
	}
	close(h.renewing)
	h.renewing = nil
	count := len(h.leases)
	h.schedule()
	h.mu.Unlock()

	if lost {
		h.lose("a quorum of nodes no longer has it")
		return
	}
	if repair != nil && count > 0 {
		h.repair(repair, count, ttl)
	}
}

// noteMissing remembers which nodes do not have the key and could have it again.
func (h *hold) noteMissing(node int, a redlock.Answer) {
	extended, err := lua.ParseExtended(a.Reply)
	if err != nil || extended != lua.ExtendFree {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.missing == nil {
		h.missing = make([]bool, h.engine.client.group.Size())
	}
	h.missing[node] = true
}

// repair gives the hold to nodes that do not have it, after a quorum has confirmed
// that it was never without. Such a node counts from the next renewal on.
func (h *hold) repair(missing []bool, count int, ttl time.Duration) {
	h.engine.client.group.Vote(redlock.Motion{
		Name: "repair",
		Call: lua.Repair{
			Keys:      h.keys(),
			Hold:      h.id,
			Count:     count,
			TTL:       ttl,
			Token:     h.token,
			Retention: h.engine.client.retention,
		}.Call(),
		Yes:       lua.ParseRepaired,
		Creates:   true,
		Footprint: h.footprint,
		Skip:      func(node int) bool { return !missing[node] },
	})
}
