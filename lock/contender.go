package lock

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/waiter"
)

// A contender waits for a lock that goes to the first caller that finds it free. In one process
// only the head of the contest contends at Redis; the others wait behind it.
type contender struct {
	*call
	place   place
	behind  *tenure   // which it waits for, of its own process; nil: none
	late    time.Time // when to wait no longer for the confirmation of the subscription
	checked bool      // an attempt was made after the subscription was confirmed
	refused bool      // because somebody had the lock: the nodes let this client ask
	holder  string    // who had the lock when it last began to wait for a message; "": it did not
	expires time.Time // when that hold would have ended by itself
	woken   bool      // and it was woken since
	untold  time.Time // for how long it looks as if it could not hear: somebody has ended a hold without a message
}

func (c *contender) try() (*Lease, *denial, error) {
	turn, behind := c.turn()
	if !turn {
		if behind != nil && c.behind != behind {
			c.behind = behind
			behind.prepare(&c.engine.set)
		}
		d := c.place.waitsFor()
		c.refused = c.refused || d.sure
		return nil, d, nil
	}
	c.behind = nil
	start := time.Now()
	lease, d, err := c.engine.attempt(c.ctx, c.slot, &c.place)
	c.place.again = true
	if lease == nil && err == nil {
		d = c.place.saw(d)
		c.refused = c.refused || d.sure
		c.overtaken(d, time.Since(start))
	}
	return lease, d, err
}

// turn reports whether the contender should make an attempt now. If it should not because this
// process has the name, turn returns the tenure. The first time, it joins the queue.
func (c *contender) turn() (turn bool, behind *tenure) {
	client, p := c.engine.client, &c.place
	client.mu.Lock()
	defer client.mu.Unlock()
	if p.contest == nil {
		client.enqueue(p, c.engine.contest())
	}
	behind = p.contest.tenure
	if !p.leads() || !p.look && (behind != nil || p.contest.later != nil) {
		return false, behind
	}
	p.look, p.attempts = false, true
	if wakes := p.contest.wakes; wakes != nil && isClosed(wakes.Ready()) {
		c.checked = true // no release after this attempt is missed
	}
	return true, nil
}

func (c *contender) passed() *Lease { return c.place.passed() }

func (c *contender) wait(d *denial) error {
	wake, turn, wakes := c.watch()
	switch {
	case !turn:
		return c.sleep(wake, nil, 0)
	case !c.checked && c.behind == nil:
		// A release between the attempt and the subscription is missed, so there is one more
		// attempt after the confirmation (trap 27). The confirmation may never come: a node may be
		// down, or its Pub/Sub connection.
		if c.late.IsZero() {
			c.late = time.Now().Add(c.engine.client.group.NodeTimeout())
		}
		err := c.sleep(wake, wakes.Ready(), max(time.Until(c.late), time.Nanosecond))
		c.checked = isClosed(wakes.Ready()) || !time.Now().Before(c.late)
		return err
	case !d.sure:
		return c.rest(wake, c.backOff())
	}
	c.notice(d)
	// Waiters must not all try at once, nor at the very moment the key expires.
	pause := poll - rand.N(poll/3)
	if c.behind == nil && (time.Now().Before(c.untold) || !isClosed(wakes.Ready())) {
		// The process that has it is to leave it alone for so long now and then.
		c.sayDeaf()
		pause = deafLook - rand.N(deafLook/5)
	}
	if d.free > 0 && d.free < pause {
		pause = d.free + rand.N(10*time.Millisecond)
	}
	until := time.Now().Add(pause)
	if err := c.sleep(wake, nil, pause); err != nil {
		return err
	}
	if c.woken = time.Now().Before(until); !c.woken {
		c.place.lookAgain()
	}
	return nil
}

// notice finds out whether somebody ends holds without a word, for want of the right to publish for instance: another
// one has the lock by now, no message came, and the key of the one before cannot have ended by itself. To hear is of no
// use then. Without further evidence that is over after a while, as it is with the next message.
func (c *contender) notice(d *denial) {
	now := time.Now()
	if c.woken {
		c.untold = time.Time{}
	} else if c.holder != "" && d.holder != c.holder && now.Before(c.expires) {
		c.untold = now.Add(poll)
	}
	c.holder, c.expires = d.holder, now.Add(cmp.Or(d.free, d.ttl))
	if c.behind != nil {
		c.holder = ""
	}
}

// sayDeaf tells the process that has the lock that somebody waits who cannot hear. It does not wait.
func (c *contender) sayDeaf() {
	c.engine.client.group.Vote(redlock.Motion{
		Name: "deaf",
		Call: lua.Deaf{Keys: c.engine.keys, Life: 4 * deafLook}.Call(),
		Yes:  lua.ParseDeaf,
	})
}

// overtaken is told what an attempt has found that took so long. If this process is overtaken again and again,
// it says for how long the others have to leave the name alone: a release's message to it and its attempt take
// as long as an attempt and its answer.
func (c *contender) overtaken(d *denial, took time.Duration) {
	client, ct := c.engine.client, c.place.contest
	client.mu.Lock()
	far := d.sure && ct.rivals != nil && ct.rivals.overtaken(d.holder)
	client.mu.Unlock()
	if !far {
		return
	}
	client.group.Vote(redlock.Motion{
		Name: "far",
		Call: lua.Far{
			Keys:    c.engine.keys,
			Life:    farLife,
			FarMark: lua.FarMark{ID: client.newID(""), Chance: min(took+took/2+farSlack, maxChance)},
		}.Call(),
		Yes: lua.ParseFar,
	})
}

func (c *contender) accepted() bool { return c.refused }

func (c *contender) leave() *Lease { return c.place.leave() }

func (c *contender) seen() *denial { return c.place.seen() }

// watch returns the channels on which the place waits, whether it is its turn to look, unless others have a chance, and
// for the head also the subscription that wakes it.
func (c *contender) watch() (wake <-chan struct{}, turn bool, wakes *waiter.Subscription) {
	client, ct := c.engine.client, c.place.contest
	client.mu.Lock()
	defer client.mu.Unlock()
	head := c.place.leads()
	if head && ct.wakes == nil {
		ct.wakes = client.hub.Subscribe(c.engine.keys.Channel(), ct.published)
	}
	return c.place.signal(), head && ct.later == nil, ct.wakes
}
