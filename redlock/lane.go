package redlock

import (
	"sync"
	"sync/atomic"
	"time"
)

// A lane is the connection to one node: a queue that runners drain into pipelines, flight by
// flight. While a flight is in flight, new commands gather for the next one: that is how concurrent
// callers share round trips. For a near node one flight at a time is best, because it carries the
// most, or two if there is much to carry. For a far node several are in flight at once, so that no
// caller waits for another's round trip before its own.
//
// Commands about one key are executed in the order of the queue, as long as the node answers: a
// second one waits until the flight of the first has landed. A flight that is silent for the node
// timeout no longer holds up anyone: another runner passes it, on its own connection. From then on
// the order is not kept, nor is it if a server refuses a part of a flight that is sent again in
// another way. Nothing relies on it: a removal that might overtake a creation carries a mark.
//
// A command that waits in the queue for longer than its ballot waits is dropped unsent; or for
// longer than Motion.Unsent if the node answers other commands, because then the callers wait for
// each other. A stuck node therefore receives only a node timeout's worth of commands, however long
// it is stuck, and dropped commands need no clean-up.
type lane struct {
	node    *node
	timeout time.Duration

	wake    chan struct{}  // one slot: the main runner has work
	stop    chan struct{}  // closed by close
	runners sync.WaitGroup // every goroutine of this lane

	mu          sync.Mutex
	closed      bool
	retired     bool // closed because it is not needed any more: another takes what comes
	queue       []*op
	window      window
	sticky      sticky
	busy        int           // runners at work, a caller in runHere included
	stuck       int           // runners whose flight is stuck
	boarding    bool          // a runner that help started has yet to look at the queue
	failing     bool          // the last exchange failed; runHere must not risk its caller on the next
	unreachable bool          // it failed as the node was silent, or as nobody listened
	over        chan struct{} // ends the wait of the caller in runHere; nil: to be made
	sweeper     *time.Timer
	sweepAt     time.Time     // what the sweeper is set for; zero: it is not
	behind      time.Duration // by how much the sweeper was late, of late
	pending     pendingReleases
	outage      outage
	made        time.Time
	seeking     bool // seekReplica is on its way

	replica atomic.Pointer[lane] // that commands for a silent master try first; nil: there is none. Set with mu held
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

// submit queues o to be sent. It never blocks.
func (l *lane) submit(o *op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.put(o)
}

// put is submit with mu held, which it may release for a moment.
func (l *lane) put(o *op) {
	if l.queued(o) {
		l.start(o)
	}
}

// prepare queues o, to be sent with the next submitted op, or with send.
func (l *lane) prepare(o *op) {
	l.mu.Lock()
	l.queued(o)
	l.mu.Unlock()
}

// send sends o, which was prepared, if it has not been sent.
func (l *lane) send(o *op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 {
		l.start(o)
	}
}

// flush sends the prepared ops that have not been sent.
func (l *lane) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 {
		l.start(l.queue[0])
	}
}

// queued adds o to the queue, unless the lane is closed or must not send it. Called with mu held,
// which it releases for a moment in that case.
func (l *lane) queued(o *op) bool {
	var refused error
	switch {
	case l.closed:
		refused = ErrClosed
	case o.ballot.motion.Creates && l.overdrawn():
		refused = l.node.silent()
	}
	if refused != nil {
		retired, down := l.retired, l.isDown()
		l.mu.Unlock()
		if retired {
			l.node.of.way(o.key()).submit(o)
		} else {
			o.unsent(refused, down)
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

// ails reports whether the node did not answer the last time, or does not answer now.
func (l *lane) ails() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failing || l.stuck > 0
}

// retire closes a lane that has sent nothing since the given time and has nothing to send. Nor is it looking for a
// replica, for which it needs the mutex with which it will be joined.
func (l *lane) retire(since time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.busy > 0 || l.seeking || len(l.queue) > 0 || len(l.pending.ops)+l.pending.moving > 0 || l.made.After(since) || l.window.last.After(since) {
		return false
	}
	l.closed, l.retired = true, true
	l.pending.stop() // there is nothing pending
	close(l.stop)
	return true
}

// close refuses new work. Queued commands are still sent, or dropped in time.
func (l *lane) close() {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	l.closed = true
	dropped := l.pending.stop()
	close(l.stop)
	l.mu.Unlock()
	for _, o := range dropped {
		o.conclude()
	}
}

// join waits for every runner: at most as long as the node's read timeout.
func (l *lane) join() {
	l.runners.Wait()
	l.mu.Lock()
	l.sweeper.Stop()
	conn := l.sticky.drop()
	l.mu.Unlock()
	putBack(conn)
}
