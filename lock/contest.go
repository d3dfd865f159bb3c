package lock

import (
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/waiter"
)

// A contest is one name in this process: the tenure that this client has of it, and who
// waits for it here. All fields are guarded by the client's mu.
//
// Of contenders only the head of the queue tries at Redis, so a release costs one
// attempt per process and not one per waiter. The others are passed the lock, one after
// another, for as long as the tenure may last (pass.go). Queuers each have a place in the queue
// on the nodes, and the order here is only that of their arrival.
type contest struct {
	client *Client
	key    contestKey
	forced string    // the hold id whose end was published while it was the holder's
	tenure *tenure   // nil: this process does not have the name, as far as is known, or reads
	reads  []*tenure // of a read-write lock: by which this process reads, the last one that others may join last
	queue  []*place  // first come, first served
	first  [1]*place
	last   *denial         // what the last attempt found; nil: none has been made
	asking *redlock.Ballot // the contenders' attempt that is under way, or was cut off; nil: none

	// Of contenders.
	wakes  *waiter.Subscription // nil: none
	rivals *rivals              // nil: none was heard of
	even   bool                 // others have a chance: the message of the last release is to wake the head
	// Of queuers.
	unpredictable bool        // it cannot be guessed who is next
	heartbeats    *heartbeats // nil: none
	relay         relay       // of those for permits
}

// A contestKey tells contests apart.
type contestKey struct {
	lock  string
	order order
}

// An order is that in which those who are in one contest are served.
type order uint8

const (
	unordered order = iota
	queued          // by their places in the queues on the nodes
	shared          // so, too, but some of them together
	orders
)

// join queues p for key.
func (c *Client) join(p *place, key contestKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ct := c.contest(key)
	p.contest = ct
	if p.queuer != nil {
		if ct.tenure != nil {
			ct.tenure.takes(p)
		}
		if !p.here {
			p.leader = ct.leads(p, ct.queue)
			p.later = p.leader == nil && slices.ContainsFunc(ct.queue, func(before *place) bool { return before.starting || before.later })
		}
	}
	ct.queue = append(ct.queue, p)
}

// contest finds or makes the contest for key. Called with mu held.
func (c *Client) contest(key contestKey) *contest {
	ct := c.contests[key]
	if ct == nil {
		ct = &contest{client: c, key: key}
		ct.queue = ct.first[:0]
		c.contests[key] = ct
	}
	return ct
}

// remove takes p out of the queue, and wakes who is at the head after it. Called with mu held.
func (ct *contest) remove(p *place) {
	ct.desert(p)
	switch ct.drop(p) {
	case -1:
		return
	case 0:
		ct.wakeHead(false)
	}
	ct.tidy()
}

// drop takes p out of the queue, and tells where it was; -1: it was not there. Called with mu
// held.
func (ct *contest) drop(p *place) int {
	i := slices.Index(ct.queue, p)
	if i < 0 {
		return i
	}
	if ct.first[0] == p {
		ct.first[0] = nil
	}
	if i == 0 {
		ct.queue[0] = nil
		ct.queue = ct.queue[1:]
	} else {
		ct.queue = slices.Delete(ct.queue, i, i+1)
	}
	if p.starting || p.later {
		p.starting, p.later = false, false
		ct.advance()
	}
	return i
}

// wakeHead has the contender at the head of the queue look after its turn. Called with
// mu held.
func (ct *contest) wakeHead(look bool) {
	if len(ct.queue) > 0 && ct.queue[0].queuer == nil {
		ct.queue[0].stir(look)
	}
}

// tidy forgets what nobody needs. Called with mu held.
func (ct *contest) tidy() {
	if len(ct.queue) > 0 {
		return
	}
	ct.first[0] = nil
	ct.queue = ct.first[:0]
	if ct.heartbeats != nil {
		ct.client.watchdog.Forget(&ct.heartbeats.ward)
		ct.heartbeats = nil
	}
	if ct.any() != nil {
		return // somebody may come back at any moment
	}
	if ct.wakes != nil {
		ct.wakes.Close()
		ct.wakes = nil
	}
	delete(ct.client.contests, ct.key)
}

