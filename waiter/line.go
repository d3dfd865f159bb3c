package waiter

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/redis/go-redis/v9"
)

const (
	// pingAfter is how long a connection may be silent before it gets a ping, and pongWithin is how
	// long the answer may take.
	pingAfter  = 3 * time.Second
	pongWithin = time.Second
	// maxChange bounds the channels in one SUBSCRIBE or UNSUBSCRIBE.
	maxChange = 1000
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
		// Ends the reader's read. It waits for a dial, which ignores its context if it is go-redis's own with TLS.
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

// write makes the subscriptions match the wanted channels.
func (l *line) write() {
	defer l.done.Done()
	again := time.NewTimer(0)
	again.Stop()
	defer again.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-l.kick:
		case <-again.C:
		}
		for {
			pubsub, add, drop, each := l.changes()
			if len(add) == 0 && len(drop) == 0 && len(each) == 0 {
				break
			}
			if len(add) > 0 {
				l.subscribe(pubsub, add...)
			}
			for _, channel := range each {
				l.subscribe(pubsub, channel)
			}
			if len(drop) > 0 {
				_ = pubsub.Unsubscribe(l.ctx, drop...)
			}
		}
		if due := l.retries(); !due.IsZero() {
			again.Reset(time.Until(due))
		}
	}
}

// subscribe sends one command. The reader meets an error, too, and pubsub keeps the channels for the next connection.
func (l *line) subscribe(pubsub *redis.PubSub, channels ...string) {
	err := pubsub.Subscribe(l.ctx, channels...)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.refused.commands++
	case !isRefusal(err):
		l.refused.lose(l.sent)
	}
}

// changes takes up to maxChange channels to subscribe and to unsubscribe, and those to subscribe with a command each.
func (l *line) changes() (pubsub *redis.PubSub, add, drop, each []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch, each := l.refused.take(l.wanted, time.Now())
	l.add = append(l.add, batch...)
	for len(l.add) > 0 && len(add) < maxChange {
		c := l.add[0]
		l.add = l.add[1:]
		// Even if it was sent before and not yet taken back: the new waiter needs a confirmation,
		// and Redis confirms again.
		if _, wanted := l.wanted[c]; wanted {
			l.sent[c] = struct{}{}
			l.refused.sent(c)
			add = append(add, c)
		}
	}
	for len(l.drop) > 0 && len(drop) < maxChange {
		c := l.drop[0]
		l.drop = l.drop[1:]
		_, wanted := l.wanted[c]
		_, sent := l.sent[c]
		if sent && !wanted {
			delete(l.sent, c)
			l.refused.forget(c)
			drop = append(drop, c)
		}
	}
	return l.pubsub, add, drop, each
}

// retries returns when what was refused is to be sent again; zero: nothing was.
func (l *line) retries() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused.retry
}

// read receives until the line ends.
func (l *line) read() {
	defer l.done.Done()
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(10*time.Millisecond),
		backoff.WithMaxInterval(time.Second),
		backoff.WithMaxElapsedTime(0),
	)
	asked := false   // a ping is in flight
	failing := false // nothing has come since the connection broke
	dead := false    // nor since it was found dead, which was logged
	for l.ctx.Err() == nil {
		l.mu.Lock()
		pubsub := l.pubsub
		l.mu.Unlock()
		patience := pingAfter
		if asked {
			patience = pongWithin
		}
		message, err := pubsub.ReceiveTimeout(l.ctx, patience)
		if err == nil {
			asked, failing, dead = false, false, false
			pause.Reset()
			if _, quiet := message.(*redis.Pong); quiet && l.isOverWhenQuiet(pubsub) {
				return
			}
			l.receive(message)
			continue
		}
		if l.hasMoved() {
			asked = false
			l.renew(pubsub)
			continue
		}
		if !isSilence(err) {
			asked = false
			if l.failed(err) {
				continue
			}
			// A connection that was closed comes back, unless the server is gone.
			if failing && !isRefusal(err) && l.isOver() {
				return
			}
			failing = true
			l.sleep(pause.NextBackOff())
			continue
		}
		if asked {
			asked = false
			if !dead {
				dead = true
				l.logger.WarnContext(l.ctx, "waiter: subscription connection is dead, connecting again until there is an answer", "node", l.name)
			}
			if l.isOver() {
				return
			}
			l.renew(pubsub)
			continue
		}
		asked = true
		if err := pubsub.Ping(l.ctx); err != nil && !isRefusal(err) {
			l.lost() // pubsub may have mended it by a new connection
		}
	}
}

