package waiter

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// pingAfter is how long a connection may be silent before it gets a ping, and pongWithin is how
	// long the answer may take.
	pingAfter  = 3 * time.Second
	pongWithin = time.Second
)

// A listener receives the messages of one node: by one line, or by several for a Cluster.
type listener interface {
	start()
	want(channel string)
	near(channel, key string)
	unwant(channel string)
	end()
	join()
}

// A line is the Pub/Sub connection to one server. Its reader receives; its writer subscribes and
// unsubscribes. The writer gathers all changes since its last command, so that nobody waits for a
// slow node.
type line struct {
	ctx      context.Context // ends with the line, or with the hub
	cancel   context.CancelFunc
	hub      *Hub
	node     int
	name     string // in logs
	client   redis.UniversalClient
	commands *redis.Client // the same for commands; nil: of a Cluster that has not been met
	logger   *slog.Logger
	kick     chan struct{} // one slot: the writer has work
	done     *sync.WaitGroup

	// giveUp is called when the server cannot be listened to. It reports whether the line is over
	// because other lines take its place; nil: there are no others.
	giveUp func() (over bool)
	// resettle is called when the server is up, but had nothing to tell for a while. Like giveUp, it reports whether the
	// line is over; nil: the server is whichever the client's commands reach.
	resettle func() (over bool)
	// news reports whether no other line has heard a message; nil: there are no others.
	news func(channel, message string) bool

	looking atomic.Bool // whether commands reach another server
	mu      sync.Mutex
	server  string              // that was reached last, by its run_id; "" if that is not known
	moved   bool                // commands reach another by now, and pubsub was closed
	pubsub  *redis.PubSub       // nil before the first subscription
	wanted  map[string]struct{} // what should be subscribed
	sent    map[string]struct{} // what pubsub was told to subscribe to
	add     []string            // wanted, perhaps not sent
	drop    []string            // sent, perhaps not wanted
	refused refused             // what the server did not let be subscribed
}

func newLine(ctx context.Context, h *Hub, node int, name string, client redis.UniversalClient, logger *slog.Logger) *line {
	ctx, cancel := context.WithCancel(ctx)
	l := &line{
		ctx:    ctx,
		cancel: cancel,
		hub:    h,
		node:   node,
		name:   name,
		client: client,
		logger: logger,
		kick:   make(chan struct{}, 1),
		done:   new(sync.WaitGroup),
		wanted: make(map[string]struct{}),
		sent:   make(map[string]struct{}),
	}
	if c, ok := client.(*redis.Client); ok {
		// The greeting of a new connection has to be answered within that time, too: Close has to
		// wait for it.
		l.commands = c.WithTimeout(pongWithin)
		l.client = l.watch(c.WithTimeout(pongWithin))
	}
	return l
}

func (l *line) start() {
	l.mu.Lock()
	l.pubsub = l.client.Subscribe(l.ctx)
	l.mu.Unlock()
	l.done.Add(2)
	go l.write()
	go l.read()
}

// end ends the line's goroutines. It does not block.
func (l *line) end() {
	l.cancel()
	l.mu.Lock()
	pubsub := l.pubsub
	l.mu.Unlock()
	if pubsub != nil {
		// Ends the reader's read. It waits for a dial, which ignores its context if it is go-redis's own with TLS, or asks a Sentinel.
		l.done.Go(func() { _ = pubsub.Close() })
	}
}

// join waits for the line's goroutines.
func (l *line) join() { l.done.Wait() }

func (l *line) want(channel string) {
	l.mu.Lock()
	l.wanted[channel] = struct{}{}
	l.add = append(l.add, channel)
	l.mu.Unlock()
	l.nudge()
}

// near does nothing: there is one server.
func (l *line) near(string, string) {}

func (l *line) unwant(channel string) {
	l.mu.Lock()
	delete(l.wanted, channel)
	l.drop = append(l.drop, channel)
	l.mu.Unlock()
	l.nudge()
}

func (l *line) nudge() {
	select {
	case l.kick <- struct{}{}:
	default: // it is about to look anyway
	}
}
