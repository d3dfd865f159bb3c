package redlock

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// pendingReleases are the removals that a node has not confirmed. They are tried again, all
// together and with a growing pause, until each is confirmed or its key has certainly expired (I5).
//
// A key may not have expired if the command that creates it is still in the socket of a stopped
// server. Such a removal stays pending until it is confirmed, for days if necessary. That takes no
// more memory over time: once too many are pending, a silent node is sent no more commands that
// create a key.
type pendingReleases struct {
	ops   []*op
	timer *time.Timer
	due   time.Time // when they are tried again; zero: not as yet
	open  int       // those of keys that may still be created, wherever they wait; 0 once the node answers
	count uint64    // identifies the ops in open: they carry it
	last  time.Time // when something was last owed
	pause *backoff.ExponentialBackOff

	moving  int           // ops that are neither here nor in a queue or a flight for a moment
	settled chan struct{} // closed once there is nothing to wait for; nil: nobody waits
}

const (
	minPause = 50 * time.Millisecond
	maxPause = time.Second
	// maxOpen bounds the removals that stay pending for as long as a node is silent.
	maxOpen = maxFlight
)

// counts distinguishes the counts of a lane from one another, and from those of all other lanes.
var counts atomic.Uint64

func (d *pendingReleases) init(l *lane) {
	d.count = counts.Add(1)
	d.pause = backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(minPause),
		backoff.WithMaxInterval(maxPause),
		backoff.WithMaxElapsedTime(0),
	)
	d.timer = time.AfterFunc(time.Hour, l.collect)
	d.timer.Stop()
}

// stop returns what was pending. Called with the lane's mu held.
func (d *pendingReleases) stop() (dropped []*op) {
	d.timer.Stop()
	dropped, d.ops = d.ops, nil
	return dropped
}

// answered records that the node is not silent. Called with the lane's mu held.
func (d *pendingReleases) answered() {
	if d.open > 0 {
		d.open, d.count = 0, counts.Add(1)
	}
}

// note counts o if it removes a key that may still be created. Called with the lane's mu held.
func (d *pendingReleases) note(o *op) {
	if m := &o.ballot.motion; m.Removes && o.counted != d.count && m.Footprint.open(int(o.node)) {
		o.counted = d.count
		d.open++
	}
}

// owe records that o's removal is not confirmed.
func (l *lane) owe(o *op) {
	if !l.pend(o) {
		o.conclude()
	}
}

// pend has o's removal be tried again, unless that is too late.
func (l *lane) pend(o *op) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := &l.pending
	now := time.Now()
	if l.closed || !o.owed(now) {
		return false
	}
	d.note(o)
	// Nothing was pending for a while: the node had recovered, and this is a new failure.
	if now.Sub(d.last) > 3*maxPause {
		d.pause.Reset()
	}
	d.last = now
	d.ops = append(d.ops, o)
	switch {
	case o.apart: // the server answers, and is ready at any moment
		d.wake(now, minPause)
	case d.due.IsZero():
		d.wake(now, d.pause.NextBackOff())
	}
	return true
}

// wake has what is pending be tried again after a pause, or earlier if it is due before that. Called with the lane's mu
// held.
func (d *pendingReleases) wake(now time.Time, pause time.Duration) {
	if due := now.Add(pause); d.due.IsZero() || due.Before(d.due) {
		d.due = due
		d.timer.Reset(pause)
	}
}

// collect tries the pending removals again.
func (l *lane) collect() {
	now := time.Now()
	l.mu.Lock()
	var due, over []*op
	for _, o := range l.pending.ops {
		if !o.owed(now) {
			over = append(over, o)
			if o.counted == l.pending.count {
				l.pending.open--
			}
			continue
		}
		o.expires, o.again = now.Add(l.timeout), true
		o.moves, o.asking, o.stray, o.narrow, o.halved, o.apart = 0, false, false, false, false, false
		due = append(due, o)
	}
	l.pending.ops = nil
	l.pending.due = time.Time{}
	l.pending.moving += len(due)
	l.mu.Unlock()
	for _, o := range over {
		o.conclude()
	}
	for _, o := range due {
		l.node.root().way(o.key()).submit(o) // its slot may have moved
	}
	l.moved(len(due))
}

// Settle has removals that nodes have not confirmed be tried again at once, and then with the usual pauses, until all are
// confirmed or so much time has passed. It does not wait for a node that was silent the last time, or at which nobody
// listened. The group must be asked for nothing else by then.
func (g *Group) Settle(limit time.Duration) {
	if limit <= 0 {
		return
	}
	for _, l := range g.lanes() {
		l.hasten()
	}
	over := time.NewTimer(limit)
	defer over.Stop()
	for {
		settled := g.unsettled()
		if settled == nil {
			return
		}
		select {
		case <-settled:
		case <-over.C:
			return
		}
	}
}

// unsettled returns a channel that is closed when another look is worth it; nil: there is nothing to wait for.
func (g *Group) unsettled() <-chan struct{} {
	for _, l := range g.lanes() {
		if settled := l.unsettled(); settled != nil {
			return settled
		}
	}
	return nil
}

// hasten has what is pending be tried at once, as if nothing had been for a while, unless the node is out of reach.
func (l *lane) hasten() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d := &l.pending; len(d.ops) > 0 && !l.unreachable {
		d.pause.Reset()
		d.wake(time.Now(), 0)
	}
}

// unsettled returns a channel that is closed as soon as owes has become false; nil: it is so.
func (l *lane) unsettled() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.owes() {
		return nil
	}
	if l.pending.settled == nil {
		l.pending.settled = make(chan struct{})
	}
	return l.pending.settled
}

// owes reports whether the node may soon have confirmed more removals: of those that are pending, and of those that are
// in flight, after which they may be pending. Called with mu held.
func (l *lane) owes() bool {
	if l.unreachable {
		return false
	}
	if len(l.pending.ops)+l.pending.moving > 0 || l.busy > 0 && slices.ContainsFunc(l.queue, (*op).removes) {
		return true
	}
	for f := range l.window.flights {
		if !f.stuck && slices.ContainsFunc(f.ops, (*op).removes) {
			return true
		}
	}
	return false
}

// tellSettled wakes who waits until the lane owes nothing, if that is so. Called with mu held.
func (l *lane) tellSettled() {
	if l.pending.settled != nil && !l.owes() {
		close(l.pending.settled)
		l.pending.settled = nil
	}
}

// moved records that n ops are where they can be seen again, or are over.
func (l *lane) moved(n int) {
	if n == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending.moving -= n
	l.tellSettled()
}

// overdrawn reports whether no command that creates a key may be sent any more, because the node is
// silent and too many removals are pending. Called with mu held.
func (l *lane) overdrawn() bool {
	return l.pending.open >= maxOpen && (l.failing || l.stuck > 0)
}
