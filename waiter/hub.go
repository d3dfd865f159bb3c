package waiter

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// grace is how long after the first node's message a wake-up waits for a quorum.
	grace = 10 * time.Millisecond
	// closeWithin is how long Close waits: half as much again as the greeting of a server that has stopped.
	closeWithin = pongWithin * 3 / 2
	// linger is how long a channel stays subscribed after its last waiter has left: on a contended
	// lock, the next waiter comes soon.
	linger = time.Second
)

// A Hub hands out subscriptions. It is safe for concurrent use. The zero value is
// not usable; use [New].
type Hub struct {
	quorum int
	nodes  []listener
	cancel context.CancelFunc
	start  sync.Once // the nodes' connections start with the first subscription

	mu       sync.Mutex
	closed   bool
	channels map[string]*channel
	idle     map[*channel]time.Time // when each lost its last subscription
	sweeper  *time.Timer
	armed    bool
}

// New returns a hub for nodes. If quorum of them publish a message, subscribers are woken at once.
// The hub connects with the first subscription. A nil logger logs nothing. names are the nodes'
// names in logs, in their order; without names, the nodes are numbered.
func New(nodes []redis.UniversalClient, quorum int, logger *slog.Logger, names ...string) *Hub {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &Hub{
		quorum:   quorum,
		cancel:   cancel,
		channels: make(map[string]*channel),
		idle:     make(map[*channel]time.Time),
	}
	for i, client := range nodes {
		name := strconv.Itoa(i)
		if i < len(names) {
			name = names[i]
		}
		if c, ok := client.(*redis.ClusterClient); ok {
			h.nodes = append(h.nodes, newCluster(ctx, h, i, name, c, logger))
		} else {
			h.nodes = append(h.nodes, newLine(ctx, h, i, name, client, logger))
		}
	}
	h.sweeper = time.AfterFunc(time.Hour, h.sweep)
	h.sweeper.Stop()
	return h
}

// Subscribe calls wake for messages on a channel: with the message when a quorum has published it,
// and with "" when messages may have been missed. wake runs on a goroutine of the hub and must not
// block. Subscribe itself never blocks. On a closed hub, wake is not called, but a call that has begun may continue.
func (h *Hub) Subscribe(name string, wake func(message string)) *Subscription {
	return h.SubscribeBy(name, nil, func(messages []string) { wake(messages[0]) })
}

// SubscribeBy is Subscribe for a channel on which nodes may say the same thing in different words:
// messages with the same subject are counted together, whatever else they say. wake gets the
// messages of all nodes that have published one, in the nodes' order. After a wake-up, it is called
// again for a message that no node had published before.
//
// All subscriptions of a channel must use the same subject; nil means the whole message.
func (h *Hub) SubscribeBy(name string, subject func(message string) string, wake func(messages []string)) *Subscription {
	h.start.Do(func() {
		for _, n := range h.nodes {
			n.start()
		}
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.channels[name]
	if c == nil {
		c = newChannel(h, name, subject)
		h.channels[name] = c
		for _, n := range h.nodes {
			n.want(name)
		}
	}
	delete(h.idle, c)
	s := &Subscription{channel: c, wake: wake}
	c.subscriptions[s] = struct{}{}
	return s
}

// Near has a channel that is subscribed be heard from the servers that have key, too. In a Cluster, what a script
// that uses key publishes would otherwise come by way of another server. Near does not block.
func (h *Hub) Near(channel, key string) {
	for _, n := range h.nodes {
		n.near(channel, key)
	}
}

// Close ends every subscription and waits for the hub's goroutines. It waits for at most 1.5 s; a
// server that has stopped is given up before, as a rule. A dial that ignores its context, as go-redis's
// own does with TLS, and while it asks a Sentinel, may outlive Close; the connection that it makes is closed then.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	h.sweeper.Stop()
	for _, c := range h.channels {
		c.timer.Stop()
	}
	h.channels = make(map[string]*channel)
	h.mu.Unlock()
	h.start.Do(func() {}) // never start from here on
	h.cancel()
	for _, n := range h.nodes {
		n.end()
	}
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		for _, n := range h.nodes {
			n.join()
		}
	}()
	timer := time.NewTimer(closeWithin)
	defer timer.Stop()
	select {
	case <-joined:
	case <-timer.C:
	}
}

// sweep unsubscribes channels that have been idle for long enough.
func (h *Hub) sweep() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.armed = false
	now := time.Now()
	for c, since := range h.idle {
		if now.Sub(since) < linger {
			continue
		}
		delete(h.idle, c)
		delete(h.channels, c.name)
		c.timer.Stop()
		for _, n := range h.nodes {
			n.unwant(c.name)
		}
	}
	h.arm()
}

// arm schedules the next sweep while there is an idle channel. Called with mu held.
func (h *Hub) arm() {
	if len(h.idle) > 0 && !h.armed && !h.closed {
		h.armed = true
		h.sweeper.Reset(linger)
	}
}
