package redlock

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// maxTries bounds the flights to a node that are away at once, stuck ones included, but
	// for those that its distance allows beside the first. Where the first is stuck, each of
	// the others is a try whether a new connection gets through where an old one does not.
	maxTries = 4
	// maxTry bounds the commands in a try: what is sent to a stuck node may have to be
	// cleaned up after it for a long time.
	maxTry = 16
	// workTime is more than a command of a large flight takes a node, and this process, on a
	// machine that is busy.
	workTime = 200 * time.Microsecond
	// maxHere bounds what a caller takes along.
	maxHere = 4
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
	air      air
	busy     int           // runners at work, a caller in runHere included
	stuck    int           // those of them whose flight is stuck
	boarding bool          // a runner that help started has yet to look at the queue
	failing  bool          // the last exchange failed; runHere must not risk its caller on the next
	over     chan struct{} // ends the wait of the caller in runHere; nil: to be made
	sweeper  *time.Timer
	sweepAt  time.Time     // what the sweeper is set for; zero: it is not
	behind   time.Duration // by how much the sweeper was late, of late
	debts    debts
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
		air:     newAir(n.connections()),
	}
	n.lane = l
	l.sweeper = time.AfterFunc(time.Hour, l.sweep)
	l.sweeper.Stop()
	l.debts.init(l)
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
		l.queue = l.air.room()
	}
	l.queue = append(l.queue, o)
	l.arm(o.expires)
	return true
}

// start has a runner look at the queue, for o. Called with mu held.
func (l *lane) start(o *op) {
	if l.busy > 0 {
		l.help(o)
		return
	}
	l.busy = 1
	l.wakeMain()
}

// wakeMain has the main runner work, for which busy counts already. It cannot block: only
// who raises busy from zero sends, or hands on what counted for itself. Called with mu held,
// so that the main runner is not told after it has ended.
func (l *lane) wakeMain() { l.wake <- struct{}{} }

// help starts another runner for o, beside those at work, if that is of use: each of
// them is stuck, or the node is far or much is queued for it, and o need not wait for a
// flight that is away. Called with mu held.
func (l *lane) help(o *op) {
	working := l.busy - l.stuck
	if l.closed || l.busy >= l.air.width-1+maxTries || working > 0 && !l.beside(working) {
		return
	}
	now := time.Now()
	l.air.index()
	blocked, wait := l.air.blocks(o, now)
	if working > 0 && (blocked || l.boarding) {
		return
	}
	wait = max(wait, l.air.wait(now))
	l.busy++
	l.boarding = true
	l.runners.Add(1)
	go func() {
		defer l.runners.Done()
		if wait > 0 {
			time.Sleep(wait)
		} else {
			runtime.Gosched() // whoever is about to submit can come along
		}
		l.drain()
	}()
}

// beside tells whether another runner is of use beside so many that are not stuck: the
// node is far, or it is near, what is away is not large, and a crowd waits. Called with
// mu held.
func (l *lane) beside(working int) bool {
	return working < l.air.width || working == 1 && l.stuck == 0 && l.air.splits() && len(l.queue) >= crowd
}

// runHere runs what was prepared, and o behind it unless it is nil, on the caller's
// goroutine if the lane is idle and the caller can wait for the node: with one node and
// one caller, a hand-over to another goroutine and back would cost more than the lock.
func (l *lane) runHere(ctx context.Context, o *op) bool {
	if l.node.quick == nil {
		return false
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < l.timeout || ctx.Err() != nil {
		return false
	}
	l.mu.Lock()
	if l.closed || l.busy > 0 || l.failing || !l.node.known() ||
		len(l.queue) > maxHere || len(l.queue) > 0 && l.air.width > 1 || len(l.queue) == 0 && o == nil {
		l.mu.Unlock()
		return false
	}
	l.busy = 1
	l.runners.Add(1) // whoever joins the lane waits for this one too
	defer l.runners.Done()
	if o != nil {
		if l.queue == nil {
			l.queue = l.air.room()
		}
		l.queue = append(l.queue, o)
		l.arm(o.expires)
	}
	f := l.air.depart(l.queue)
	l.queue = nil // the flight owns the array
	f.here = true
	until := f.ops[len(f.ops)-1].expires
	if l.over == nil {
		l.over = make(chan struct{})
	}
	bounded := &bound{Context: ctx, until: until, over: l.over}
	l.mu.Unlock()

	end := l.node.fly(bounded, l.node.quick, f)
	l.learn(f)

	l.mu.Lock()
	rest := l.land(f, end)
	more, closed := len(l.queue) > 0, l.closed
	switch {
	case !more:
		l.busy--
	case !closed:
		l.wakeMain()
	}
	l.mu.Unlock()
	l.settle(rest)
	if more && closed {
		l.drain() // the main runner may have ended
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
			if l.remains() {
				l.drain()
			}
			return
		}
	}
}

