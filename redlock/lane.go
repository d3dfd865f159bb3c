package redlock

import (
	"context"
	"sync"
	"time"
)

const (
	// maxFlight bounds a pipeline, so that no command waits for more than a few
	// thousand others to be read and a stuck node holds on to no more than that.
	maxFlight = 1024
	// maxRunners bounds the pipelines to one node that are stuck at once. Beyond the
	// first, each is a try whether a new connection gets through where an old one does not.
	maxRunners = 4
)

// A lane is the way to one node: a queue that a runner drains into one pipeline at a
// time. While a pipeline is away, what arrives gathers for the next one: that is how
// concurrent callers share round trips, and the order of the queue is the order of
// execution on the node.
//
// A pipeline that is silent for the node timeout no longer holds up the queue: a
// second runner starts, on a connection of its own. From then on order is not kept,
// and nothing relies on it: a removal that might overtake a creation carries a mark.
//
// What waits in the queue for longer than its ballot would wait is dropped unsent. A
// stuck node therefore holds on to a node timeout's worth of commands, however long
// it is stuck, and has nothing to clean up for those that were dropped.
type lane struct {
	node    *node
	timeout time.Duration

	wake    chan struct{}  // one slot: the main runner has work
	stop    chan struct{}  // closed by close
	runners sync.WaitGroup // every goroutine of this lane

	mu      sync.Mutex
	closed  bool
	queue   []*op
	flights map[*flight]struct{}
	busy    int  // runners at work, a caller in runHere included
	stuck   int  // those of them whose flight is stuck
	failing bool // the last exchange failed; runHere must not risk its caller on the next
	sweeper *time.Timer
	sweepAt time.Time // what the sweeper is set for; zero: it is not
	debts   debts
}

// A flight is one pipeline on its way to the node and back.
type flight struct {
	ops   []*op
	stuck bool // every op has timed out
}

func newLane(n *node, timeout time.Duration) *lane {
	l := &lane{
		node:    n,
		timeout: timeout,
		wake:    make(chan struct{}, 1),
		stop:    make(chan struct{}),
		flights: make(map[*flight]struct{}),
	}
	l.sweeper = time.AfterFunc(time.Hour, l.sweep)
	l.sweeper.Stop()
	l.debts.init(l)
	l.runners.Add(1)
	go l.run()
	return l
}

// submit queues o. It never blocks.
func (l *lane) submit(o *op) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		o.unsent(ErrClosed)
		return
	}
	l.queue = append(l.queue, o)
	l.arm(o.expires)
	wake := l.busy == 0
	if wake {
		l.busy = 1
	} else {
		l.pass()
	}
	l.mu.Unlock()
	if wake {
		l.wake <- struct{}{} // cannot block: only who raises busy from zero sends
	}
}

// pass starts another runner if each one at work is stuck. Called with mu held.
func (l *lane) pass() {
	if l.busy > l.stuck || l.busy >= maxRunners || l.closed {
		return
	}
	l.busy++
	l.runners.Add(1)
	go func() {
		defer l.runners.Done()
		l.drain()
	}()
}

// runHere runs o on the caller's goroutine if the lane is idle and the caller can
// wait for the node: with one node and one caller, a hand-over to another goroutine
// and back would cost more than the lock.
func (l *lane) runHere(ctx context.Context, o *op) bool {
	if l.node.quick == nil {
		return false
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < l.timeout {
		return false
	}
	l.mu.Lock()
	if l.closed || l.busy > 0 || l.failing || !l.node.known() {
		l.mu.Unlock()
		return false
	}
	l.busy = 1
	l.mu.Unlock()

	var err error
	if call, ok := o.call(); ok {
		var reply any
		reply, err = call.Run(ctx, l.node.quick)
		if o.settle(reply, err) {
			l.owe(o)
		}
	}

	l.mu.Lock()
	l.failing = err != nil
	more := len(l.queue) > 0
	if !more {
		l.busy--
	}
	l.mu.Unlock()
	if more {
		l.wake <- struct{}{} // busy stays at one: the main runner takes over
	}
	return true
}

// run is the main runner.
func (l *lane) run() {
	defer l.runners.Done()
	for {
		select {
		case <-l.wake:
			l.drain()
		case <-l.stop:
			select {
			case <-l.wake: // what was queued before the end is still sent
				l.drain()
			default:
			}
			return
		}
	}
}

// drain sends what is queued, pipeline by pipeline, until nothing is.
func (l *lane) drain() {
	for {
		f := l.take()
		if f == nil {
			return
		}
		ok := l.node.fly(f.ops, l.owe)
		l.mu.Lock()
		delete(l.flights, f)
		if f.stuck {
			l.stuck--
		}
		l.failing = !ok
		l.mu.Unlock()
	}
}

// take makes a flight of what is queued. With nothing queued the runner is no longer busy.
func (l *lane) take() *flight {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.queue), maxFlight)
	if n == 0 {
		l.busy--
		return nil
	}
	f := &flight{ops: l.queue[:n:n]}
	if l.queue = l.queue[n:]; len(l.queue) == 0 {
		l.queue = nil // the flight owns the array
	}
	l.flights[f] = struct{}{}
	return f
}

// arm has the sweeper fire at t at the latest. In a row of ballots it is set for the
// first of them, so that each costs a comparison and not a timer. Called with mu held.
func (l *lane) arm(t time.Time) {
	if l.sweepAt.IsZero() || t.Before(l.sweepAt) {
		l.sweepAt = t
		l.sweeper.Reset(time.Until(t))
	}
}

// sweep times out what has waited too long, queued or in flight, and starts another
// runner past a stuck one.
func (l *lane) sweep() {
	now := time.Now()
	l.mu.Lock()
	l.sweepAt = time.Time{}
	var late, dropped []*op
	var next time.Time
	overdue := func(o *op) bool {
		if !now.Before(o.expires) {
			return true
		}
		if next.IsZero() || o.expires.Before(next) {
			next = o.expires
		}
		return false
	}
	for f := range l.flights {
		if f.stuck {
			continue
		}
		f.stuck = true
		for _, o := range f.ops {
			if overdue(o) {
				late = append(late, o)
			} else {
				f.stuck = false
			}
		}
		if f.stuck {
			l.stuck++
		}
	}
	kept := l.queue[:0:0]
	for _, o := range l.queue {
		if overdue(o) {
			dropped = append(dropped, o)
		} else {
			kept = append(kept, o)
		}
	}
	l.queue = kept
	if !next.IsZero() {
		l.arm(next)
	}
	if len(kept) > 0 {
		l.pass()
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

// close refuses new work. What is queued is still sent, or dropped in its time.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	l.debts.stop()
	close(l.stop)
}

// join waits for every runner: at most as long as the node's read timeout.
func (l *lane) join() {
	l.runners.Wait()
	l.mu.Lock()
	l.sweeper.Stop()
	l.mu.Unlock()
}
