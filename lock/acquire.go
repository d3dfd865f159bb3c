package lock

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// poll is how long a waiter sleeps at the most before it looks without being woken:
// what a lost wake-up costs (I6).
const poll = 3 * time.Second

// An acquisition is one call of Lock or TryLock.
type acquisition struct {
	engine  *Engine
	ctx     context.Context
	slot    *slot
	began   time.Time
	place   *place // in the contest; nil: not queued
	pause   *backoff.ExponentialBackOff
	checked bool // an attempt was made after the subscription was confirmed
}

// A denial is why an attempt did not get the lock.
type denial struct {
	holder string        // who has it, or a part of its nodes
	ttl    time.Duration // what the holder has left; negative: no TTL
	sure   bool          // a quorum agrees on the holder: it is worth waiting for the release
	err    error         // too few nodes answered; nil if they did
	final  bool          // trying again is no use
}

func (e *Engine) acquire(ctx context.Context, block bool) (*Lease, error) {
	if e.err != nil {
		return nil, e.err
	}
	a := &acquisition{engine: e, ctx: ctx, began: time.Now()}
	if ctx.Err() != nil {
		return nil, a.fail(contextError(a.ctx), denial{})
	}
	c := e.client
	if err := c.enter(); err != nil {
		return nil, a.fail(err, denial{})
	}
	defer c.leave()
	a.slot = ownerOf(ctx).slot(c, e.keys.Lock)
	defer a.slot.leave()

	for {
		if a.slot.take(ctx) != nil {
			return nil, a.give(contextError(a.ctx), denial{})
		}
		lease, d, err := a.try(block)
		a.slot.give()
		switch {
		case lease != nil:
			return lease, nil
		case err != nil:
			return nil, a.give(err, d)
		case d.final, !block && d.err != nil:
			return nil, a.give(d.err, denial{holder: d.holder, ttl: d.ttl})
		case !block:
			return nil, a.give(ErrLocked, d)
		}
		if err := a.wait(d); err != nil {
			return nil, a.give(err, d)
		}
	}
}

// try makes an attempt if it is this caller's turn. It has the slot's turn.
func (a *acquisition) try(block bool) (*Lease, denial, error) {
	e := a.engine
	if h := a.slot.held(); h != nil {
		if a.place != nil {
			a.place.leave() // the same owner got it by another call
			a.place = nil
		}
		return e.reenter(a.ctx, h)
	}
	if block {
		if a.place == nil {
			a.place = e.client.join(e.keys.Lock, e.keys.Channel)
		}
		if !a.place.turn() {
			return nil, a.place.holds(), nil
		}
	}
	lease, d, err := e.attempt(a.ctx, a.slot, a.place)
	if lease != nil {
		a.place = nil
	} else if a.place != nil && err == nil {
		a.place.saw(d)
	}
	return lease, d, err
}

// wait sleeps until there is reason to try again, or returns why there is none.
func (a *acquisition) wait(d denial) error {
	if a.place == nil {
		return a.sleep(nil, a.backOff()) // a re-entry that found no quorum
	}
	wake, head, wakes := a.place.watch()
	switch {
	case !head:
		return a.sleep(wake, 0)
	case !a.checked:
		// A release between the attempt and the subscription is missed, so there is
		// one more attempt after the confirmation (trap 27). It need not come: a node
		// may be down, or its Pub/Sub connection.
		a.checked = true
		return a.sleep(wakes.Ready(), a.engine.client.group.NodeTimeout())
	case !d.sure:
		return a.sleep(wake, a.backOff())
	}
	// Not all waiters at once, and not at the very moment the key expires.
	pause := poll - rand.N(poll/3)
	if d.ttl > 0 && d.ttl < pause {
		pause = d.ttl + rand.N(10*time.Millisecond)
	}
	return a.sleep(wake, pause)
}

// sleep waits for wake, for d unless it is 0, or, in the queue, for the same owner
// to get the lock by another call. It returns an error if the caller or the client ends.
func (a *acquisition) sleep(wake <-chan struct{}, d time.Duration) error {
	var over <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	var change <-chan struct{}
	if a.place != nil {
		change = a.slot.change()
	}
	select {
	case <-wake:
	case <-change:
	case <-over:
		if a.place != nil {
			a.place.lookAgain()
		}
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
	if a.place != nil {
		if d.holder == "" && d.err == nil {
			d = a.place.holds() // the last attempt that was not cut short
		}
		a.place.leave()
	}
	return a.fail(err, d)
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
