package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/multi"
)

// transfer moves one from an account to the other, under the locks of both.
func (w *worker) transfer(wait context.Context, p plan, final bool) {
	names := slices.Clone(w.cfg.Names)
	if p.back {
		slices.Reverse(names)
	}
	ctx, cancel := context.WithTimeout(wait, p.wait)
	defer cancel()
	t := w.lockAll(ctx, names, !p.try, final)
	if t == nil {
		return
	}
	t.move(p.hold)
	t.unlock()
}

// A transaction is a lease of several locks. For the checkers it is one of each.
type transaction struct {
	w        *worker
	lease    *multi.Lease
	ctx      context.Context // the work's, under the lease
	holdings []*holding
}

// lockAll asks for all the names and writes down what came of it.
func (w *worker) lockAll(ctx context.Context, names []string, blocks, final bool) *transaction {
	locks := make([]lock.Locker, len(names))
	ops := make([]int64, len(names))
	for i, name := range names {
		locks[i], ops[i] = w.mutex(name), w.ops.Add(1)
		if final {
			w.rec.note(Event{Kind: evFinal, Op: ops[i]})
		}
		w.rec.note(Event{Kind: evLock, Op: ops[i], Name: name, Blocks: blocks, TTL: int64(w.cfg.TTL)})
	}
	take := multi.New(locks...).Lock
	if !blocks {
		take = multi.New(locks...).TryLock
	}
	lease, err := take(ctx)
	if err != nil {
		refused := errors.Is(err, lock.ErrNoQuorum) && ctx.Err() == nil
		for _, op := range ops {
			w.rec.note(Event{Kind: evDenied, Op: op, Err: err.Error(), Refused: refused})
		}
		return nil
	}
	at := now()
	t := &transaction{w: w, lease: lease, ctx: lease.Context(context.WithoutCancel(ctx))}
	for i, l := range lease.Leases() {
		w.rec.note(Event{
			At: at, Kind: evGranted, Op: ops[i], Hold: l.ID(), Token: l.Token(), Count: l.Count(), Deadline: moment(l.Deadline()),
		})
		t.holdings = append(t.holdings, &holding{w: w, op: ops[i], name: names[i], lease: l, ctx: t.ctx})
	}
	t.holds()
	return t
}

// holds asks every lease whether it is held.
func (t *transaction) holds() bool {
	held := true
	for _, h := range t.holdings {
		held = h.holds() && held
	}
	return held && t.lease.Err() == nil
}

// move reads one account and then the other, takes its time, and writes both. Whoever else wrote
// between the two reads would make the sum wrong. The writes are admitted together, or not at
// all: to be killed between them is no fault of the locks.
func (t *transaction) move(think time.Duration) {
	if !t.holds() {
		return
	}
	access := func(h *holding) Access {
		return Access{Name: h.name, Token: h.lease.Token(), Proc: t.w.cfg.proc(), Op: h.op}
	}
	rest := func() {
		select {
		case <-t.lease.Done():
		case <-time.After(think / 2):
		}
	}
	from, to := access(t.holdings[0]), access(t.holdings[1])
	payer := t.w.store.ask(from)
	rest()
	payee := t.w.store.ask(to)
	rest()
	if !t.holds() || !payer.OK || !payee.OK {
		return
	}
	from.Write, from.Base, from.Value = true, payer.Value, payer.Value-1
	to.Write, to.Base, to.Value = true, payee.Value, payee.Value+1
	from.With = &to
	t.w.store.ask(from)
}

func (t *transaction) unlock() {
	t.holds()
	for _, h := range t.holdings {
		// The deadline is read before the moment is: what it was at that moment, or less.
		t.w.rec.note(Event{Kind: evUnlock, Op: h.op, Deadline: moment(h.lease.Deadline())})
		h.ended = true
	}
	err := t.lease.Unlock(context.Background())
	for _, h := range t.holdings {
		e := Event{Kind: evUnlocked, Op: h.op}
		if of := about(err, h.name); of != nil {
			e.Err, e.Why = of.Error(), why(of)
		}
		t.w.rec.note(e)
		if h.lease.Err() == nil || !closed(h.lease.Done()) || !closed(t.lease.Done()) || !closed(t.ctx.Done()) {
			t.w.rec.note(Event{Kind: evSilent, Op: h.op})
		}
	}
}

// about is the one of the errors that Unlock joined which is about the lock called name.
func about(err error, name string) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	for _, e := range joined.Unwrap() {
		var of *lock.LeaseError
		if errors.As(e, &of) && of.Name == name {
			return e
		}
	}
	return nil
}
