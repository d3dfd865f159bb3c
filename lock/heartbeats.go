package lock

import (
	"errors"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/redlock"
)

const (
	// maxBeat bounds the waiters in one sign of life.
	maxBeat = 500
	// idlePoll is how long a waiter rests that nothing concerns, before it looks all the same.
	idlePoll = 10 * poll
	// firstPause is until a sign of life is repeated that was lost with a connection.
	firstPause = 5 * time.Millisecond
)

// End implements [watchdog.Owner]: signs of life have no end of their own.
func (b *heartbeats) End() (after func()) { return nil }

// queue makes q known under its hold's id, and has it give signs of life.
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
	// Two locks of one name may differ in their heartbeats: the shorter one keeps all alive.
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

// beat tells every node that these holds wait.
func (b *heartbeats) beat(engine *engine, k kind.Queue, ids []string) {
	c := b.contest.client
	start := time.Now()
	name := c.id + "." + strconv.FormatInt(c.numbers.Add(1), 10)
	c.group.Vote(redlock.Motion{
		Name: "beat",
		Call: k.Beat(engine.request(""), name, ids),
		Yes:  func(any) (bool, error) { return true, nil },
		// Where tens of thousands ask, it comes late rather than not at all; until the next.
		Unsent: engine.set.sign(),
		// A node that does not have a waiter is told again by the waiter itself, with
		// its ticket: a beat must not bring back one that has left meanwhile.
		Each: func(_ int, a redlock.Answer) {
			if due, err := k.Due(a.Reply); err == nil && len(due) > 0 {
				c.stir(due, start)
			}
		},
		Then: b.decided,
	})
}

// decided has a sign of life that was lost with a connection repeated soon. The nodes may
// have seen that this process does not listen, for the same reason, and give the turn of
// its head to the next one in a moment. From a silent node no sooner answer is to be had.
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

// stir has the queuers of these holds ask again, of which a sign of life that was sent then
// was told; but not those who have asked since, as it may have come before that.
func (c *core) stir(ids []string, sent time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if p := c.queuers[id]; p != nil && !p.asked.After(sent) {
			p.poll()
		}
	}
}

// note remembers what an attempt of q found, which was woken as a successor or not.
func (p *place) note(q *queuer, d denial, successor bool) {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	p.contest.last = &d
	if q.ticket.Final {
		p.ticket = q.ticket.Number
	}
	if successor {
		p.contest.unpredictable = p.contest.unpredictable || !q.next
	}
}

// listen returns what the place waits on.
func (p *place) listen() <-chan struct{} {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	return p.signal()
}