// isOver ends the line if other lines take its place. Called by the reader.
func (l *line) isOver() bool {
	if l.giveUp == nil || !l.giveUp() {
		return false
	}
	l.end()
	return true
}

// isOverWhenQuiet looks whether the server, which is up, is still where messages are published: after a failover, or once a
// master has left its Cluster, it may go on for long without any. It ends the line if other lines take its place. Called
// by the reader.
func (l *line) isOverWhenQuiet(pubsub *redis.PubSub) bool {
	if l.resettle == nil {
		if l.knowsServer() && !l.looking.Swap(true) {
			l.done.Go(func() {
				defer l.looking.Store(false)
				l.compare(pubsub)
			})
		}
		return false
	}
	if !l.resettle() {
		return false
	}
	l.end()
	return true
}

// isRefusal reports whether a server answered with this error.
func isRefusal(err error) bool {
	var refusal redis.Error
	return errors.As(err, &refusal)
}

// isSilence reports whether err means that nothing came on an intact connection.
func isSilence(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return false
	}
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// failed logs why no message came: a refusal once, until nothing is refused any more. A connection is restored
// automatically. A user without rights to the channels needs somebody to grant them, and a server may have been busy:
// what was refused is tried again. It reports whether the connection is there: one of the commands was refused.
func (l *line) failed(err error) (intact bool) {
	level := slog.LevelDebug
	l.mu.Lock()
	if isRefusal(err) {
		if l.refused.times == 0 {
			level = slog.LevelWarn
		}
		intact = l.refused.commands > 0
		l.refused.add(time.Now())
		l.nudge()
	}
	l.mu.Unlock()
	if !isRefusal(err) {
		l.lost()
	}
	l.logger.Log(l.ctx, level, "waiter: no wake-ups from a node, waiters poll it", "node", l.name, "error", err)
	return intact
}

func (l *line) receive(message any) {
	switch m := message.(type) {
	case *redis.Subscription:
		if m.Kind == "subscribe" {
			l.mu.Lock()
			l.refused.confirm(m.Channel)
			l.mu.Unlock()
			l.hub.confirm(l.node, m.Channel)
		}
	case *redis.Message:
		if l.news == nil || l.news(m.Channel, m.Payload) {
			l.hub.publish(l.node, m.Channel, m.Payload)
		}
	}
}

// lost records that the connection is lost: no channel is heard until it is confirmed again. Called by the reader, which
// reads the confirmations, too.
func (l *line) lost() {
	l.mu.Lock()
	channels := slices.Collect(maps.Keys(l.sent))
	l.refused.lose(l.sent)
	l.mu.Unlock()
	if l.news == nil { // no other line hears them
		l.hub.lose(l.node, channels)
	}
}

// renew replaces a dead connection by a new one.
func (l *line) renew(dead *redis.PubSub) {
	l.lost()
	fresh := l.client.Subscribe(l.ctx)
	l.mu.Lock()
	l.pubsub = fresh
	l.sent = make(map[string]struct{})
	l.refused = refused{times: l.refused.times}
	l.drop = nil
	l.add = l.add[:0]
	for c := range l.wanted {
		l.add = append(l.add, c)
	}
	l.mu.Unlock()
	_ = dead.Close()
	if l.ctx.Err() != nil {
		_ = fresh.Close() // close may have run before it existed
	}
	l.nudge()
}

// sleep pauses between tries to connect.
func (l *line) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.ctx.Done():
	}
}
