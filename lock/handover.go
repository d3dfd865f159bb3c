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
	// lock on to itself before it lets the others have an even chance.
	maxStreak = 32
	maxReign  = time.Second
	// fairChance is for how long it then waits for the message that wakes them all.
	fairChance = 20 * time.Millisecond
)

// A successor is who comes after a hold, as far as this process is concerned.
type successor uint8

const (
	unknown   successor = iota // nobody waits here
	returning                  // nobody, but whoever had it last may be about to
	local                      // somebody of this process: nobody else need be told
	anybody                    // it is the turn of the other processes too, or for the nodes to say
)

// handOver releases the whole hold and lets the next one try. It gives up the slot's turn.
//
// A contender of this process need not wait for the answers: its attempt is behind the
// release in every lane. If it is asleep, the attempt is made for it, in the same round
// trip; otherwise it makes its own, in the same one if it comes at once. So contenders of
// other processes have no chance meanwhile, and are not told. Now and then the one here is
// woken as they are, by the message.
//
// Of queuers, the one here that is probably next is the release's heir: a node that has it
// at the head wakes nobody. If it leaves instead, its leave wakes the next one. If its
// request is lost, or overtakes the release, it is the one to ask again.
//
// ctx never ends.
func (h *hold) handOver(ctx context.Context) *redlock.Ballot {
	c := h.engine.client
	next, heir, o := c.successor(h)
	if next == returning {
		runtime.Gosched()
		next, heir, o = c.successor(h)
	}
	if next == unknown || next == returning {
		b, _ := c.group.Decide(ctx, h.vacation(false, nil))
		h.slot.give()
		c.over(h, nil, nil)
		return b
	}
	b := c.group.Draft(h.vacation(next == local, heir))
	b.Prepare()
	if o != nil {
		o.ballot.Prepare()
	}
	h.slot.give()
	c.over(h, heir, o)
	if o != nil {
		o.ballot.Send(ctx) // the release may have left with somebody else's commands
	} else {
		runtime.Gosched() // let the next one come along
		b.Send(ctx)
	}
	_ = b.Wait(ctx) // it is decided within the node timeout, once it is sent
	return b
}

// successor tells who is to be next, and counts how often that was a contender of this
// process, for whom it makes an order if it is asleep. A queuer of it is named: the nodes
// know whether they agree.
func (c *Client) successor(h *hold) (next successor, heir *place, o *order) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ct := c.contests[h.engine.contest()]
	switch {
	case ct == nil:
		return unknown, nil, nil
	case len(ct.queue) == 0 && ct.streak > 0:
		ct.even = false
		return returning, nil, nil
	case len(ct.queue) == 0:
		return unknown, nil, nil
	}
	if ct.queue[0].queuer != nil {
		if heir := ct.heir(); heir != nil {
			return local, heir, nil
		}
		return anybody, nil, nil
	}
	ct.streak++
	now := time.Now().UnixMilli()
	if ct.since == 0 {
		ct.since = now
	}
	long := ct.streak >= maxStreak || now-ct.since >= maxReign.Milliseconds()
	if ct.even = long && ct.wakes != nil; ct.even {
		ct.streak, ct.since = 1, now
		return anybody, nil, nil
	}
	ct.hushed = true
	return local, nil, c.orderFor(ct.queue[0])
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
