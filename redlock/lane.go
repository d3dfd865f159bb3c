package redlock

import (
	"sync"
	"time"
)

// A lane is the way to one node: a queue that runners drain into pipelines, flight by
// flight. While a flight is away, what arrives gathers for the next one: that is how
// concurrent callers share round trips. To a near node one flight at a time is best,
// as it carries the most, or two when there is much to carry; to a far one several are
// away at once, so that nobody waits for another's round trip before its own.
//
// Commands about one key are executed in the order of the queue, as long as the node
// answers: a second one waits until the flight of the first has landed. A flight that
// is silent for the node timeout no longer holds up anyone: another runner passes it,
// on a connection of its own. From then on order is not kept, nor where a server refuses a
// part of a flight that is sent again in another way; and nothing relies on it: a removal
// that might overtake a creation carries a mark.
//
// What waits in the queue for longer than its ballot would wait is dropped unsent, or for
// longer than Motion.Unsent if the node answers what is sent: a crowd waits for itself. A
// stuck node therefore holds on to a node timeout's worth of commands, however long
// it is stuck, and has nothing to clean up for those that were dropped.
type lane struct {
	node    *node
	timeout time.Duration

	wake    chan struct{}  // one slot: the main runner has work
	stop    chan struct{}  // closed by close
	runners sync.WaitGroup // every goroutine of this lane

	mu       sync.Mutex
	closed   bool
	retired  bool // closed because it is not needed any more: another takes what comes
	queue    []*op
	window   window
	busy     int           // runners at work, a caller in runHere included
	stuck    int           // those of them whose flight is stuck
	boarding bool          // a runner that help started has yet to look at the queue
	failing  bool          // the last exchange failed; runHere must not risk its caller on the next
	over     chan struct{} // ends the wait of the caller in runHere; nil: to be made
	sweeper  *time.Timer
	sweepAt  time.Time     // what the sweeper is set for; zero: it is not
	behind   time.Duration // by how much the sweeper was late, of late
	pending  pendingReleases
	outage   outage
	made     time.Time
}

func newLane(n *node, timeout time.Duration) *lane {
	l := &lane{
		node:    n,
		timeout: timeout,
		made:    time.Now(),
		wake:    make(chan struct{}, 1),
		stop:    make(chan struct{}),
		window:  newWindow(n.connections()),
	}
	n.lane = l
	l.sweeper = time.AfterFunc(time.Hour, l.sweep)
	l.sweeper.Stop()
	l.pending.init(l)
	l.runners.Add(1)
	go l.run()
	return l
}

// submit queues o and has it leave. It never blocks.
func (l *lane) submit(o *op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queued(o) {
		l.start(o)
	}
}

// prepare queues o, which leaves with what is submitted next, or with send.
func (l *lane) prepare(o *op) {
	l.mu.Lock()
	l.queued(o)
	l.mu.Unlock()
}

// send has o leave, which was prepared, if it has not.
func (l *lane) send(o *op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 {
		l.start(o)
	}
}

// flush has leave what was prepared and has not left.
func (l *lane) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 {
		l.start(l.queue[0])
	}
}

// queued adds o to the queue, unless the lane is closed or must not send it. Called with
// mu held, which it gives up for a moment then.
func (l *lane) queued(o *op) bool {
	var refused error
	switch {
	case l.closed:
		refused = ErrClosed
	case o.ballot.motion.Creates && l.overdrawn():
		refused = l.node.silent
	}
	if refused != nil {
		retired := l.retired
		l.mu.Unlock()
		if retired {
			l.node.of.way(o.key()).submit(o)
		} else {
			o.unsent(refused)
		}
		l.mu.Lock()
		return false
	}
	if l.queue == nil {
		l.queue = l.window.room()
	}
	l.queue = append(l.queue, o)
	l.arm(o.expires)
	return true
}

// ails tells whether the node did not answer the last time, or does not now.
func (l *lane) ails() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failing || l.stuck > 0
}

// retire closes a lane that has sent nothing since the given time and has nothing to send.
func (l *lane) retire(since time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.busy > 0 || len(l.queue) > 0 || len(l.pending.ops) > 0 || l.made.After(since) || l.window.last.After(since) {
		return false
	}
	l.closed, l.retired = true, true
	l.pending.stop()
	close(l.stop)
	return true
}

// close refuses new work. What is queued is still sent, or dropped in its time.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	l.pending.stop()
	close(l.stop)
}

// join waits for every runner: at most as long as the node's read timeout.
func (l *lane) join() {
	l.runners.Wait()
	l.mu.Lock()
	l.sweeper.Stop()
	l.mu.Unlock()
}
