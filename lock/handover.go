package lock

import (
	"context"
	"runtime"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

const (
	// maxStreak is how often, and maxReign for how long, a process passes a contended
	// lock on to itself before it tells the others, and lets them have an even chance. If
	// nobody else listens, that is for who only polls: once in as long as a poll takes.
	maxStreak = 32
	maxReign  = time.Second
	// fairChance is for how long it then waits for the message that wakes them all.
	fairChance = 20 * time.Millisecond
)

// A succession is what follows a hold, as far as this process is concerned.
type succession struct {
	next  successor
	tell  bool   // of local: the others are told all the same, to learn whether there are any
	heir  *place // the queuer who is probably next; nil: none
	order *order // of the contender who is next; nil: it makes its own attempt
}

// A successor is who comes next.
type successor uint8

const (
	unknown   successor = iota // nobody waits here
	returning                  // nobody, but whoever had it last may be about to
	local                      // somebody of this process
	anybody                    // it is the turn of the other processes too, or for the nodes to say
)

// handOver releases the whole hold and lets the next one try. It gives up the slot's turn.
//
// A contender of this process need not wait for the answers: its attempt is behind the
// release in every lane. If it is asleep, the attempt is made for it, in the same round
// trip; otherwise it makes its own, in the same one if it comes at once. So contenders of
// other processes have no chance meanwhile, and are not told. Now and then they are, and the
// one here is woken as they are, by the message, unless the nodes said the last time that
// nobody else listens.
//
// Of queuers, the one here that is probably next is the release's heir: a node that has it
// at the head wakes nobody. If it leaves instead, its leave wakes the next one. If its
// request is lost, or overtakes the release, it is the one to ask again.
//
// ctx never ends.
func (h *hold) handOver(ctx context.Context) *redlock.Ballot {
	c := h.engine.client
	s := c.succession(h)
	if s.next == returning {
		runtime.Gosched()
		s = c.succession(h)
	}
	if s.next == unknown || s.next == returning {
		b, _ := c.group.Decide(ctx, h.vacation(false, nil))
		h.slot.give()
		c.over(h, nil, nil)
		return b
	}
	quiet := s.next == local && !s.tell
	b := c.group.Draft(h.vacation(quiet, s.heir))
	b.Prepare()
	if s.order != nil {
		s.order.ballot.Prepare()
	}
	h.slot.give()
	c.over(h, s.heir, s.order)
	if s.order != nil {
		s.order.ballot.Send(ctx) // the release may have left with somebody else's commands
	} else {
		runtime.Gosched() // let the next one come along
		b.Send(ctx)
	}
	_ = b.Wait(ctx) // it is decided within the node timeout, once it is sent
	if !quiet {
		c.countListeners(h, b)
	}
	return b
}

// succession tells who is to be next, and counts how often that was a contender of this
// process, for whom it makes an order if it is asleep. A queuer of it is named: the nodes
// know whether they agree.
func (c *Client) succession(h *hold) succession {
	c.mu.Lock()
	defer c.mu.Unlock()
	ct := c.contests[h.engine.contest()]
	switch {
	case ct == nil:
		return succession{next: unknown}
	case len(ct.queue) == 0 && ct.streak > 0:
		ct.even = false
		return succession{next: returning}
	case len(ct.queue) == 0:
		return succession{next: unknown}
	}
	if ct.queue[0].queuer != nil {
		if heir := ct.heir(); heir != nil {
			return succession{next: local, heir: heir}
		}
		return succession{next: anybody}
	}
	ct.streak++
	now := time.Now().UnixMilli()
	if ct.since == 0 {
		ct.since = now
	}
	long := ct.wakes != nil && (ct.streak >= maxStreak || now-ct.since >= maxReign.Milliseconds())
	if long {
		ct.streak, ct.since = 1, now
	}
	if ct.even = long && (!ct.lonely || now-ct.chance >= poll.Milliseconds()); ct.even {
		ct.chance = now
		return succession{next: anybody}
	}
	ct.hushed = true
	return succession{next: local, tell: long, order: c.orderFor(ct.queue[0])}
}

// countListeners notes whether others listen to the releases of h's lock, after b has told
// of one: then they have their chance with the next. A single listener is taken for this
// client.
//
// That may be wrong: where a Pub/Sub connection is down, or between a subscription to some
// nodes and a release on others, the one listener of a node may be another. Only chances
// depend on it, and as often as a waiter polls there is one whatever it says.
func (c *Client) countListeners(h *hold, b *redlock.Ballot) {
	alone, others := 0, false
	for i := range c.group.Size() {
		a := b.Answer(i)
		if a.Vote != redlock.Yes {
			continue
		}
		r, _ := h.engine.kind.Released(a.Reply)
		if r.OnlyOne {
			alone++
		} else if r.Found {
			others = true
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ct := c.contests[h.engine.contest()]
	if ct == nil {
		return
	}
	before := ct.lonely
	ct.lonely = !c.group.Clustered() && !others && alone >= c.group.Quorum() && ct.wakes != nil && isClosed(ct.wakes.Ready())
	if before && !ct.lonely {
		ct.streak = maxStreak
	}
}

// over notes that h has ended, and has the next one here try: heir, if the nodes count on
// it. The release is in the lanes by now, so it is executed before what the next one sends.
// Who has o need not be woken: o will do that, and an older order would tell of the past.
func (c *Client) over(h *hold, heir *place, o *order) {
	c.mu.Lock()
	defer c.mu.Unlock()
	heir.inherit() // whatever has become of h: nobody else wakes it
	ct := c.contests[h.engine.contest()]
	if ct == nil || ct.holder != h {
		return
	}
	ct.holder = nil
	c.freed()
	switch {
	case ct.even:
		ct.wakeLater()
	case o == nil || len(ct.queue) > 0 && ct.queue[0].order != o:
		ct.wakeHead(false)
	}
	if heir == nil {
		ct.heir().inherit()
	}
	ct.tidy()
}

// wakeLater wakes the contender at the head if the message does not. Called with mu held.
func (ct *contest) wakeLater() {
	if len(ct.queue) == 0 {
		return
	}
	p := ct.queue[0]
	time.AfterFunc(fairChance, func() {
		ct.client.mu.Lock()
		defer ct.client.mu.Unlock()
		p.stir(false)
	})
}

// pass tells the other processes that the lock is free if they have not been told, as
// somebody here was to take it who has given up. Called with mu held.
func (ct *contest) pass() {
	if !ct.hushed || ct.holder != nil {
		return
	}
	ct.hushed = false
	keys := lua.KeysOf(ct.key.lock)
	ct.client.group.Vote(redlock.Motion{
		Name: "wake",
		Call: lua.Wake{Keys: keys, About: ct.client.newID()}.Call(),
		Yes:  lua.ParseWoken,
	})
}
