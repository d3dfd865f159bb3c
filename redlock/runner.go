package redlock

import (
	"context"
	"runtime"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// maxTries bounds the concurrent flights to a node, including stuck ones, but not those that
	// its distance allows beside the first. If the first is stuck, each of the others tries whether
	// a new connection gets through where an old one does not.
	maxTries = 4
	// maxTry bounds the commands in a try: commands that are sent to a stuck node may need clean-up
	// for a long time.
	maxTry = 16
	// workTime is more than a command of a large flight takes a node and this process on a busy
	// machine.
	workTime = 200 * time.Microsecond
	// enoughWait is the number of waiting commands from which a runner leaves at once. With fewer, the
	// callers that it has answered come along first.
	enoughWait = 64
	// maxHere bounds the number of commands that a caller takes along.
	maxHere = 4
)

// start makes a runner look at the queue, for o. Called with mu held.
func (l *lane) start(o *op) {
	if l.busy > 0 {
		l.help(o)
		return
	}
	l.busy = 1
	l.wakeMain()
}

// wakeMain makes the main runner work; busy counts it already. It cannot block: only the caller
// that raises busy from zero sends, or a runner that hands on its own count. Called with mu held,
// so that the main runner is not woken after it has ended.
func (l *lane) wakeMain() { l.wake <- struct{}{} }

// help starts another runner for o, beside those at work, if that helps: each of them is stuck, or
// the node is far or has a long queue, and o need not wait for a flight in progress. Called with mu
// held.
func (l *lane) help(o *op) {
	working := l.busy - l.stuck
	if l.closed || l.busy >= l.window.width-1+maxTries || working > 0 && !l.beside(working) {
		return
	}
	now := time.Now()
	l.window.index()
	blocked, wait := l.window.blocks(o, now)
	if working > 0 && (blocked || l.boarding) {
		return
	}
	wait = max(wait, l.window.wait(now))
	l.busy++
	l.boarding = true
	l.runners.Add(1)
	go func() {
		defer l.runners.Done()
		if wait > 0 {
			time.Sleep(wait)
		} else {
			runtime.Gosched() // callers that are about to submit can come along
		}
		l.drain()
	}()
}

// beside reports whether another runner helps beside so many that are not stuck: the node is far,
// or it is near, the current flight is not large, and a crowd waits. Called with mu held.
func (l *lane) beside(working int) bool {
	return working < l.window.width || working == 1 && l.stuck == 0 && l.window.splits() && len(l.queue) >= crowd
}

// runHere runs the prepared ops, and then o unless it is nil, on the caller's goroutine, if the
// lane is idle and the caller can wait for the node. With one node and one caller, a hand-over to
// another goroutine and back would cost more than the lock. In a crowd, that is not so, and o is
// submitted at once.
func (l *lane) runHere(ctx context.Context, o *op) (done dispatch) {
	if l.node.quick == nil {
		return undone
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < l.timeout || ctx.Err() != nil {
		return undone
	}
	l.mu.Lock()
	if l.closed || l.busy > 0 || l.failing || !l.node.known() ||
		len(l.queue) > maxHere || len(l.queue) > 0 && l.window.width > 1 || len(l.queue) == 0 && o == nil {
		if l.busy > 0 && o != nil && o.isPlain() {
			l.put(o)
			done = submitted
		}
		l.mu.Unlock()
		return done
	}
	l.busy = 1
	l.runners.Add(1) // join waits for this one too
	defer l.runners.Done()
	if o != nil {
		if l.queue == nil {
			l.queue = l.window.room()
		}
		l.queue = append(l.queue, o)
		l.arm(o.expires)
	}
	f := l.window.depart(l.queue)
	l.queue = nil // the flight owns the array
	f.here = true
	if len(f.ops) == 1 {
		l.stick(f, l.node.quick)
	}
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
	return ran
}

// A dispatch is what runHere has done with its op.
type dispatch uint8

const (
	undone    dispatch = iota // nothing
	submitted                 // it is queued, or has its answer
	ran                       // it is over
)

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

// remains reports whether the main runner has something to send after the end: commands queued
// before are still sent, and prepared ones, too.
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

// drain sends the queue, flight by flight, until it is empty.
func (l *lane) drain() {
	for {
		f := l.take()
		if f == nil {
			return
		}
		end := l.node.fly(l.node.group.ctx, l.node.patient, f)
		l.learn(f)
		l.mu.Lock()
		yields := (len(f.ops) > 1 || l.window.width > 1) && len(l.queue) < enoughWait
		rest := l.land(f, end)
		l.mu.Unlock()
		l.settle(rest)
		if yields {
			runtime.Gosched() // callers that were answered may come along again
		}
	}
}

// take makes a flight of the queued commands that need not wait for another flight. With nothing to
// send, the runner is no longer busy: the commands that still wait for a flight are taken by that
// flight's runner.
func (l *lane) take() *flight {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.boarding = false
	if others := l.busy - l.stuck - 1; others > 0 && !l.beside(others) {
		l.busy-- // the remaining runners take what is queued
		return nil
	}
	var ops []*op
	most := maxFlight
	switch {
	case l.stuck > 0:
		most = maxTry
	case l.busy > 1 && l.window.width == 1:
		most = maxBeside
	}
	ops, l.queue = l.window.board(l.queue, most)
	if len(ops) == 0 {
		l.busy--
		return nil
	}
	patience := l.timeout
	if len(ops) > maxTry {
		patience += time.Duration(len(ops)) * workTime
	}
	f := l.window.depart(ops)
	if l.busy == 1 && len(ops) == 1 {
		if c, ok := l.node.patient.(*redis.Client); ok {
			l.stick(f, c)
		}
	}
	expires, arms := f.start.Add(patience), false
	for _, o := range ops {
		if l.stuck > 0 {
			l.pending.note(o) // it may be away for as long as the node is silent
		}
		if o.ballot.motion.Unsent > 0 {
			o.expires, arms = expires, true
		}
	}
	if arms {
		l.arm(expires)
	}
	return f
}
