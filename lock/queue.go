package lock

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/lua"
)

// deafPoll is how often the head of the queue looks while messages cannot reach it.
const deafPoll = 100 * time.Millisecond

// maxStatements is how often a ticket is sent without a pause. Two are usual.
const maxStatements = 8

var errUnsettled = errors.New("no quorum has it waiting with the same ticket")

func (q *queuer) try() (*Lease, *denial, error) {
	c := q.engine.client
	if q.place == nil {
		var why *denial
		alone := !c.listening() && !c.crowded(q.engine.contest())
		if q.engine.joinable != nil {
			q.place = newInQueue(q.call)
			c.join(q.place, q.engine.contest())
			q.place.contest.attend()
			alone = alone && !q.place.follows()
		}
		if alone && (q.place == nil || q.place.begins()) {
			// Nobody has been in the way yet, so one round may be enough. A queuer must first be
			// able to hear messages, and that takes another round.
			lease, d, err := q.engine.attempt(q.ctx, q.slot, q.place)
			if q.place != nil {
				q.place.ceases()
			}
			if lease != nil || err != nil || d.final {
				return lease, d, err
			}
			why = d
		}
		if q.place == nil {
			q.place = newInQueue(q.call)
			c.join(q.place, q.engine.contest())
		}
		if why != nil {
			q.place.note(q, why, false)
		}
		c.listen(q.engine.keys.Lock)
	}
	q.unplaced, q.outside = 0, 0
	if q.follows() {
		return nil, q.place.waitsFor(), nil
	}
	if q.tenure == nil && q.engine.numbered != nil {
		if q.unplaced = q.place.stays(); q.unplaced > 0 || q.place.follows() {
			return nil, q.place.waitsFor(), nil
		}
	}
	if q.tenure == nil {
		if q.outside = q.place.contest.outside(); q.outside > 0 {
			return nil, q.place.waitsFor(), nil
		}
	}
	if q.tenure == nil && !c.listening() && !q.waited {
		return nil, q.place.waitsFor(), nil
	}
	if !q.enter() {
		return nil, q.place.waitsFor(), nil
	}
	defer q.exit()
	if q.tenure == nil {
		q.tenure = q.engine.newTenure(q.slot)
		c.queue(q)
	}
	for tries, p := 1, q.place; ; tries++ {
		if !p.begins() {
			return nil, p.waitsFor(), nil
		}
		lease, d, err := q.ask()
		p.ceases()
		if lease == nil && err == nil && d.err != nil {
			q.stepsBack()
		}
		if lease != nil || err != nil || d.err != nil || q.ticket.Final {
			return lease, d, err
		}
		// The nodes have different tickets: send the greatest, at once. Only then is the place
		// fixed, and later callers are behind it.
		if tries == maxStatements {
			unsettled := *d
			unsettled.err = errUnsettled
			return nil, &unsettled, nil
		}
	}
}

func (q *queuer) wait(d *denial) error {
	c := q.engine.client
	if q.place == nil { // a patient call, which the nodes have refused at once
		return q.sleep(nil, nil, q.backOff())
	}
	if q.unplaced > 0 {
		return q.sleep(q.place.listen(), nil, q.unplaced)
	}
	if q.outside > 0 {
		return q.sleep(q.place.listen(), nil, q.outside)
	}
	if q.full {
		q.full = false
		return q.awaitRoom()
	}
	if q.place.follows() {
		return q.sleep(q.place.listen(), nil, 0)
	}
	if q.tenure == nil {
		// A node drops a head that nobody listens for, so listen first. The confirmation may never
		// come: a node may be down, or its Pub/Sub connection.
		q.waited = true
		left := c.group.NodeTimeout()
		if !q.place.came.IsZero() { // those before it have waited for it, too
			left -= time.Since(q.place.came)
		}
		if left <= 0 {
			return nil
		}
		return q.sleep(nil, c.listen(q.engine.keys.Lock).Ready(), left)
	}
	wake := q.place.listen()
	if d.err == nil || q.succeeds.named { // nodes that do not answer are spared by all whom somebody else would wake
		if hurry := q.succeeds.pause(); hurry > 0 {
			return q.rest(wake, hurry)
		}
	}
	if d.err != nil || d.split != nil && q.engine.numbered != nil { // nobody tells of slots that were split
		return q.rest(wake, q.backOff())
	}
	// Signs of life make the nodes wake a free lock's head, and everybody looks now and then. Only
	// the end of a crashed holder needs a timer, and only the head looks for it.
	pause, looks := idlePoll, q.engine.set.sign() > idlePoll
	in := func(d time.Duration) {
		if d > 0 {
			pause, looks = min(pause, d), true
		}
	}
	if q.next {
		in(cmp.Or(d.free, d.ttl)) // a node to which the last grant has not come hides when a quorum may be free
		if !c.listening() {
			in(deafPoll) // a node gives it 0.3 s to listen once the lock is free
		}
	}
	if in(q.dying); !looks {
		return q.sleep(wake, nil, 0)
	}
	// Up to 10 ms later, of which a node has added up to one: it tells what is left in whole milliseconds.
	return q.sleep(wake, nil, pause+rand.N(9*time.Millisecond))
}

