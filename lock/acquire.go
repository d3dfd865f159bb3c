package lock

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// poll is how long a waiter sleeps at the most before it looks without being woken:
// what a lost wake-up costs (I6).
const poll = 3 * time.Second

// splitTime is for how long a TryLock tries while rivals split the votes and nobody can
// have the lock: one of them is to get it, and only the others are to be told that it
// is locked.
const splitTime = time.Second

// An acquisition is one call of Lock or TryLock.
type acquisition struct {
	engine *Engine
	ctx    context.Context
	slot   *slot
	shared bool // others may be at work for the same owner
	began  time.Time
	turns  turns // how a blocked Lock waits for its turn; nil for TryLock
	pause  *backoff.ExponentialBackOff

	contender contender // is turns, of a lock that is not a Queue
}

// turns is how one blocked Lock comes to its turn: by being the first to find the lock
// free (contender), or by standing in the queue on the nodes (queuer).
type turns interface {
	// try makes an attempt if it is time for one. The caller has the slot's turn.
	try() (*Lease, denial, error)
	// wait sleeps until there may be reason to try again.
	wait(d denial) error
	// leave gives up, or goes on to re-enter what the same owner got by another call.
	leave()
	// seen tells who has the lock, as far as this process knows.
	seen() denial
}

// A denial is why an attempt did not get the lock.
type denial struct {
	holder string        // who has it, or a part of its nodes, or whose turn it is
	ttl    time.Duration // what the holder has left; negative: no TTL
	sure   bool          // a quorum agrees on the holder: it is worth waiting for the release
	err    error         // too few nodes answered; nil if they did
	split  error         // nobody had it: rivals split the votes
	final  bool          // trying again is no use
}

func (e *Engine) acquire(ctx context.Context, block bool) (*Lease, error) {
	if e.err != nil {
		return nil, e.err
	}
	a := &acquisition{engine: e, ctx: ctx, began: time.Now()}
	if ctx.Err() != nil {
		return nil, a.fail(contextError(ctx), denial{})
	}
	c := e.client
	if err := c.enter(); err != nil {
		return nil, a.fail(err, denial{})
	}
	defer c.leave()
	var o *owner
	o, a.shared = ownerOf(ctx)
	a.slot = o.slot(c, e.key)
	defer a.slot.leave()

	for {
		if a.slot.take(ctx) != nil {
			return nil, a.give(contextError(ctx), denial{})
		}
		lease, d, err := a.try(block)
		a.slot.give()
		switch {
		case lease != nil:
			return lease, nil
		case err != nil:
			return nil, a.give(err, d)
		case d.final, !block && d.err != nil:
			a.quit()
			return nil, a.fail(d.err, denial{holder: d.holder, ttl: d.ttl})
		case !block && (d.sure || time.Since(a.began) > splitTime):
			err := ErrLocked
			if d.split != nil {
				err = d.split
			}
			return nil, a.give(err, d)
		}
		if err := a.wait(d); err != nil {
			return nil, a.give(err, d)
		}
	}
}

// try re-enters, or makes an attempt if it is this caller's turn. It has the slot's turn.
func (a *acquisition) try(block bool) (*Lease, denial, error) {
	e := a.engine
	if h := a.slot.held(); h != nil {
		if a.turns != nil {
			a.turns.leave()
			a.turns = nil
		}
		return e.reenter(a.ctx, h)
	}
	if !block {
		return e.attempt(a.ctx, a.slot, nil)
	}
	if a.turns == nil {
		if q, ok := e.kind.(Queue); ok {
			a.turns = newQueuer(a, q)
		} else {
			a.turns = a.contend()
		}
	}
	return a.turns.try()
}

func (a *acquisition) wait(d denial) error {
	if a.turns == nil {
		return a.sleep(nil, nil, a.backOff()) // a re-entry that found no quorum, or a split vote
	}
	return a.turns.wait(d)
}

// sleep waits for any of these channels, or for d unless it is 0; who waits for a turn,
// also for a hold of the same owner. It returns an error if the caller or the client ends.
func (a *acquisition) sleep(wake, ready <-chan struct{}, d time.Duration) error {
	// A channel, as a waiter in it, costs 96 bytes: none for what cannot be.
	var change <-chan struct{}
	if a.shared && a.turns != nil {
		change = a.slot.change()
	}
	var over <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-wake:
	case <-ready:
	case <-change:
	case <-over:
	case <-a.ctx.Done():
		return contextError(a.ctx)
	case <-a.engine.client.closing:
		return ErrClosed
	}
	return nil
}

// backOff is a random pause that grows: rivals that split the votes must not meet
// again (trap 32).
func (a *acquisition) backOff() time.Duration {
	if a.pause == nil {
		a.pause = backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(5*time.Millisecond),
			backoff.WithRandomizationFactor(0.9),
			backoff.WithMaxInterval(500*time.Millisecond),
			backoff.WithMaxElapsedTime(0),
		)
	}
	return a.pause.NextBackOff()
}

// give gives up: it leaves the queue and says why.
func (a *acquisition) give(err error, d denial) error {
	if a.turns != nil {
		if d.holder == "" && d.err == nil {
			d = a.turns.seen() // by the last attempt that was not cut short
		}
	}
	a.quit()
	return a.fail(err, d)
}

func (a *acquisition) quit() {
	if a.turns != nil {
		a.turns.leave()
	}
}

func (a *acquisition) fail(err error, d denial) error {
	return &AcquireError{
		Name:   a.engine.name,
		Holder: d.holder,
		TTL:    d.ttl,
		Waited: time.Since(a.began),
		Err:    err,
		Last:   d.err,
	}
}
