package redlock

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

// debts are the removals that a node has not confirmed. They are tried again, all
// together and with a growing pause, until each is confirmed or its key has
// outlived its TTL anyway (I5).
type debts struct {
	ops   []*op
	timer *time.Timer
	armed bool
	last  time.Time // when something was last owed
	pause *backoff.ExponentialBackOff
}

const maxPause = time.Second

func (d *debts) init(l *lane) {
	d.pause = backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(50*time.Millisecond),
		backoff.WithMaxInterval(maxPause),
		backoff.WithMaxElapsedTime(0),
	)
	d.timer = time.AfterFunc(time.Hour, l.collect)
	d.timer.Stop()
}

// stop is called with the lane's mu held.
func (d *debts) stop() {
	d.timer.Stop()
	d.ops = nil
}

// owe notes that o's removal is not confirmed.
func (l *lane) owe(o *op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := &l.debts
	now := time.Now()
	if l.closed || !now.Before(o.ballot.motion.Until) {
		return
	}
	// Nothing owed for a while: the node had recovered, this is a new failure.
	if now.Sub(d.last) > 3*maxPause {
		d.pause.Reset()
	}
	d.last = now
	d.ops = append(d.ops, o)
	if !d.armed {
		d.armed = true
		d.timer.Reset(d.pause.NextBackOff())
	}
}

// collect tries again what is owed.
func (l *lane) collect() {
	now := time.Now()
	l.mu.Lock()
	var due []*op
	for _, o := range l.debts.ops {
		if now.Before(o.ballot.motion.Until) {
			o.expires, o.again = now.Add(l.timeout), true
			due = append(due, o)
		}
	}
	l.debts.ops = nil
	l.debts.armed = false
	l.mu.Unlock()
	for _, o := range due {
		l.submit(o)
	}
}
