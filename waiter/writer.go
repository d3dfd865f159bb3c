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
	retry := time.NewTimer(0)
	retry.Stop()
	defer retry.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-l.kick:
		case <-retry.C:
		}
		for {
			pubsub, add, drop, again := l.changes()
			if len(add) == 0 && len(drop) == 0 && len(again) == 0 {
				break
			}
			if len(add) > 0 {
				l.subscribe(pubsub, add...)
			}
			for _, channels := range again {
				l.subscribe(pubsub, channels...)
			}
			if len(drop) > 0 {
				_ = pubsub.Unsubscribe(l.ctx, drop...)
			}
		}
		if due := l.retries(); !due.IsZero() {
			retry.Reset(time.Until(due))
		}
	}
}

// subscribe sends one command. If it cannot, pubsub has made another connection, on which these channels are missing, or
// will: they are sent again.
func (l *line) subscribe(pubsub *redis.PubSub, channels ...string) {
	l.mu.Lock()
	l.refused.commands++ // before it is sent: a refusal that comes at once is its own
	l.mu.Unlock()
	err := pubsub.Subscribe(l.ctx, channels...)
	if err == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused.commands = max(0, l.refused.commands-1)
	if !isRefusal(err) {
		l.refused.lose(l.sent)
		if l.refused.retry.IsZero() {
			l.refused.again(time.Now())
		}
	}
}

// changes takes up to maxChange channels to subscribe and to unsubscribe, and groups to subscribe again.
func (l *line) changes() (pubsub *redis.PubSub, add, drop []string, again [][]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	again = l.refused.take(l.wanted, time.Now())
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
	return l.pubsub, add, drop, again
}

// retries returns when what was refused is to be sent again; zero: nothing was.
func (l *line) retries() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused.retry
}
