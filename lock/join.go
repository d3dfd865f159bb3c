package lock

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// The reading goroutines of a process share what it has at the nodes: a goroutine that comes while
// one of them reads joins its tenure, without a command, unless a waiting writer is known. So a
// waiting writer is overtaken only by readers that come before this process hears of it. It hears
// of it at once, by a message to each process that reads, or, if that message is lost, with the
// next look at the nodes, which is due as long as others join.
//
// Later readers ask the nodes themselves, and queue like everybody else.

// lookEvery is the interval at which the nodes are asked while others join.
const lookEvery = maxUnheard / 2

// writerWaits is the end of a message about a hold that reads while somebody waits to write.
const writerWaits = "waits"

// opens reports whether others may join t, by what the nodes said about waiters when they granted
// it, which was heard at answered. It is called before others know t.
//
// A waiting writer has its place on a quorum of nodes, and one of them granted this.
func (t *tenure) opens(b *redlock.Ballot, answered time.Time) *joining {
	j := &joining{heard: answered, asked: b.Start()}
	for i := range t.engine.client.group.Size() {
		if a := b.Answer(i); a.Vote == redlock.Yes {
			granted, _ := t.engine.kind.Acquired(a.Reply)
			j.closed = j.closed || granted.Waiter > 0
		}
	}
	return j
}

// shut stops others from joining t, which may be nil, or a tenure that nobody joins.
func (t *tenure) shut() {
	if t != nil && t.joins() {
		t.mu.Lock()
		t.joining.closed = true
		t.mu.Unlock()
	}
}

// join lets the owner of s begin at once within a tenure of this process; nil: there is none that
// allows it.
func (e *engine) join(s *slot) *Lease {
	c := e.client
	c.mu.Lock()
	if s.held() != nil { // another call of the owner was passed it a moment ago
		c.mu.Unlock()
		return nil
	}
	ct := c.contests[e.contest()]
	if ct != nil && ct.tenure != nil && !c.drains() {
		t := ct.tenure
		l, does := ct.enter(t, e, s)
		c.mu.Unlock()
		t.carryOut(does)
		return l
	}
	if ct == nil || len(ct.reads) == 0 || c.drains() || !e.reads() || slices.ContainsFunc(ct.queue, (*place).writes) {
		c.mu.Unlock()
		return nil
	}
	t := ct.reads[len(ct.reads)-1]
	t.mu.Lock()
	now := time.Now()
	j := t.joining
	if t.ended || j.closed || now.Sub(j.heard) >= maxUnheard || !t.suits(&e.set, now) {
		t.mu.Unlock()
		c.mu.Unlock()
		return nil
	}
	t.holds++
	h := &hold{tenure: t, slot: s.claim(), number: t.holds, token: t.reserve.last, reader: true, began: now}
	l := h.lease(e, now, t.validity)
	t.begin(h)
	h.slot.set(h)
	if t.dates.renewAt.IsZero() && t.renewing == nil || t.dates.endAt.IsZero() {
		t.schedule()
	}
	looks := !j.asking && now.Sub(j.asked) >= lookEvery
	if looks {
		j.asking, j.asked = true, now
	}
	t.mu.Unlock()
	c.mu.Unlock()
	if looks {
		t.look()
	}
	return l
}

// isJoined reports whether somebody else reads within the tenure of h.
func (h *hold) isJoined() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.present) > 0
}

// look asks the nodes whether somebody waits to write. It does not wait.
func (t *tenure) look() {
	e := t.engine
	e.client.group.Vote(redlock.Motion{
		Name: "look",
		Call: e.joinable.Look(t.request()),
		Yes: func(reply any) (bool, error) {
			l, err := lua.ParseLooked(reply)
			return err == nil && !l.Gone, err
		},
		Then: t.looked,
	})
}

// looked handles the nodes' answers. They count from now on, not from when they were asked for: if nodes are far away, each
// would be too old as it comes, and nobody could join.
func (t *tenure) looked(b *redlock.Ballot) {
	g := t.engine.client.group
	var gone absence
	writer := false
	for i := range g.Size() {
		a := b.Answer(i)
		l, err := lua.ParseLooked(a.Reply)
		switch {
		case a.Vote == redlock.Pending || err != nil:
		case l.Gone:
			gone.count(l.Forced)
		case l.Writer:
			writer = true
		}
	}
	vanished := gone.decides(g)
	if vanished && t.vanished(gone.forced) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	j := t.joining
	j.asking, j.closed = false, j.closed || writer || vanished
	if b.Won() {
		j.heard = time.Now()
	}
}
