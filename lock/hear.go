package lock

import (
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/waiter"
)

// listen subscribes to what concerns this client's queuers, once and for all.
func (c *core) listen() *waiter.Subscription {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listens == nil {
		c.listens = c.hub.Subscribe(c.channels+c.id, c.heard)
	}
	return c.listens
}

// listening tells whether a quorum of nodes has confirmed the subscription.
func (c *core) listening() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listens == nil {
		return false
	}
	return isClosed(c.listens.Ready())
}

// heard takes a message: which hold's turn it is, and what made it so. Without one,
// messages may have been missed: a beat has every free lock's head woken again.
func (c *core) heard(message string) {
	c.mu.Lock()
	id, about, _ := strings.Cut(message, " ")
	if t := c.shared[id]; t != nil && about == writerWaits && !t.reads {
		does := t.contest.close(t)
		c.mu.Unlock()
		t.carryOut(does)
		return
	}
	defer c.mu.Unlock()
	if message == "" {
		for _, ct := range c.contests {
			if ct.heartbeats != nil {
				c.watchdog.Set(&ct.heartbeats.ward, time.Now(), time.Time{})
			}
		}
		return
	}
	if about == writerWaits {
		c.shared[id].shut()
		if p := c.queuers[id]; p != nil {
			p.closed = true
		}
		return
	}
	p := c.queuers[id]
	if p == nil {
		return
	}
	if c.made(about) {
		p.contest.unpredictable = false // this process passes the lock on to itself
	}
	p.stir(true)
}
