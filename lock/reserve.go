package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

const (
	// minReserve and maxReserve bound the tokens that are reserved at once.
	minReserve = maxHolds
	maxReserve = 1 << 14
)

// begin records that the nodes are asked, and returns the token up to which; 0: they have been
// asked already. Called with mu held, and for permits with the client's mu, too.
//
// A forgotten counter starts again from the node's clock, in microseconds. So that tokens still
// grow, a reserve is never ahead of that clock: it is no larger than the number of microseconds
// since the previous one.
func (r *reserve) begin(t *tenure, now time.Time) int64 {
	if r.asking {
		return 0
	}
	since := r.asked
	if since.IsZero() {
		since = t.since
	}
	switch {
	case r.size == 0:
		r.size = minReserve
	case now.Sub(since) < askEvery:
		r.size = min(2*r.size, maxReserve) // it was used up before its time
	}
	r.asking, r.asked = true, now
	r.lot = max(1, min(r.size, now.Sub(since).Microseconds()))
	if ct := t.contest; t.engine.numbered != nil {
		r.lot = max(1, r.lot/int64(max(1, len(ct.reads)))) // all of them share the microseconds
		t.after = max(r.top, ct.relay.token) + tokenGap
		ct.relay.token = t.after + r.lot
		return ct.relay.token
	}
	return r.top + r.lot
}

// low reports whether it is time to ask. Called with mu held.
func (r *reserve) low(now time.Time) bool {
	return !r.asking && (now.Sub(r.asked) >= askEvery || r.top-r.last <= r.lot/2)
}

// stale reports whether the last answer is so old that nothing may be passed on without another
// one. Called with mu held.
func (r *reserve) stale(now time.Time) bool { return now.Sub(r.heard) >= maxReign }

// prepare asks for tokens as soon as a goroutine here waits for the hold in progress, so that the
// tokens are there when it ends. If it cannot follow within the tenure, the nodes are asked now and then whether
// others wait: its own tenure follows that soon.
func (t *tenure) prepare(set *settings) {
	t.mu.Lock()
	var asks int64
	r, now := &t.reserve, time.Now()
	switch {
	case t.ended || len(t.present) == 0:
	case t.suits(set, now):
		if r.last == r.top {
			asks = r.begin(t, now)
		}
	case t.contest.key.order == unordered && t.reign.dueToAsk(now):
		asks = r.begin(t, now)
	}
	t.mu.Unlock()
	if asks > 0 {
		t.ask(asks)
	}
}

// ask asks the nodes for the tokens up to last. It does not wait.
func (t *tenure) ask(last int64) {
	if t.engine.numbered != nil {
		t.reservePermits(last)
		return
	}
	c := t.engine.client
	if k := t.engine.joinable; k != nil {
		c.group.Vote(redlock.Motion{
			Name: "reserve",
			Call: k.Reserve(t.request(), last),
			Yes: func(reply any) (bool, error) {
				r, err := lua.ParseRWReserved(reply)
				return err == nil && !r.Gone && !r.Reads, err
			},
			Then: func(b *redlock.Ballot) { t.told(b, last) },
		})
		return
	}
	c.group.Vote(redlock.Motion{
		Name: "reserve",
		Call: lua.Reserve{
			Keys:      t.keys(),
			Hold:      t.id,
			Last:      last,
			Retention: c.retention,
			Unasked:   !c.alone || t.contest.key.order == queued, // the queue tells who waits
		}.Call(),
		Yes: func(reply any) (bool, error) {
			r, err := lua.ParseReserved(reply)
			return !r.Gone, err
		},
		Then: func(b *redlock.Ballot) { t.answered(b, last) },
	})
}

// answered handles the nodes' answers about the tokens up to last.
func (t *tenure) answered(b *redlock.Ballot, last int64) {
	c := t.engine.client
	gone, reason, listeners, deaf := 0, ReasonGone, 0, false
	var far map[string]lua.FarMark // by client; nil: none, as a rule
	for i := range c.group.Size() {
		a := b.Answer(i)
		r, err := lua.ParseReserved(a.Reply)
		deaf = deaf || r.Deaf
		far = distants(far, r.Far, c.id)
		switch {
		case a.Vote == redlock.Pending || err != nil:
		case r.Gone:
			gone++
			if r.Forced {
				reason = ReasonForced
			}
		case r.Listeners < 0:
			listeners = 2
		default:
			listeners = max(listeners, r.Listeners)
		}
	}
	if gone > c.group.Size()-c.group.Quorum() && t.vanished(reason) {
		return
	}
	c.mu.Lock()
	t.mu.Lock()
	r := &t.reserve
	r.asking, r.failed = false, !b.Won()
	if b.Won() {
		r.top, r.heard = max(r.top, last), time.Now()
		t.contest.elsewhere = elsewhere{waits: listeners > t.contest.listens(), deaf: deaf, trip: r.heard.Sub(r.asked)}
		t.contest.told(far)
	}
	p, asks := passed, int64(0)
	if t.vacant {
		p, asks = t.contest.pass(t)
	}
	t.mu.Unlock()
	c.mu.Unlock()
	if p == ends {
		t.finish()
	}
	if asks > 0 {
		t.ask(asks)
	}
}

// vanished is called when so many of the nodes that were asked for tokens lack the hold that no quorum
// can have it. A renewal then decides whether the hold is lost, because nodes can vouch for a renewal.
// Until then nothing is passed on: there are no tokens. If the hold was ended by force, or there is a
// single node, it is lost at once.
func (t *tenure) vanished(reason Reason) (lost bool) {
	if reason == ReasonForced || t.engine.client.group.Size() == 1 {
		t.lose(reason)
		return true
	}
	t.renewNow()
	return false
}

// listens returns how many of a server's listeners are this client's. Called with mu held.
func (ct *contest) listens() int {
	if ct.wakes != nil {
		return 1
	}
	return 0
}

// others returns what the nodes that have granted t say of other processes.
func (t *tenure) others(b *redlock.Ballot) (deaf bool, far map[string]lua.FarMark) {
	c := t.engine.client
	if t.engine.order != unordered {
		return false, nil
	}
	for i := range c.group.Size() {
		if a := b.Answer(i); a.Vote == redlock.Yes {
			granted, _ := t.engine.kind.Acquired(a.Reply)
			deaf = deaf || granted.Deaf
			far = distants(far, granted.Far, c.id)
		}
	}
	return deaf, far
}

// learn records what the nodes have said with a grant of those who cannot come as long as this process comes back at
// once. Called with mu held.
func (ct *contest) learn(deaf bool, far map[string]lua.FarMark, asked time.Time) {
	ct.told(far)
	ct.elsewhere.deaf = deaf
	if ct.minds() {
		ct.elsewhere.waits, ct.elsewhere.trip = true, time.Since(asked)
	}
}

// told records the marks that the nodes have named. Called with mu held.
func (ct *contest) told(marks map[string]lua.FarMark) {
	switch {
	case ct.rivals != nil:
		ct.rivals.told(marks)
	case len(marks) > 0:
		ct.rivals = new(rivals)
		ct.rivals.told(marks)
	}
}
