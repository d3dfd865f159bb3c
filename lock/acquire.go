package lock

import (
	"context"
	"errors"
	"runtime/trace"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/kind"
)

func (e *engine) acquire(ctx context.Context, block bool) (*Lease, error) {
	if e.err != nil {
		return nil, e.err
	}
	a := &acquisition{call: call{engine: e, ctx: ctx, began: time.Now(), blocks: block}}
	if trace.IsEnabled() {
		return a.traced(block)
	}
	return a.watched(block)
}

// watched is run, reported to the observers. The acquisition is passed by value, and the context
// that the observers make is kept in the call and then in its hold, so that observing allocates
// nothing.
func (a *acquisition) watched(block bool) (*Lease, error) {
	s := a.engine.client.audience
	if s == nil {
		return a.run(block)
	}
	s.begin(&a.call)
	l, err := a.run(block)
	told := false
	defer func() {
		if !told && l != nil { // an observer ends the goroutine, as a test does that fails: nobody else can unlock it
			_ = l.Unlock(a.ctx)
		}
	}()
	s.end(&a.call, l, err)
	told = true
	return l, err
}

// run runs the call, which is a Lock if block.
func (a *acquisition) run(block bool) (*Lease, error) {
	if err := a.open(); err != nil {
		return nil, err
	}
	defer a.close()
	ctx := a.ctx
	if !block {
		var cancel context.CancelFunc
		a.ctx, cancel = boundTry(ctx, a.began, tryPatience(a.engine.client.group.NodeTimeout()))
		defer cancel()
	}
	l, err := a.attempts(block)
	if l != nil && ctx.Done() != nil {
		l.waited = ctx
	}
	return l, err
}

// boundTry returns ctx with the time limit of a TryLock that began then and needs this long to give
// back.
func boundTry(ctx context.Context, began time.Time, patience time.Duration) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, began.Add(tryTime-patience), errTryOver)
}

// open finds the owner of the call. Unless it fails, close must follow.
func (a *acquisition) open() error {
	if a.ctx.Err() != nil {
		return a.give(contextError(a.ctx), nothing)
	}
	c := a.engine.client
	if err := c.enter(); err != nil {
		return a.fail(err, nothing)
	}
	var o *owner
	o, a.shared = ownerOf(a.ctx)
	a.slot = o.slot(c, a.engine.keys.Lock)
	return nil
}

func (a *acquisition) close() {
	a.slot.leave()
	a.engine.client.leave()
}

// attempts makes attempts until one of them succeeds.
func (a *acquisition) attempts(block bool) (*Lease, error) {
	for {
		if a.slot.take(a.ctx) != nil {
			d := nothing
			if a.slot.held() != nil {
				d = &denial{err: errTurn}
			}
			return nil, a.give(contextError(a.ctx), d)
		}
		lease, d, err := a.try(block)
		a.slot.give()
		if over, err := a.outcome(block, lease, d, err); over {
			return lease, err
		}
		if err := a.wait(d); err != nil {
			return nil, a.give(err, nothing)
		}
	}
}

// outcome reports whether an attempt with this result is the last one, and the call's error in that
// case.
func (a *acquisition) outcome(block bool, lease *Lease, d *denial, err error) (over bool, failed error) {
	switch {
	case lease != nil:
		return true, nil
	case err != nil && (a.ctx.Err() != nil || errors.Is(err, ErrClosed)):
		return true, a.give(err, d)
	case err != nil:
		a.quit()
		return true, a.fail(err, d)
	case d.final && !a.mayPass(d), !block && d.err != nil:
		a.quit()
		return true, a.fail(d.err, &denial{holder: d.holder, ttl: d.ttl, about: d.about})
	case !block && d.sure && !a.mayBeRivals(d):
		return true, a.fail(ErrLocked, d)
	}
	return false, nil
}

// mayPass reports whether what nodes refuse now may be granted later: they have let the call wait before, and rights that
// were taken away may come back, as when a password changes.
func (a *acquisition) mayPass(d *denial) bool {
	if a.turns == nil || errors.Is(d.err, ErrKind) || errors.Is(d.err, redis.ErrClosed) {
		return false
	}
	return a.turns.accepted() || kind.IsPatient(a.ctx)
}

