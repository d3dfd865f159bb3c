package waiter

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/redis/go-redis/v9"
)

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
		if asked && l.isPingRefused(err) {
			message, err = new(redis.Pong), nil // an answer all the same
		}
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
		switch err := pubsub.Ping(l.ctx); {
		case isRefusal(err):
			asked = false // there is no connection, and the server wants none
		case err != nil:
			l.lost() // pubsub may have mended it by a new connection
		}
	}
}

// isOver ends the line if other lines take its place. Called by the reader.
func (l *line) isOver() bool {
	if l.giveUp == nil || !l.giveUp() {
		return false
	}
	l.lost()
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
	l.lost()
	l.end()
	return true
}

// isRefusal reports whether a server answered with this error.
func isRefusal(err error) bool {
	var refusal redis.Error
	return errors.As(err, &refusal)
}

// isPingRefused reports whether err is the answer to a ping that is in flight: a user may have no right to it, and a server
// may have no such command, or be busy. Refusals of other commands come this way, too.
func (l *line) isPingRefused(err error) bool {
	if !isRefusal(err) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused.commands == 0 || strings.Contains(strings.ToLower(err.Error()), "'ping'")
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
		switch m.Kind {
		case "subscribe":
			l.mu.Lock()
			l.refused.confirm(m.Channel)
			l.mu.Unlock()
			l.hub.confirm(l, m.Channel)
		case "unsubscribe":
			l.hub.unconfirm(l, m.Channel)
		}
	case *redis.Message:
		if l.news == nil || l.news(m.Channel, m.Payload) {
			l.hub.publish(l.node, m.Channel, m.Payload)
		}
	}
}

// lost records that the connection is lost: the line hears no channel until it is confirmed again. Called by the reader,
// which reads the confirmations, too.
func (l *line) lost() {
	l.mu.Lock()
	l.refused.lose(l.sent)
	l.mu.Unlock()
	l.hub.lose(l)
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
