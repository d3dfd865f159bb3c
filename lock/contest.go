package lock

import (
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/waiter"
	"github.com/holdfast-go/holdfast/watchdog"
)

// A contest is one name in this process: this client's tenure of it, and the calls that wait for it
// here. All fields are guarded by the client's mu, except asking.
//
// Among contenders, only the head of the queue tries at Redis, so a release costs one attempt per
// process and not one per waiter. The others are passed the lock, one after another, for as long as
// the tenure may last (pass.go). Each queuer has a place in the queue on the nodes, and the order
// here is only the order of arrival.
type contest struct {
	client *core
	key    contestKey
	forced string    // the hold id whose end was published while it was the holder's
	tenure *tenure   // nil: this process does not have the name, as far as is known, or reads
	reads  []*tenure // of a read-write lock: by which this process reads, the last one that others may join last
	queue  []*place  // first come, first served
	first  [1]*place
	last   *denial                        // what the last attempt found; nil: none has been made
	asking atomic.Pointer[redlock.Ballot] // the contenders' attempt that is under way, or was cut off; nil: none

	elsewhere elsewhere // as the nodes last said within this reign

	// Of contenders.
	wakes  *waiter.Subscription // nil: none
	rivals *rivals              // nil: none was heard of
	block  blocker              // what attempts have found in their way of late
	chance time.Duration        // for how long others have one since this process has let the name go; 0: they have none
	deaf   bool                 // some of those cannot hear that it has
	reign  reign                // of this process, until its next tenure begins
	later  *time.Timer          // wakes the head if no message does before; until then others have a chance; nil: none
	fades  *time.Timer          // ends the memory of others when nobody here has the name or wants it; nil: none
	// Of queuers.
	unpredictable bool        // the next one cannot be guessed
	heartbeats    *heartbeats // nil: none
	relay         *relay      // of those for permits; nil: of any others
	missed        missedTurns
}

// missedTurns are those that the queuers of a process have been given, and have heard of too late, since a quorum last
// answered one of them in time.
type missedTurns struct {
	turns int
	nodes []int     // that have granted the lock too late since the last of these turns, to whichever queuer
	again time.Time // when one of the queuers may ask next, if they have given up their places
}

// A contestKey identifies a contest. Two families of locks never meet in one: the nodes refuse one of
// them, and what this process holds of one family is nothing that a call for the other could join.
type contestKey struct {
	lock  string
	order order
}

// An order is the order in which the members of a contest are served. Only shared ones follow a leader, or wait for a
// turn within a tenure of their process before they ask the nodes.
type order uint8

const (
	unordered order = iota
	queued          // by their places in the queues on the nodes
	shared          // the same, but readers together
	slotted         // the same, but as many together as there are permits for
	orders
)

// contest finds or makes the contest for key. Called with mu held.
func (c *core) contest(key contestKey) *contest {
	ct := c.contests[key]
	if ct == nil {
		ct = &contest{client: c, key: key}
		ct.queue = ct.first[:0]
		if key.order == slotted {
			ct.relay = new(relay)
		}
		c.contests[key] = ct
	}
	return ct
}

// tenures returns those of this process. Called with mu held.
func (ct *contest) tenures() iter.Seq[*tenure] {
	return func(yield func(*tenure) bool) {
		if ct.tenure != nil && !yield(ct.tenure) {
			return
		}
		for _, t := range ct.reads {
			if !yield(t) {
				return
			}
		}
	}
}

// without returns those that must be gone if t was granted. Called with mu held.
func (ct *contest) without(t *tenure) (gone []*tenure) {
	if ct.tenure != nil {
		gone = append(gone, ct.tenure)
	}
	if !t.reads {
		gone = append(gone, ct.reads...)
	}
	return gone
}

// has returns the tenure called id; nil: there is none. Called with mu held.
func (ct *contest) has(id string) *tenure {
	for t := range ct.tenures() {
		if t.id == id {
			return t
		}
	}
	return nil
}

// crowded reports whether somebody in this process has key or waits for it.
func (c *core) crowded(key contestKey) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.contests[key] != nil
}

// ended reports whether the hold called id was this client's and is over. A hold that lingers is
// over, too, and counts as another client's. Called with mu held.
func (c *core) ended(lock, id string) bool {
	return c.made(id) && !strings.HasSuffix(id, lua.Lingers) && !c.holds(lock, id)
}

// holds reports whether this client has lock by the tenure called id, of either kind. Called with
// mu held.
func (c *core) holds(lock, id string) bool { return c.find(lock, id) != nil }

// find returns the tenure called id, of either kind, by which this client has lock; nil: there is
// none. Called with mu held.
func (c *core) find(lock, id string) *tenure {
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
func (c *core) tenureOf(lock, id string) *tenure {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(lock, id)
}

// seen returns who has the lock for which e would ask, as far as this process knows. Called with mu held.
func (ct *contest) seen(e *engine) *denial {
	switch {
	case ct.tenure != nil:
		return &denial{holder: ct.tenure.id, sure: true}
	case ct.relay.hasAll(e):
		return &denial{holder: ct.reads[0].id, sure: true}
	}
	return ct.waitsFor(e)
}

// waitsFor is seen for a call that waits, which need not know which hold of this process it waits for.
// Called with mu held.
func (ct *contest) waitsFor(e *engine) *denial {
	switch {
	case ct.tenure != nil, ct.relay.hasAll(e):
		return taken
	case ct.last == nil:
		return nothing
	}
	return ct.last
}

// heartbeats are the signs of life of one contest's queuers: one command per node for all
// of them, sent by the watchdog.
type heartbeats struct {
	contest *contest
	engine  *engine // that of the shortest heartbeat
	kind    kind.Queue
	ward    watchdog.Ward
	pause   time.Duration // until one that failed is repeated; 0: the last one did not
}

// wanted reports whether somebody here waits.
func (ct *contest) wanted() bool {
	ct.client.mu.Lock()
	defer ct.client.mu.Unlock()
	return len(ct.queue) > 0
}

// A relay is a contest's record of the permits that it passes on. It is guarded by the client's mu.
type relay struct {
	token  int64         // the greatest known one, including reserved ones
	slots  int           // that this process has
	passed time.Time     // when one was last passed on
	others time.Time     // when others were last seen to wait
	trip   time.Duration // that it took to ask
}

// gain records the permits of t, which begins. Without a relay there is nothing to record; so for the
// other two.
func (r *relay) gain(t *tenure) {
	if r != nil {
		r.slots += t.engine.wants
		r.token = max(r.token, t.first.token)
	}
}

// lose records that t has ended.
func (r *relay) lose(t *tenure) {
	if r != nil {
		r.slots -= t.engine.wants
	}
}

// hasAll reports whether all permits that e knows of are with this process.
func (r *relay) hasAll(e *engine) bool { return r != nil && r.slots >= e.permits }

// reset records that this process has no permits.
func (r *relay) reset() {
	if r != nil {
		r.slots = 0
	}
}
