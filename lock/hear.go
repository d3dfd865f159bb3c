package lock

import (
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/waiter"
)

// listen subscribes to the messages for this client's queuers, once, and in a Cluster also where messages about
// key are published.
func (c *core) listen(key string) *waiter.Subscription {
	c.mu.Lock()
	defer c.mu.Unlock()
	channel := c.channels + c.id
	if c.listens == nil {
		c.listens = c.hub.SubscribeBy(channel, subject, c.heard)
	}
	if !c.alone {
		c.hub.Near(channel, key)
	}
	return c.listens
}

// listening reports whether a quorum of nodes has confirmed the subscription.
func (c *core) listening() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listens == nil {
		return false
	}
	return isClosed(c.listens.Ready())
}

// subject returns the subject of a message: the hold whose turn it is, whatever the cause. Nodes on
// which several holds end at once learn of that in different orders, so each names another cause to
// the same waiter.
func subject(message string) string {
	id, about := parseTurn(message)
	if about == writerWaits {
		return message
	}
	return id
}

// parseTurn reads a message: whose turn it is, and the cause.
func parseTurn(message string) (id, about string) {
	id, about, _ = strings.Cut(message, " ")
	return id, about
}

// heard handles the nodes' messages of one subject: which hold's turn it is, and the cause. Without
// a subject, messages may have been missed: a beat wakes the head of every free lock again.
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
	p.causes = p.causes[:0]
	for _, m := range messages {
		_, about := parseTurn(m)
		if c.made(about) {
			p.contest.unpredictable = false // this process passes the lock on to itself
		}
		p.causes = append(p.causes, about)
	}
	p.stir(true)
}
