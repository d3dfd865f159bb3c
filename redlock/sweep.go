package redlock

import (
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// arm makes the sweeper fire at t at the latest. In a row of ballots it is set for the first of
// them, so that each costs a comparison and not a timer. Called with mu held.
func (l *lane) arm(t time.Time) {
	if l.sweepAt.IsZero() || t.Before(l.sweepAt) {
		l.sweepAt = t
		l.sweeper.Reset(time.Until(t))
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// lag returns how late this process is, measured from when the sweep was due. On a busy machine, an
// answer that has arrived may wait as long until it is read, and the node is not to blame for that.
// lag is no more than the node timeout, and soon forgotten.
func (l *lane) lag(now time.Time) time.Duration {
	l.behind /= 2
	if !l.sweepAt.IsZero() {
		l.behind = max(l.behind, min(now.Sub(l.sweepAt), l.timeout))
	}
	if l.behind < l.timeout/20 {
		l.behind = 0 // timers are never exact
	}
	return l.behind
}

// sweep times out commands that have waited too long, queued or in flight, and lets another runner
// pass a stuck one.
func (l *lane) sweep() {
	now := time.Now()
	l.mu.Lock()
	lag := l.lag(now)
	l.sweepAt = time.Time{}
	var late, dropped []*op
	var next time.Time
	overdue := func(expires time.Time) bool {
		expires = expires.Add(lag)
		if !now.Before(expires) {
			return true
		}
		if next.IsZero() || expires.Before(next) {
			next = expires
		}
		return false
	}
	for f := range l.window.flights {
		if f.stuck {
			continue
		}
		waited := 0
		for _, o := range f.ops {
			if overdue(o.expires) {
				late = append(late, o)
				waited++
			}
		}
		if waited == len(f.ops) {
			l.window.stick(f)
			l.stuck++
			l.unreachable = true
			l.tellSettled()
			l.down(ErrSilent)
			if f.here {
				close(l.over)
				l.over = nil
			}
		}
	}
	var stale *redis.Conn
	if l.sticky.conn != nil && overdue(l.sticky.idle()) {
		stale = l.sticky.drop()
	}
	kept := make([]*op, 0, len(l.queue))
	for _, o := range l.queue {
		expires := o.expires
		if m := &o.ballot.motion; m.Unsent > 0 && l.stuck == 0 {
			expires = latest(expires, o.ballot.start.Add(m.Unsent))
		}
		if overdue(expires) {
			dropped = append(dropped, o)
		} else {
			kept = append(kept, o)
		}
	}
	l.queue = kept
	l.pending.moving += len(dropped)
	if !next.IsZero() {
		if len(kept) > maxFlight {
			// Each look costs time, and nobody needs to know of a timeout to the millisecond.
			next = latest(next, now.Add(l.timeout/16))
		}
		l.arm(next)
	}
	if len(kept) > 0 {
		l.window.index()
	}
	for _, o := range kept {
		if blocked, _ := l.window.blocks(o, now); !blocked {
			l.help(o)
			break
		}
	}
	down := l.isDown()
	quiet := len(late)+len(dropped) > 0 && l.node.of != nil
	seeks := quiet && down && !l.seeking && !l.closed
	if seeks {
		l.seeking = true
		l.runners.Add(1) // join waits for this one, too
	}
	l.mu.Unlock()

	putBack(stale)
	if quiet {
		// A master that is silent refuses nothing, so redirect hears of it only when the flight is given up, and
		// by then a lease may be lost that a new master has. The callers hear after this that nobody answered:
		// who tries again does not come before the client has been asked.
		l.node.of.shards.reload()
	}
	if seeks {
		key := slices.Concat(late, dropped)[0].key()
		go func() {
			defer l.runners.Done()
			l.node.of.shards.seekReplica(l, key)
		}()
	}
	for _, o := range late {
		o.timeout(l.node, down)
	}
	for _, o := range dropped {
		if o.unsent(l.node.silent(), down) {
			l.owe(o)
		}
	}
	l.moved(len(dropped))
}