// admission is the pool from which the queuer needs a slot while it asks: the one for queuers
// without a place, or the one for queuers that may be told that it is their turn.
func (q *queuer) admission() chan struct{} {
	if q.round == 0 {
		return q.engine.client.newcomers
	}
	return q.engine.client.returners
}

// enter takes a slot if one is free. If not, wait waits for one. enter must not wait itself,
// because other calls of the same owner wait for the one that tries.
func (q *queuer) enter() bool {
	if q.admitted != nil {
		return true
	}
	select {
	case q.admission() <- struct{}{}:
		q.admitted = q.admission()
	default:
		q.full = true
	}
	return !q.full
}

// awaitRoom takes a slot as soon as one is free, unless the caller or the client ends, or there may be
// something else to do: it may have been passed the lock.
func (q *queuer) awaitRoom() error {
	select {
	case <-q.place.listen():
		return nil
	case q.admission() <- struct{}{}:
		q.admitted = q.admission()
		return nil
	case <-q.ctx.Done():
		return contextError(q.ctx)
	case <-q.engine.client.closing:
		return ErrClosed
	}
}

// exit gives the slot back, if it has one.
func (q *queuer) exit() {
	if q.admitted != nil {
		<-q.admitted
		q.admitted = nil
	}
}

// passed implements turns. The lock may be passed on by the nodes, by a reader to its followers,
// within a tenure that writes, and as permits. The queuer's place on the nodes is given back then, or soon.
func (q *queuer) passed() *Lease {
	if q.place == nil {
		return nil
	}
	l := q.place.passed()
	if l != nil {
		q.exit()
		_ = q.follows() // what was left to it is its to give back
		if q.tenure != nil {
			q.engine.client.unqueue(q.tenure.id)
			l.hold.served(q.tenure)
			q.tenure = nil
		}
	}
	return l
}

// leave takes the hold out of every queue, and gives back what a node may have granted, unless
// others share its place and continue to wait in it.
func (q *queuer) leave() *Lease {
	q.exit()
	if q.place != nil {
		_ = q.follows() // what was left to it is its to give back
	}
	if q.tenure != nil && q.bequeath() {
		q.tenure = nil
	}
	if q.tenure != nil {
		q.engine.client.unqueue(q.tenure.id)
		if q.place.passed() != nil {
			q.tenure.vacate(false) // the lock must not be idle meanwhile
		} else {
			q.tenure.giveBack(true)
		}
		q.tenure = nil
	}
	if q.place == nil {
		return nil
	}
	l, ct := q.place.leave(), q.place.contest
	q.place = nil
	ct.attend() // those behind it may have waited for it alone
	return l
}

// stepsBack gives up q's place on the nodes, after a round that no quorum answered in time, if its process misses its
// turns. Those that share the place wait for the next one.
func (q *queuer) stepsBack() {
	c, p := q.engine.client, q.place
	c.mu.Lock()
	m := &p.contest.missed
	if m.turns < maxMissed || p.lease != nil {
		c.mu.Unlock()
		return
	}
	if now := time.Now(); m.again.Before(now) {
		m.again = now.Add(missedPause)
	}
	delete(c.queuers, p.id)
	p.id, p.ticket, p.opened, p.first = "", 0, time.Time{}, false
	c.mu.Unlock()
	q.exit()
	q.tenure.vacate(false)
	q.tenure, q.ticket, q.round = nil, lua.Ticket{}, 0
	q.next, q.dying, q.succeeds = false, 0, succession{}
}

// accepted implements turns. Who may ask for a lock need not have the right to queue for it.
func (q *queuer) accepted() bool { return q.ticket.Final }

func (q *queuer) seen() *denial {
	if q.place == nil {
		return nothing
	}
	return q.place.seen()
}

// bequeath leaves q's place on the nodes to its first follower, and reports whether there is one.
func (q *queuer) bequeath() bool {
	c, p := q.engine.client, q.place
	if p.contest.key.order != shared {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !p.led {
		return false
	}
	i := slices.IndexFunc(p.contest.queue, func(f *place) bool { return f.leader == p && (ending{f.call.ctx}).Err() == nil })
	if i < 0 || p.lease != nil {
		return false
	}
	f := p.contest.queue[i]
	f.follow(nil)
	f.opened, f.closed = p.opened, p.closed
	f.id, f.ticket, f.asked = p.id, p.ticket, p.asked
	f.estate = &estate{tenure: q.tenure, ticket: q.ticket, round: q.round}
	p.id, p.ticket = "", 0
	c.queuers[f.id] = f
	for _, other := range p.contest.queue {
		if other.leader == p {
			other.follow(f)
		}
	}
	f.stir(true)
	return true
}

// follows reports whether q need not ask, because another queuer asks for it, or because its turn
// within its process has come or will come. If the queuer that it followed has left, q takes over
// that place.
func (q *queuer) follows() bool {
	c := q.engine.client
	c.mu.Lock()
	defer c.mu.Unlock()
	p := q.place
	if e := p.estate; e != nil {
		p.estate = nil
		q.tenure, q.ticket, q.round = e.tenure, e.ticket, e.round
		q.tenure.first.slot = q.slot
	}
	return p.leader != nil || p.here || p.later || p.lease != nil
}
