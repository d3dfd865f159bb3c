package redlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// An outage is a lane's record of an outage of its node. The log has one entry when it begins and one
// when it is over, not one for each command. It has none for a node that never had a handshake, which
// the handshake logs.
type outage struct {
	since  time.Time // zero: the node is not down
	logged bool
}

// isOutage reports whether err shows that the node cannot be reached, rather than that it refuses
// something, or that this process gave up or had no free connection.
func isOutage(err error) bool {
	var refusal redis.Error
	return err != nil && !errors.As(err, &refusal) && !errors.Is(err, context.Canceled) &&
		!errors.Is(err, redis.ErrClosed) && !errors.Is(err, redis.ErrPoolTimeout) && !errors.Is(err, redis.ErrPoolExhausted)
}

// down records that the node did not answer. Called with mu held.
func (l *lane) down(why error) {
	if l.closed || l.isDown() || l.node.group.ctx.Err() != nil {
		return
	}
	l.outage = outage{since: time.Now(), logged: l.node.known()}
	if l.outage.logged {
		l.node.group.config.Logger.Warn("redlock: a node is down", "node", l.node.address, "error", why)
	}
}

// explain records why no connection to a node that is down can be made. go-redis tries for longer than commands are waited for
// before it says so: until then, whoever waits in vain knows only that nobody answered. So does whoever waits after a
// connection was made in vain. Called with mu held.
func (l *lane) explain(why error) {
	if !isDial(why) {
		l.node.unreached.Store(nil)
	}
	if !l.isDown() || !isDial(why) {
		return
	}
	err := fmt.Errorf("%w: %v", l.node.quiet, why) //nolint:errorlint // an i/o timeout would be context.DeadlineExceeded
	l.node.unreached.Store(&err)
}

// isDown reports whether the node is down, as far as is known. Called with mu held.
func (l *lane) isDown() bool { return !l.outage.since.IsZero() }

// isSilent is isDown, without mu held.
func (l *lane) isSilent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.isDown()
}

// back records that the node has answered. Called with mu held.
func (l *lane) back() {
	if !l.isDown() {
		return
	}
	if l.outage.logged {
		l.node.group.config.Logger.Info("redlock: a node is back", "node", l.node.address, "after", time.Since(l.outage.since))
	}
	l.outage = outage{}
	l.node.unreached.Store(nil)
	l.replica.Store(nil)
	l.node.group.config.Back()
}