// maxMixed is how often a TryLock is refused permits of which nodes name different holders before it believes that
// they are in use.
const maxMixed = 4

// mayBeRivals reports whether d may come from rivals that were granted permits by a few nodes each, and will give
// them back. They ask again as other holds: one that was named before has its permits.
func (a *acquisition) mayBeRivals(d *denial) bool {
	if d.mixed == nil {
		return false
	}
	a.mixed++
	known := a.last != nil && slices.ContainsFunc(d.mixed, func(id string) bool { return slices.Contains(a.last.mixed, id) })
	return a.mixed < maxMixed && !known
}

// try re-enters, or makes an attempt if it is this caller's turn. It has the slot's turn.
func (a *acquisition) try(block bool) (*Lease, *denial, error) {
	e := a.engine
	if l, d, err := a.here(); l != nil || err != nil {
		return l, d, err
	}
	if !block {
		return e.try(a.ctx, a.slot)
	}
	if a.turns == nil {
		if q, ok := e.kind.(kind.Queue); ok {
			a.turns = newQueuer(&a.call, q)
		} else {
			a.turns = a.contend()
		}
	}
	return a.turns.try()
}

// here returns a lease for which no node has to be asked; nil: there is none. The caller has the
// slot's turn.
func (a *acquisition) here() (*Lease, *denial, error) {
	e := a.engine
	h := a.slot.held()
	if a.turns != nil {
		l := a.turns.passed()
		if l != nil && a.ctx.Err() != nil {
			return nil, &denial{cut: errTooLate}, contextError(a.ctx) // quit gives it back, as any grant that cancellation races
		}
		if l == nil && h != nil {
			// It is returned even if ctx has just ended: leave returns it only once, so quit could not give it back.
			l = a.turns.leave()
		}
		if l != nil || h != nil {
			a.turns = nil
		}
		if l != nil {
			a.handover = HandoverPassed
			return l, nothing, nil
		}
	}
	if h != nil {
		a.handover = HandoverReentry
		return e.reenter(a.ctx, h)
	}
	if e.client.drains() {
		return nil, nothing, ErrClosed
	}
	if fails := e.client.fails; fails != nil && a.turns == nil && a.last == nil { // for the first time
		if err := fails(e.name); err != nil {
			return nil, nothing, err
		}
	}
	if a.turns == nil && e.joinable != nil {
		if l := e.join(a.slot); l != nil {
			a.handover = HandoverPassed
			return l, nothing, nil
		}
	}
	return nil, nothing, nil
}

// tellWaits reports the wait to the observers. An observer that ends the goroutine, as a failing
// test does, must not leave the place in line without an owner.
func (a *acquisition) tellWaits() {
	told := false
	defer func() {
		if !told {
			a.quit()
		}
	}()
	a.engine.client.audience.waiting(&a.call)
	told = true
}

// wait waits until there may be reason to try again.
func (a *acquisition) wait(d *denial) error {
	if a.turns == nil { // which know it otherwise
		a.last = d
	}
	if d == taken || d.tells() {
		a.awaited = d
	}
	if !a.contended && a.observed != nil {
		a.tellWaits()
	}
	a.contended = true
	if a.turns == nil {
		return a.sleep(nil, nil, a.backOff()) // a split vote
	}
	return a.turns.wait(d)
}

// traced is watched, in a region.
func (a *acquisition) traced(block bool) (l *Lease, err error) {
	trace.WithRegion(a.ctx, waiting, func() { l, err = a.watched(block) })
	if l != nil && a.handover != HandoverReentry {
		a.engine.client.tasks.begin(a.ctx, l.hold)
	}
	return l, err
}

// contend makes the call a contender, which joins the queue when it first looks whether it is its turn.
func (a *acquisition) contend() *contender {
	c := &a.contender
	if c.call != nil { // of an earlier wait, which a timer may know still
		c = new(contender)
	}
	c.call = &a.call
	c.place.call = c.call
	return c
}