// remains tells whether the main runner has to send something after the end: what was
// queued before is still sent, and what was prepared, too.
func (l *lane) remains() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.wake:
		return true
	default:
	}
	if l.busy > 0 || len(l.queue) == 0 {
		return false
	}
	l.busy = 1
	return true
}

// drain sends what is queued, flight by flight, until nothing is.
func (l *lane) drain() {
	for {
		f := l.take()
		if f == nil {
			return
		}
		end := l.node.fly(l.node.group.ctx, l.node.patient, f)
		l.learn(f)
		l.mu.Lock()
		rest := l.land(f, end)
		far := l.air.width > 1
		l.mu.Unlock()
		l.settle(rest)
		if far {
			runtime.Gosched() // whoever was answered may come along again
		}
	}
}

// take makes a flight of what is queued and need not wait for another flight. With
// nothing to send the runner is no longer busy: what still waits for a flight is
// taken by the runner of that flight.
func (l *lane) take() *flight {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.boarding = false
	if others := l.busy - l.stuck - 1; others > 0 && !l.beside(others) {
		l.busy-- // those who stay take what is queued
		return nil
	}
	var ops []*op
	most := maxFlight
	switch {
	case l.stuck > 0:
		most = maxTry
	case l.busy > 1 && l.air.width == 1:
		most = maxBeside
	}
	ops, l.queue = l.air.board(l.queue, most)
	if len(ops) == 0 {
		l.busy--
		return nil
	}
	patience := l.timeout
	if len(ops) > maxTry {
		patience += time.Duration(len(ops)) * workTime
	}
	for _, o := range ops {
		if l.stuck > 0 {
			l.debts.note(o) // it may be away for as long as the node is silent
		}
		if o.ballot.motion.Unsent > 0 {
			o.expires = time.Now().Add(patience)
			l.arm(o.expires)
		}
	}
	return l.air.depart(ops)
}

// learn has the node asked whether batches work, if f would have gained by that. It is
// called by a runner, which join waits for.
func (l *lane) learn(f *flight) {
	if f.heard() && l.node.batching.due(len(f.sent)) {
		plain := l.node.patient.(*redis.Client) // others have no samples
		l.runners.Go(func() { l.node.batching.ask(l.node.group.ctx, plain) })
	}
}

// land notes that a flight is over, and returns what is still to be done for its ops.
// Called with mu held.
func (l *lane) land(f *flight, end landing) (rest unsettled) {
	if f.stuck {
		l.stuck--
	}
	l.failing = end == failed
	switch {
	case f.stuck || end == unsent: // what it tells is of the past, and is known; or nothing
	case end == failed && isOutage(f.silence):
		l.down(f.silence)
	default:
		l.back()
	}
	if end == answered {
		l.debts.answered()
	}
	rest, f.unsettled = f.unsettled, unsettled{}
	l.air.land(f, end)
	return rest
}

// settle takes care of ops whose flight did not do for them, now that it has landed and
// knows nothing of them any more.
func (l *lane) settle(rest unsettled) {
	for _, o := range rest.owed {
		l.owe(o)
	}
	for _, m := range rest.moves {
		m.to.submit(m.op)
	}
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
	if l.closed || l.busy > 0 || len(l.queue) > 0 || len(l.debts.ops) > 0 || l.made.After(since) || l.air.last.After(since) {
		return false
	}
	l.closed, l.retired = true, true
	l.debts.stop()
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