// published has the head look after a release somewhere, or when messages were missed.
func (ct *contest) published(id string) {
	ct.client.mu.Lock()
	defer ct.client.mu.Unlock()
	if t := ct.has(id); t != nil {
		ct.forced = id // not by an Unlock, which comes first here
	}
	// A release of this process has woken the head already, without the way round
	// through Redis, unless the nodes were late to learn of it. That of the present
	// holder is somebody's ForceUnlock.
	if ct.client.made(id) && (ct.last == nil || ct.last.holder != id) && !ct.even &&
		(ct.tenure == nil || ct.tenure.id != id) {
		return
	}
	if pause := ct.behindRivals(id); pause > 0 {
		ct.wakeLater(pause, true)
		return
	}
	ct.wakeHead(true)
}

// behindRivals tells for how long the head leaves a name that was released by the hold called id
// to other processes. Called with mu held.
func (ct *contest) behindRivals(id string) time.Duration {
	switch {
	case id == "" || ct.tenure != nil:
		return 0 // messages were missed, or the nodes are asked what has become of the tenure
	case !ct.client.made(id):
		if ct.rivals == nil {
			ct.rivals = new(rivals)
		}
		ct.rivals.heard(id)
	case ct.rivals == nil:
		return 0
	}
	return ct.rivals.pause()
}

// begin has t begin, and returns the tenures that must have ended on the nodes, as they granted this one.
// Called with mu held.
func (ct *contest) begin(t *tenure) (usurped []*tenure) {
	c := ct.client
	if ct.tenure != nil {
		usurped = append(usurped, ct.tenure)
		ct.leaves()
		c.held--
	}
	if t.joining != nil || t.serving != nil {
		c.shared[t.id] = t
	}
	if t.reads {
		ct.reads = append(ct.reads, t)
		ct.relay.slots += t.engine.wants
		ct.relay.token = max(ct.relay.token, t.first.token)
	} else {
		for _, before := range ct.reads {
			delete(c.shared, before.id)
		}
		c.held -= len(ct.reads)
		usurped = append(usurped, ct.reads...)
		ct.reads, ct.tenure = nil, t
		ct.relay.slots = 0
	}
	c.taken()
	return usurped
}

// leaves has this process be without the tenure by which it had the lock alone. Called with mu held.
func (ct *contest) leaves() {
	delete(ct.client.shared, ct.tenure.id)
	ct.tenure = nil
	ct.disband(func(*place) bool { return true })
}

// end forgets t, and tells whether it was known. Called with mu held.
func (ct *contest) end(t *tenure) bool {
	if ct.tenure == t {
		ct.leaves()
	} else if i := slices.Index(ct.reads, t); i >= 0 {
		ct.reads = slices.Delete(ct.reads, i, i+1)
		delete(ct.client.shared, t.id)
		ct.relay.slots -= t.engine.wants
		ct.disperse(t.engine.wants)
	} else {
		return false
	}
	ct.client.freed()
	return true
}

// any returns a tenure by which this process has the name; nil: there is none. Called with mu held.
func (ct *contest) any() *tenure {
	if n := len(ct.reads); ct.tenure == nil && n > 0 {
		return ct.reads[n-1]
	}
	return ct.tenure
}

// has returns the tenure called id; nil: there is none. Called with mu held.
func (ct *contest) has(id string) *tenure {
	if ct.tenure != nil && ct.tenure.id == id {
		return ct.tenure
	}
	for _, t := range ct.reads {
		if t.id == id {
			return t
		}
	}
	return nil
}

// crowded tells whether somebody in this process has key or waits for it.
func (c *Client) crowded(key contestKey) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.contests[key] != nil
}

// ended tells whether the hold called id was this client's and is not any more. One that lingers
// has ended, too, and is as good as another's. Called with mu held.
func (c *Client) ended(lock, id string) bool {
	return c.made(id) && !strings.HasSuffix(id, lua.Lingers) && !c.holds(lock, id)
}

// holds tells whether this client has lock by the tenure called id, of either kind. Called
// with mu held.
func (c *Client) holds(lock, id string) bool { return c.find(lock, id) != nil }

// find returns the tenure called id, of either kind, by which this client has lock; nil: there is
// none. Called with mu held.
func (c *Client) find(lock, id string) *tenure {
	for order := range orders {
		if ct := c.contests[contestKey{lock, order}]; ct != nil {
			if t := ct.has(id); t != nil {
				return t
			}
		}
	}
	return nil
}

// tenureOf is find.
func (c *Client) tenureOf(lock, id string) *tenure {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(lock, id)
}

// seen tells who has the lock, as far as this process knows. Called with mu held.
func (ct *contest) seen() denial {
	if t := ct.tenure; t != nil {
		return denial{holder: t.id, sure: true}
	}
	if ct.last == nil {
		return denial{}
	}
	return *ct.last
}
