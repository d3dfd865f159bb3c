package lock

import (
	"math"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// A tenure that writes serves the whole process: while no waiter elsewhere is known, its goroutines
// take turns within the tenure, without a command and in order of arrival: a writer alone, readers
// together. So a process that is alone with a name reads and writes it in memory.
//
// Why a writer never has the lock together with anybody else (I1): on a quorum of nodes the tenure
// has the lock alone, so nobody elsewhere is in. Within the tenure, a writer begins only when no
// hold is in progress, and nobody begins while a writer is in. Both are checked and changed under
// the tenure's mu. A loss ends all holds in progress, and later callers ask the nodes.
//
// Why nobody elsewhere is overtaken for long (U4): a waiter has a place on a quorum of nodes. The
// grant tells of waiters that were there before. A node notifies this process of each later one. If
// that message is lost, the nodes are asked at least every maxUnheard, and nobody begins without
// their answer. From then on the tenure is closed: it serves the goroutines that have waited here
// since before, and later callers go to the nodes. When none of the earlier ones is left, the
// tenure ends; or, if some still read, it reads from then on, so that others can read, too.
//
// Why nobody is overtaken by a later goroutine of this process (I7): within the tenure the order is
// that of arrival, and so is the order on the nodes for goroutines that go there together.
// Goroutines that still wait here when the tenure is closed stay, because later callers queue on
// the nodes. There is one exception: those behind a goroutine that already waits on the nodes go
// there at once, before others come. Of those with a place on the nodes, the ones before anybody else are the run of the
// tenure, as with a fair lock (run.go): they are served within it, so that each need not be granted the lock
// by nodes that may be far.
//
// A goroutine that waits here gets a place on the nodes after maxUnseen. So nobody who comes to
// another process later is served before it, and Inspect shows it. As long as nobody else waits, it
// still has its turn here.

// serves returns what t knows about its turns when the nodes have granted it, which was heard at
// answered; nil: there are none, because it reads or is of another kind. It is called before others
// know t.
func (t *tenure) serves(b *redlock.Ballot, answered time.Time) *serving {
	if t.reads || t.engine.joinable == nil {
		return nil
	}
	s := &serving{writing: true, clear: answered, asked: b.Start(), limit: math.MaxInt64}
	for i := range t.engine.client.group.Size() {
		if a := b.Answer(i); a.Vote == redlock.Yes {
			if granted, _ := t.engine.kind.Acquired(a.Reply); granted.Waiter > 0 {
				s.closed, s.limit = true, min(s.limit, granted.Waiter)
			}
		}
	}
	return s
}

// isCurrent reports whether the nodes were heard recently enough for a hold to begin (U4, U5).
// Called with mu held.
func (t *tenure) isCurrent(now time.Time) bool {
	return !t.reserve.failed && now.Sub(t.serving.clear) < maxUnheard
}

// settle records that nobody within t writes, if no hold is in progress. Called with mu held.
func (t *tenure) settle(now time.Time) {
	if s := t.serving; s.writing && len(t.present) == 0 {
		s.writing, s.wrote = false, now
	}
}

// admit lets a hold of e begin within t for the owner of s. The caller has checked that it may:
// nobody is in its way, and a writer has a token (U1 to U3). A reader has the last writer's token. p is where
// it has waited; nil: it has not. Called with mu held.
func (t *tenure) admit(e *engine, s *slot, p *place, now time.Time) *Lease {
	if !e.reads() {
		t.reserve.last++
		t.serving.writing = true
	}
	t.holds++
	number, mark := t.numberOf(p)
	h := &hold{tenure: t, slot: s.claim(), number: number, mark: mark, token: t.reserve.last, reader: e.reads(), began: now}
	l := h.lease(e, now, t.validity)
	t.begin(h)
	h.slot.set(h)
	if t.dates.renewAt.IsZero() && t.renewing == nil || t.dates.endAt.IsZero() {
		t.schedule()
	}
	return l
}

// wants returns the token up to which the nodes should be asked now; 0: no need. A writer needs
// tokens, or will soon. Called with mu held.
func (t *tenure) wants(now time.Time, writes bool) int64 {
	r, last := &t.reserve, t.serving.clear
	if !r.asked.IsZero() {
		last = r.asked // not the answer, which may take longer than what was heard lasts
	}
	if now.Sub(last) >= askEvery || writes && r.top-r.last <= r.lot/2 {
		return r.begin(t, now)
	}
	return 0
}

// enter lets the owner of s begin at once within t, by e, if nobody is in its way or before it; otherwise l is nil, and
// there is nothing to carry out. Called with mu held.
func (ct *contest) enter(t *tenure, e *engine, s *slot) (l *Lease, does service) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if !t.isOpen() || len(ct.queue) > 0 || !t.isCurrent(now) || !t.suits(&e.set, now) {
		return nil, does
	}
	t.settle(now)
	writes := !e.reads()
	if t.serving.writing || writes && (len(t.present) > 0 || t.reserve.last == t.reserve.top) {
		return nil, does
	}
	l = t.admit(e, s, nil, now)
	does.asks = t.wants(now, writes)
	does.reviews = !writes && t.serving.toReview()
	return l, does
}

