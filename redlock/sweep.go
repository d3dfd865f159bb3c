package redlock

import "time"

// arm has the sweeper fire at t at the latest. In a row of ballots it is set for the
// first of them, so that each costs a comparison and not a timer. Called with mu held.
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

// sweep times out what has waited too long, queued or in flight, and has another
// runner pass a stuck one.
func (l *lane) sweep() {
	now := time.Now()
	l.mu.Lock()
	l.sweepAt = time.Time{}
	var late, dropped []*op
	var next time.Time
	overdue := func(expires time.Time) bool {
		if !now.Before(expires) {
			return true
		}
		if next.IsZero() || expires.Before(next) {
			next = expires
		}
		return false
	}
	for f := range l.air.flights {
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
			l.air.stick(f)
			l.stuck++
			if f.here {
				close(l.over)
				l.over = nil
			}
		}
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
	if !next.IsZero() {
		if len(kept) > maxFlight {
			// Each look costs; nobody needs to know of a timeout to the millisecond then.
			next = latest(next, now.Add(l.timeout/16))
		}
		l.arm(next)
	}
	if len(kept) > 0 {
		l.air.index()
	}
	for _, o := range kept {
		if blocked, _ := l.air.blocks(o, now); !blocked {
			l.help(o)
			break
		}
	}
	l.mu.Unlock()

	for _, o := range late {
		o.timeout()
	}
	for _, o := range dropped {
		if o.unsent(ErrSilent) {
			l.owe(o)
		}
	}
}
