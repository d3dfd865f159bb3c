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
		c.listens = c.hub.SubscribeBy(c.channels+c.id, subject, c.heard)
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

// subject is what a message is about: the hold whose turn it is, whatever has made it so. Nodes on which several
// holds end at once learn of them in different orders, so each names another one to the same waiter.
func subject(message string) string {
	id, about := parseTurn(message)
	if about == writerWaits {
		return message
	}
	return id
}

// parseTurn reads a message: whose turn it is, and what has made it so.
func parseTurn(message string) (id, about string) {
	id, about, _ = strings.Cut(message, " ")
	return id, about
}

// heard takes what the nodes have said of one subject: which hold's turn it is, and what made it so. Without one,
// messages may have been missed: a beat has every free lock's head woken again.
func (c *core) heard(messages []string) {
	c.mu.Lock()
	message := messages[0]
	id, about := parseTurn(message)
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
	for _, m := range messages {
		if _, about := parseTurn(m); c.made(about) {
			p.contest.unpredictable = false // this process passes the lock on to itself
		}
	}
	p.stir(true)
}
