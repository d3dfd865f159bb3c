package waiter

import (
	"sync/atomic"
	"time"
)

// A channel is one Pub/Sub channel on all nodes. Its fields are guarded by the hub's mu.
type channel struct {
	hub           *Hub
	name          string
	subject       func(message string) string // nil: each message is a subject of its own
	subscriptions map[*Subscription]struct{}

	ready     atomic.Pointer[chan struct{}] // closed while a quorum confirms; changed with the hub's mu held
	confirmed []bool                        // by node: it has confirmed, and the connection lasts
	known     []bool                        // by node: it has confirmed at some time
	confirms  int                           // that last

	tallies tallies
	timer   *time.Timer // fires when the grace of a message is over
	armed   bool
}

func newChannel(h *Hub, name string, subject func(string) string) *channel {
	c := &channel{
		hub:           h,
		name:          name,
		subject:       subject,
		subscriptions: make(map[*Subscription]struct{}),
		confirmed:     make([]bool, len(h.nodes)),
		known:         make([]bool, len(h.nodes)),
	}
	c.unready()
	c.timer = time.AfterFunc(time.Hour, c.graceOver)
	c.timer.Stop()
	return c
}

// unready has Ready open from now on.
func (c *channel) unready() {
	ready := make(chan struct{})
	c.ready.Store(&ready)
}

// confirm records that a node has confirmed the subscription. A second confirmation comes after a
// broken connection, and messages may have been lost.
func (h *Hub) confirm(node int, name string) {
	h.mu.Lock()
	c := h.channels[name]
	if c == nil {
		h.mu.Unlock()
		return
	}
	if !c.confirmed[node] {
		c.confirmed[node] = true
		if c.confirms++; c.confirms == h.quorum {
			close(*c.ready.Load())
		}
	}
	if !c.known[node] {
		c.known[node] = true
		h.mu.Unlock()
		return
	}
	c.wake([]string{""}) // unlocks
}

// lose records that the connection to a node has broken on which these channels were subscribed.
func (h *Hub) lose(node int, names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range names {
		c := h.channels[name]
		if c == nil || !c.confirmed[node] {
			continue
		}
		c.confirmed[node] = false
		if c.confirms == h.quorum {
			c.unready()
		}
		c.confirms--
	}
}

// publish records that a node has published message.
func (h *Hub) publish(node int, name, message string) {
	h.mu.Lock()
	c := h.channels[name]
	if c == nil {
		h.mu.Unlock()
		return
	}
	if len(h.nodes) == 1 {
		c.wake([]string{message}) // unlocks; nobody else will repeat it
		return
	}
	subject := message
	if c.subject != nil {
		subject = c.subject(message)
	}
	t, first := c.tallies.count(subject, message, node, len(h.nodes), h.quorum, time.Now())
	// Even if the grace is over: a message of a minority may have been of no use yet.
	if first && t.count == h.quorum {
		t.woken = true
		c.wake(t.messages()) // unlocks
		return
	}
	if !t.woken && !c.armed {
		c.armed = true
		c.timer.Reset(grace)
	}
	h.mu.Unlock()
}

// graceOver wakes for messages that only a minority has published.
func (c *channel) graceOver() {
	c.hub.mu.Lock()
	now := time.Now()
	said, next := c.tallies.due(now)
	if c.armed = !next.IsZero(); c.armed {
		c.timer.Reset(next.Sub(now))
	}
	c.wake(said...) // unlocks
}

// wake calls every subscription's wake with the messages of each subject. It unlocks the hub's mu
// first.
func (c *channel) wake(said ...[]string) {
	wakes := make([]func([]string), 0, len(c.subscriptions))
	for s := range c.subscriptions {
		wakes = append(wakes, s.wake)
	}
	c.hub.mu.Unlock()
	for _, messages := range said {
		for _, wake := range wakes {
			wake(messages)
		}
	}
}
