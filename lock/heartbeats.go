package lock

import (
	"errors"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

const (
	// maxBeat bounds the waiters in one sign of life.
	maxBeat = 500
	// idlePoll is how long an undisturbed waiter rests before it looks without a reason.
	idlePoll = 10 * poll
	// firstPause is the delay before a sign of life that was lost with a connection is repeated.
	firstPause = 5 * time.Millisecond
)

// End implements [watchdog.Owner]: signs of life have no end of their own.
func (b *heartbeats) End() (after func()) { return nil }

// queue registers q under its hold's id, and starts its signs of life.
func (c *core) queue(q *queuer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queuers[q.tenure.id] = q.place
	q.place.id = q.tenure.id
	q.place.asked = time.Now()
	ct := q.place.contest
	if ct.heartbeats == nil {
		ct.heartbeats = &heartbeats{contest: ct}
		ct.heartbeats.ward.Owner = ct.heartbeats
	}
	// Two locks of one name may have different heartbeats: the shorter one keeps all alive.
	if b := ct.heartbeats; b.engine == nil || q.engine.set.beat < b.engine.set.beat {
		b.engine, b.kind = q.engine, q.kind
		c.watchdog.Set(&b.ward, time.Now().Add(b.engine.set.sign()), time.Time{})
	}
}

// unqueue forgets the queuer of the hold called id.
func (c *core) unqueue(id string) {
	c.mu.Lock()
	delete(c.queuers, id)
	c.mu.Unlock()
}

// renew sends a sign of life and schedules the next. It runs on the watchdog's goroutine.
func (b *heartbeats) renew() {
	c := b.contest.client
	c.mu.Lock()
	if b.contest.heartbeats != b {
		c.mu.Unlock()
		return // everyone has left
	}
	var ids []string
	long := time.Now().Add(-idlePoll)
	for _, p := range b.contest.queue {
		if p.id == "" {
			continue
		}
		ids = append(ids, p.id)
		if p.asked.Before(long) {
			p.poll()
		}
	}
	engine, k := b.engine, b.kind
	c.watchdog.Set(&b.ward, time.Now().Add(engine.set.sign()), time.Time{})
	c.mu.Unlock()
	for len(ids) > 0 {
		n := min(len(ids), maxBeat)
		b.beat(engine, k, ids[:n])
		ids = ids[n:]
	}
}

// beat tells every node that these holds are waiting.
func (b *heartbeats) beat(engine *engine, k kind.Queue, ids []string) {
	c := b.contest.client
	start := time.Now()
	name := c.id + "." + strconv.FormatInt(c.numbers.Add(1), 10)
	c.group.Vote(redlock.Motion{
		Name: "beat",
		Call: k.Beat(engine.request(""), name, ids),
		Yes:  func(any) (bool, error) { return true, nil },
		// If tens of thousands ask, a late sign is better than none, until the next one.
		Unsent: engine.set.sign(),
		// The waiter itself tells a node that does not have it, with its ticket: a beat must not
		// bring back a waiter that has left meanwhile.
		Each: func(_ int, a redlock.Answer) {
			if told, err := k.Beaten(a.Reply); err == nil {
				c.stir(told, start)
			}
		},
		Then: b.decided,
	})
}

// decided repeats a sign of life soon if it was lost with a connection. For the same reason, the
// nodes may have seen that this process does not listen, and may soon give the turn of its head to
// the next waiter. A silent node would not answer any sooner.
func (b *heartbeats) decided(ballot *redlock.Ballot) {
	c := b.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if ballot.Won() || errors.Is(ballot.Err(), redlock.ErrSilent) {
		b.pause = 0
		return
	}
	b.pause = min(max(2*b.pause, firstPause), b.engine.set.sign())
	if b.contest.heartbeats == b {
		c.watchdog.Set(&b.ward, time.Now().Add(b.pause), time.Time{})
	}
}

// stir makes the queuers ask again that a node has told to, in answer to the sign of life that was sent then. It
// skips queuers that have asked since, because the answer may be older than their request, and those that ask now: if
// the node has really forgotten one of these, the next sign of life says so again.
//
// So does the first in the queue, if it does not know that it is. It was not woken when the one before it was
// granted the lock, and does not know when that one's time is over: nobody else tells it if its process crashes.
func (c *core) stir(told lua.Beaten, sent time.Time) {
	if told.First == "" && len(told.Due) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	stir := func(id string, need bool) {
		if p := c.queuers[id]; p != nil && need && !p.attempts && !p.asked.After(sent) {
			p.poll()
		}
	}
	for _, id := range told.Due {
		stir(id, true)
	}
	if p := c.queuers[told.First]; p != nil {
		stir(told.First, !p.first)
	}
}

// note records the result of an attempt of q, which was or was not woken as a successor.
func (p *place) note(q *queuer, d *denial, successor bool) {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	p.contest.last = d
	if q.ticket.Final {
		p.ticket = q.ticket.Number
	}
	p.first = q.next
	if successor {
		p.contest.unpredictable = p.contest.unpredictable || !q.next
	}
}

// listen returns the channels on which the place waits.
func (p *place) listen() <-chan struct{} {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	return p.signal()
}
