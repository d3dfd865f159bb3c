package waiter

import (
	"slices"
	"sync/atomic"
	"time"
)

// A channel is one Pub/Sub channel on all nodes. Its fields are guarded by the hub's mu.
type channel struct {
	hub           *Hub
	name          string
	subject       func(message string) string // nil: each message is a subject of its own
	subscriptions map[*Subscription]struct{}

	ready    atomic.Pointer[chan struct{}] // closed while a quorum confirms; changed with the hub's mu held
	heard    [][]*line                     // by node: which lines have confirmed, and last; a Cluster may have several
	known    []bool                        // by node: it has confirmed at some time
	confirms int                           // nodes with a line in heard

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
		heard:         make([][]*line, len(h.nodes)),
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

// confirm records that a line's server has confirmed the subscription. A second confirmation of a node comes after a
// broken connection, and messages may have been lost.
func (h *Hub) confirm(l *line, name string) {
	h.mu.Lock()
	c := h.channels[name]
	if c == nil {
		h.mu.Unlock()
		return
	}
	if heard := &c.heard[l.node]; !slices.Contains(*heard, l) {
		if *heard = append(*heard, l); len(*heard) == 1 {
			if c.confirms++; c.confirms == h.quorum {
				close(*c.ready.Load())
			}
		}
	}
	if !c.known[l.node] {
		c.known[l.node] = true
		h.mu.Unlock()
		return
	}
	c.wake([]string{""}) // unlocks
}

// unconfirm records that a line's server has confirmed that the channel is not subscribed there any more.
func (h *Hub) unconfirm(l *line, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.channels[name]; c != nil {
		c.lose(l)
	}
}

// lose records that a line hears nothing: its connection is lost.
func (h *Hub) lose(l *line) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.channels {
		c.lose(l)
	}
}

// lose records that a line does not hear the channel. Called with the hub's mu held.
func (c *channel) lose(l *line) {
	heard := &c.heard[l.node]
	i := slices.Index(*heard, l)
	if i < 0 {
		return
	}
	if *heard = slices.Delete(*heard, i, i+1); len(*heard) > 0 {
		return
	}
	if c.confirms == c.hub.quorum {
		c.unready()
	}
	c.confirms--
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
	if c.armed = !next.IsZero() && !c.hub.closed; c.armed {
		c.timer.Reset(next.Sub(now))
	}
	c.wake(said...) // unlocks
}

// wake calls every subscription's wake with the messages of each subject, unless the hub is closed: a line or a
// timer may have waited for the mutex while it was. It unlocks the hub's mu first.
func (c *channel) wake(said ...[]string) {
	if c.hub.closed {
		c.hub.mu.Unlock()
		return
	}
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
