package waiter

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// avoid is for how long no new channel is subscribed at a master that could not be listened to.
const avoid = 10 * time.Second

// samples is how many slots are checked to find another master: enough for a master that has a
// twentieth of them.
const samples = 200

// A cluster listens to a Redis Cluster, which is one node, by a line to each of its masters that
// some channel needs. A channel is subscribed at the master of its own hash slot, where the messages
// of a lock's channel are published, and at masters where others of its messages are ([Hub.Near]). So a
// master that is stuck or gone holds up no message about a name of another. Until the client has met the
// Cluster, channels are subscribed at whichever server it reaches first, and stay there.
//
// The servers of a Cluster forward every message to each other, so a channel is heard wherever it
// is subscribed, though some 40 ms later if they are busy. So it stays where it is when its slot moves, until nothing has come from there
// for a while: the master may have left the Cluster. It moves to any other master when its own can no longer be listened to.
type cluster struct {
	ctx    context.Context // ends with the hub
	hub    *Hub
	node   int
	name   string // in logs
	client *redis.ClusterClient
	logger *slog.Logger
	done   sync.WaitGroup // all lines, including those that were given up

	mu      sync.Mutex // taken after the hub's mu, and before a line's
	closed  bool
	lines   map[*redis.Client]*line // by master; nil: the ClusterClient, if no master is known
	places  map[string]*line        // where the wanted channels are subscribed
	nears   map[string][]*line      // where they are subscribed, too
	echoes  echoes                  // of channels in nears
	avoided map[*redis.Client]time.Time
}

func newCluster(ctx context.Context, h *Hub, node int, name string, client *redis.ClusterClient, logger *slog.Logger) *cluster {
	return &cluster{
		ctx:     ctx,
		hub:     h,
		node:    node,
		name:    name,
		client:  client,
		logger:  logger,
		lines:   make(map[*redis.Client]*line),
		places:  make(map[string]*line),
		nears:   make(map[string][]*line),
		avoided: make(map[*redis.Client]time.Time),
	}
}

// start does nothing: a line starts with the first channel that needs it.
func (c *cluster) start() {}

func (c *cluster) want(channel string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	own := c.master(channel)
	if c.avoids(own) {
		if other := c.another(); other != nil {
			own = other
		}
	}
	c.place(channel, own)
}

// near subscribes a wanted channel at the master that has key, too, if that can be listened to.
func (c *cluster) near(channel, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.places[channel] == nil {
		return
	}
	master := c.master(key)
	if master == nil || c.avoids(master) {
		return
	}
	if l := c.line(master); l != c.places[channel] && !slices.Contains(c.nears[channel], l) {
		c.nears[channel] = append(c.nears[channel], l)
		l.want(channel)
	}
}

// place subscribes channel, at master if that is known. Called with mu held.
func (c *cluster) place(channel string, master *redis.Client) {
	l := c.line(master)
	c.places[channel] = l
	c.forgetNear(channel, l)
	l.want(channel)
}

// forgetNear records that channel is not subscribed at l beside its place. Called with mu held.
func (c *cluster) forgetNear(channel string, l *line) {
	lines := slices.DeleteFunc(c.nears[channel], func(near *line) bool { return near == l })
	if c.nears[channel] = lines; len(lines) == 0 {
		delete(c.nears, channel)
	}
}

// hears reports whether message is news: l is the first to hear it.
func (c *cluster) hears(l *line, channel, message string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.nears[channel]) == 0 || c.echoes.first(l, channel, message, time.Now())
}

func (c *cluster) unwant(channel string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.places[channel]; l != nil {
		delete(c.places, channel)
		l.unwant(channel)
	}
	for _, l := range c.nears[channel] {
		l.unwant(channel)
	}
	delete(c.nears, channel)
}

// ended is a context that has ended. Under it, a client that has met its Cluster answers from what it remembers, and
// one that has not gives up before it asks a server, which might be silent.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// master returns the master of channel's hash slot, or nil as long as the client has not met the Cluster. It does not
// block.
func (c *cluster) master(channel string) *redis.Client {
	master, err := c.client.MasterForKey(ended, channel)
	if err != nil {
		return nil
	}
	return master
}

// another returns some master that is not avoided, or nil if none was found. Called with mu held.
//
// To list the masters, the client would ask a server for an update, and that server may be stuck.
// So the masters of some other slots are tried.
func (c *cluster) another() *redis.Client {
	for i := range samples {
		m := c.master(strconv.Itoa(i))
		if m == nil || !c.avoids(m) {
			return m
		}
	}
	return nil
}

// avoids reports whether nothing may be subscribed at master now. Called with mu held.
func (c *cluster) avoids(master *redis.Client) bool { return time.Now().Before(c.avoided[master]) }

// line returns the line to a master. Called with mu held.
func (c *cluster) line(master *redis.Client) *line {
	if l := c.lines[master]; l != nil {
		return l
	}
	var client redis.UniversalClient = c.client
	name := c.name
	if master != nil {
		client, name = master, master.Options().Addr
	}
	l := newLine(c.ctx, c.hub, c.node, name, client, c.logger)
	l.done = &c.done
	l.giveUp = func() bool { return c.giveUp(master, l) }
	l.resettle = func() bool { return c.resettle(master, l) }
	l.news = func(channel, message string) bool { return c.hears(l, channel, message) }
	c.lines[master] = l
	l.start()
	return l
}

// giveUp moves the channels of a line that can no longer be listened to elsewhere. It reports
// whether none is left, so that the line is over. It runs on the line's reader. It does not find
// out whether a replica has taken over: any master will do.
func (c *cluster) giveUp(master *redis.Client, l *line) (over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	now := time.Now()
	for m, until := range c.avoided {
		if !now.Before(until) {
			delete(c.avoided, m)
		}
	}
	c.avoided[master] = now.Add(avoid)
	other := c.another()
	places := make(map[string]*redis.Client)
	for channel, at := range c.places {
		if at != l {
			continue
		}
		to := c.master(channel)
		if to == nil || c.avoids(to) {
			to = other
		}
		if to == nil {
			return false
		}
		places[channel] = to
	}
	delete(c.lines, master)
	for channel := range c.nears {
		c.forgetNear(channel, l)
	}
	for channel, to := range places {
		c.place(channel, to)
	}
	return true
}

// resettle moves the channels of a quiet line whose slots another master has by now to that. A master that has left the
// Cluster stays up, but hears of nothing. It reports whether no channel is left, so that the line is over. It runs on the
// line's reader.
func (c *cluster) resettle(master *redis.Client, l *line) (over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	moved, left := 0, 0
	for channel, at := range c.places {
		if at != l {
			continue
		}
		to := c.master(channel)
		if to == nil || to == master || c.avoids(to) {
			left++
			continue
		}
		moved++
		c.place(channel, to)
		l.unwant(channel)
	}
	for _, lines := range c.nears {
		if slices.Contains(lines, l) {
			left++
		}
	}
	if moved == 0 || left > 0 {
		return false
	}
	delete(c.lines, master)
	return true
}

// end ends every line. It does not block.
func (c *cluster) end() {
	c.mu.Lock()
	c.closed = true
	lines := c.lines
	c.lines = nil
	c.mu.Unlock()
	for _, l := range lines {
		l.end()
	}
}

// join waits for all lines.
func (c *cluster) join() { c.done.Wait() }
