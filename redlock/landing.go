package redlock

import "github.com/redis/go-redis/v9"

// learn asks the node whether batches work, if f would have gained by that. A runner calls it, and
// join waits for the runner.
func (l *lane) learn(f *flight) {
	if f.heard() && l.node.batching.due(len(f.sent)) {
		plain := l.node.patient.(*redis.Client) // others have no samples
		l.runners.Go(func() { l.node.batching.ask(l.node.group.ctx, plain) })
	}
}

// land records that a flight is over, and returns what remains to be done. Called with mu held.
func (l *lane) land(f *flight, end landing) (rest unsettled) {
	if f.stuck {
		l.stuck--
	}
	l.failing = end == failed
	switch {
	case f.stuck || end == unsent: // what it tells is of the past, and is known; or nothing
	case end == failed && isOutage(f.silence):
		l.down(f.silence)
	case f.answered: // else this process could not ask, for want of a connection or as the client is closed
		l.back()
	}
	if end == failed {
		l.explain(f.silence)
	}
	if end == answered {
		l.pending.answered()
	}
	if !f.stuck && end != unsent {
		l.unreachable = end == failed && isDial(f.silence)
	}
	rest, f.unsettled = f.unsettled, unsettled{}
	l.pending.moving += len(rest.owed) + len(rest.moves)
	if f.sticks {
		rest.stale = l.unstick(f, end)
	}
	l.window.land(f, end)
	l.tellSettled()
	return rest
}

// settle does what remains to be done for a flight that has landed and no longer refers to it.
func (l *lane) settle(rest unsettled) {
	putBack(rest.stale)
	for _, o := range rest.owed {
		l.owe(o)
	}
	for _, m := range rest.moves {
		m.to.submit(m.op)
	}
	l.moved(len(rest.owed) + len(rest.moves))
}