// next returns whose turn within t is next; nil: nobody's. A goroutine that is asking the nodes has to hear their
// answer first, unless it can be told not to wait for it: the nodes may be far, and those behind it would wait for a
// round trip with each that asks. Called with mu and t.mu held.
func (ct *contest) next(t *tenure) *place {
	for _, p := range ct.queue {
		q := p.call
		switch {
		case q.engine.joinable == nil, p.attempts && p.ballot == nil, t.serving.closed && !p.here && !t.serving.precedes(p):
			return nil
		case (ending{q.ctx}).Err() == nil && q.slot.held() == nil:
			return p
		}
	}
	return nil
}

// serve lets the goroutines begin whose turn within t it is. Only the caller that has ended the
// last hold in progress, or asked the nodes when there was none, may find that t has to end. Called
// with mu and t.mu held.
func (ct *contest) serve(t *tenure, may bool) (does service) {
	s := t.serving
	if t.ended || t.reads {
		does.passing = ended
		return does
	}
	now := time.Now()
	t.settle(now)
	asks, began, next := false, false, ct.next(t)
	var leaders []*place
	usurped := ct.tenure != t // an attempt of this process has found the name free
	for ; next != nil && !s.writing && !usurped; next = ct.next(t) {
		q, writes := next.call, next.writes()
		if writes && len(t.present) > 0 || ct.client.drains() || t.reserve.failed || !t.suits(&q.engine.set, now) {
			break
		}
		if asks = !t.isCurrent(now) || writes && t.reserve.last == t.reserve.top; asks {
			does.asks = t.reserve.begin(t, now)
			break
		}
		began = true
		if s.closed && !next.here {
			s.run++
		}
		next.lease = t.admit(q.engine, q.slot, next, now)
		ct.take(next)
		if next.led {
			leaders = append(leaders, next)
			if s.closed {
				ct.accompany(t, next, now)
			}
		}
	}
	ct.desert(leaders...)
	switch {
	case usurped && len(t.present) > 0:
		does.passing = passed
		return does // it is about to be lost
	case len(t.present) > 0:
		does.passing, t.vacant = passed, false
		if s.closed && !s.writing && next == nil {
			does.reads = true
			ct.readOn(t)
			return does
		}
		if !asks && (began || next != nil) { // one that is alone has nothing to ask
			does.asks = t.wants(now, s.writing && began || next != nil && next.writes())
		}
	case !may:
		does.passing = waits
	case asks:
		does.passing, t.vacant = waits, true
	default:
		does.passing = ends
		t.ended, t.reason = true, ReasonUnlocked
		return does
	}
	does.reviews = (!s.writing || len(ct.queue) > 0) && s.toReview()
	return does
}

// accompany lets the followers of p, which reads within t from now on, read with it. Called with mu and t.mu held.
//
// Why they may: p's place is theirs, too, and without p they would have none.
func (ct *contest) accompany(t *tenure, p *place, now time.Time) {
	for _, f := range slices.Clone(ct.queue) {
		q := f.call
		if f.leader != p || (ending{q.ctx}).Err() != nil || q.slot.held() != nil {
			continue // it is of another place, gives up, or re-enters
		}
		f.lease = t.admit(q.engine, q.slot, nil, now)
		ct.take(f)
	}
}

// close stops new goroutines from waiting for a turn within t, because somebody elsewhere has just
// begun to wait: the goroutines that wait here were before. Called with the client's mu held.
func (ct *contest) close(t *tenure) service {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.serving.closed = true
	first := slices.IndexFunc(ct.queue, func(p *place) bool { return !p.here })
	ct.disband(func(i int, _ *place) bool { return first >= 0 && i > first })
	return ct.serve(t, false)
}

// reserveTurns asks the nodes for the tokens up to last, and whether others wait.
func (t *tenure) reserveTurns(last int64) redlock.Motion {
	return redlock.Motion{
		Name: "reserve",
		Call: t.engine.joinable.Reserve(t.request(), last),
		Yes: func(reply any) (bool, error) {
			r, err := lua.ParseRWReserved(reply)
			return err == nil && !r.Gone && !r.Reads, err
		},
	}
}

// reservedTurns heeds the nodes' answers about the tokens up to last, and about waiters.
func (t *tenure) reservedTurns(b *redlock.Ballot, last int64) (does service) {
	c := t.engine.client
	var gone absence
	others := false
	for i := range c.group.Size() {
		a := b.Answer(i)
		r, err := lua.ParseRWReserved(a.Reply)
		switch {
		case a.Vote == redlock.Pending || err != nil:
		case r.Gone:
			gone.count(r.Forced)
		default:
			others = others || r.Others
		}
	}
	if gone.decides(c.group) && t.vanished(gone.forced) {
		return does
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	r := &t.reserve
	r.asking, r.failed = false, !b.Won()
	if !t.reads {
		if b.Won() {
			r.top, t.serving.clear = max(r.top, last), time.Now()
		}
		if others && !t.serving.closed { // since when is not known: those who wait here, or on the nodes, may have come later
			t.serving.closed, t.serving.limit = true, 0
			t.contest.disband(everybody)
		}
		may := t.vacant
		t.vacant = false
		does = t.contest.serve(t, may)
	}
	return does
}
