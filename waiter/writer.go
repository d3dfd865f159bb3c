package waiter

import (
	"time"

	"github.com/redis/go-redis/v9"
)

// maxChange bounds the channels in one SUBSCRIBE or UNSUBSCRIBE.
const maxChange = 1000

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
