package waiter

import "time"

// recent is how many messages of a channel are told apart. Nodes publish the same
// messages in the same order, a few apart at the most.
const recent = 8

// A channel is one Pub/Sub channel on all nodes. Its fields are guarded by the hub's mu.
type channel struct {
	hub           *Hub
	name          string
	subscriptions map[*Subscription]struct{}

	ready     chan struct{}
	confirmed []bool // by node
	confirms  int

	tallies [recent]tally
	oldest  int
	timer   *time.Timer // grace is over
}

// A tally counts the nodes that have published one message.
type tally struct {
	message string
	nodes   []bool
	count   int
	woken   bool
}

func newChannel(h *Hub, name string) *channel {
	c := &channel{
		hub:           h,
		name:          name,
		subscriptions: make(map[*Subscription]struct{}),
		ready:         make(chan struct{}),
		confirmed:     make([]bool, len(h.lines)),
	}
	c.timer = time.AfterFunc(time.Hour, c.graceOver)
	c.timer.Stop()
	return c
}

// confirm notes that a node has confirmed the subscription. The second time it has
// done so after a broken connection, and messages may be lost.
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
			close(c.ready)
		}
		h.mu.Unlock()
		return
	}
	c.wake("") // unlocks
}

// publish notes that a node has published message.
func (h *Hub) publish(node int, name, message string) {
	h.mu.Lock()
	c := h.channels[name]
	if c == nil {
		h.mu.Unlock()
		return
	}
	t := c.tally(message)
	if !t.nodes[node] {
		t.nodes[node] = true
		t.count++
	}
	switch {
	case t.woken:
	case t.count >= h.quorum:
		t.woken = true
		c.wake(message) // unlocks
		return
	case t.count == 1:
		c.timer.Reset(grace)
	}
	h.mu.Unlock()
}

// tally finds or makes the tally of message, in place of the oldest.
func (c *channel) tally(message string) *tally {
	for i := range c.tallies {
		if t := &c.tallies[i]; t.count > 0 && t.message == message {
			return t
		}
	}
	t := &c.tallies[c.oldest]
	c.oldest = (c.oldest + 1) % recent
	if t.nodes == nil {
		t.nodes = make([]bool, len(c.hub.lines))
	}
	clear(t.nodes)
	t.message, t.count, t.woken = message, 0, false
	return t
}

// graceOver wakes for messages that only a minority has published.
func (c *channel) graceOver() {
	c.hub.mu.Lock()
	var message string
	found := false
	for i := range c.tallies {
		if t := &c.tallies[i]; t.count > 0 && !t.woken {
			t.woken = true
			message, found = t.message, true
		}
	}
	if !found {
		c.hub.mu.Unlock()
		return
	}
	c.wake(message) // unlocks
}

// wake calls every subscription's wake, without the hub's mu, which it unlocks.
func (c *channel) wake(message string) {
	wakes := make([]func(string), 0, len(c.subscriptions))
	for s := range c.subscriptions {
		wakes = append(wakes, s.wake)
	}
	c.hub.mu.Unlock()
	for _, wake := range wakes {
		wake(message)
	}
}
