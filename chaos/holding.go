package main

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
)

// An acquisition is how a lock is asked for.
type acquisition struct {
	name   string
	within *holding
	blocks bool
	final  bool
	fixed  bool
	reads  bool
	up     bool // to write, by an owner that reads
}

// A holding is a lease of a worker.
type holding struct {
	w     *worker
	op    int64
	name  string
	lease *lock.Lease
	ctx   context.Context // the work's, under the lease
	ended bool
	reads bool
}

// lock asks for a lock and writes down what came of it.
func (w *worker) lock(ctx context.Context, m lock.Locker, a acquisition) *holding {
	op := w.ops.Add(1)
	e := Event{Kind: evLock, Op: op, Name: a.name, Blocks: a.blocks, Fixed: a.fixed, TTL: int64(w.cfg.TTL), Reads: a.reads, Upgrade: a.up}
	if a.within != nil {
		e.Within = a.within.op
	}
	if a.final {
		w.rec.note(Event{Kind: evFinal, Op: op})
	}
	w.rec.note(e)
	if rw, ok := m.(*readwrite.Mutex); ok && a.reads {
		m = rw.RLocker()
	}
	var lease *lock.Lease
	var err error
	if a.blocks {
		lease, err = m.Lock(ctx)
	} else {
		lease, err = m.TryLock(ctx)
	}
	if err != nil {
		refused := errors.Is(err, lock.ErrNoQuorum) && ctx.Err() == nil
		w.rec.note(Event{Kind: evDenied, Op: op, Err: err.Error(), Refused: refused})
		return nil
	}
	at := now()
	w.rec.note(Event{
		At: at, Kind: evGranted, Op: op, Hold: lease.ID(), Token: lease.Token(), Count: lease.Count(),
		Deadline: moment(lease.Deadline()),
	})
	h := &holding{w: w, op: op, name: a.name, lease: lease, reads: a.reads}
	h.ctx = lease.Context(context.WithoutCancel(ctx)) // ctx bounds the wait only
	h.holds()
	return h
}

// do carries out one plan.
func (w *worker) do(p plan) {
	var opts []lock.Option
	if p.fixed {
		opts = append(opts, lock.WithoutWatchdog())
	}
	m := w.mutex(p.lock, opts...)
	wait := w.work
	if p.sure {
		wait = context.Background()
	}
	ctx, cancel := context.WithTimeout(wait, p.wait)
	defer cancel()
	first := w.lock(ctx, m, acquisition{name: p.lock, blocks: !p.try, fixed: p.fixed, reads: p.reads})
	if first == nil {
		sleep(w.work, p.pause)
		return
	}
	held := []*holding{first}
	nest := func(times int) {
		for range times {
			ctx, cancel := context.WithTimeout(first.ctx, w.cfg.TTL)
			h := w.lock(ctx, m, acquisition{name: p.lock, within: first, blocks: true, fixed: p.fixed, reads: p.reads || p.below})
			cancel()
			if h == nil {
				break
			}
			held = append(held, h)
		}
	}
	nest(p.nested)
	if p.reads && p.upgrade {
		ctx, cancel := context.WithTimeout(first.ctx, w.cfg.TTL)
		if h := w.lock(ctx, m, acquisition{name: p.lock, within: first, blocks: true, fixed: p.fixed, up: true}); h != nil {
			held = append(held, h) // which nobody should see
		}
		cancel()
	}
	for i := range p.updates {
		if p.reads {
			first.check(p.hold / time.Duration(p.updates))
		} else {
			first.update(p.hold / time.Duration(p.updates))
		}
		if i == 0 && p.extend > 0 {
			first.extend(p.extend)
		}
	}
	if p.outstay {
		first.outstay()
	}
	nest(p.nestedLast)
	for i := range held {
		if p.crossed {
			held[i].unlock()
		} else {
			held[len(held)-1-i].unlock()
		}
	}
	sleep(w.work, p.pause)
}

// holds asks the lease, in both ways that there are, whether it is held, and writes
// down if it says so.
func (h *holding) holds() bool {
	at := now()
	deadline := moment(h.lease.Deadline())
	held := h.lease.Err() == nil
	if heldByContext := h.ctx.Err() == nil; held || heldByContext {
		h.w.rec.note(Event{At: at, Kind: evHeld, Op: h.op, Deadline: deadline})
	}
	if !held {
		h.lost()
	}
	return held
}

// lost writes down that the lease is over without an Unlock.
func (h *holding) lost() {
	if !h.ended {
		h.ended = true
		h.w.rec.note(Event{Kind: evLost, Op: h.op, Deadline: moment(h.lease.Deadline()), Why: why(h.lease.Err())})
	}
}

// why is the reason of a loss, in words; empty if err is none.
func why(err error) string {
	var over *lock.LeaseError
	if errors.As(err, &over) && errors.Is(err, lock.ErrLost) {
		return over.Reason.String()
	}
	return ""
}

// update adds one to the register that the lock protects, as long as the lease holds:
// it reads, takes its time, and writes.
func (h *holding) update(think time.Duration) {
	if !h.holds() {
		return
	}
	value, ok := h.w.store.read(h.name, h.lease.Token(), h.w.cfg.proc(), h.op)
	h.rest(think)
	if ok && h.holds() {
		h.w.store.write(h.name, h.lease.Token(), value, value+1, h.w.cfg.proc(), h.op)
	}
}

// check reads the register that the lock protects, takes its time, and reads it again.
func (h *holding) check(think time.Duration) {
	if !h.holds() {
		return
	}
	_, _ = h.w.store.read(h.name, h.lease.Token(), h.w.cfg.proc(), h.op)
	h.rest(think)
	if h.holds() {
		_, _ = h.w.store.read(h.name, h.lease.Token(), h.w.cfg.proc(), h.op)
	}
}

func (h *holding) extend(ttl time.Duration) {
	err := h.lease.Extend(h.ctx, ttl)
	e := Event{Kind: evExtended, Op: h.op, Deadline: moment(h.lease.Deadline())}
	if err != nil {
		e.Err = err.Error()
	}
	h.w.rec.note(e)
}

// rest holds the lease for d, or until it is lost. It says all the while that it is held: of one that is lost, nothing
// after the last time counts.
func (h *holding) rest(d time.Duration) {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	over := time.After(d)
	for h.holds() {
		select {
		case <-again.C:
		case <-h.lease.Done():
		case <-over:
			h.holds()
			return
		}
	}
}

// patience is how long after its deadline a lease may take to say that it is over,
// on a machine where everything else wants to run too.
const patience = 2 * time.Second

// outstay holds a fixed lease until it says itself that it is over.
func (h *holding) outstay() {
	deadline := time.NewTimer(time.Until(h.lease.Deadline()) + patience)
	defer deadline.Stop()
	select {
	case <-h.lease.Done():
	case <-deadline.C:
		// A process that was stopped finds both at once: it is the lease's turn first.
		sleep(context.Background(), patience/4)
		select {
		case <-h.lease.Done():
		default:
			h.w.rec.note(Event{Kind: evSilent, Op: h.op, Deadline: moment(h.lease.Deadline())})
		}
	}
	h.holds()
}

func (h *holding) unlock() {
	h.holds()
	// The deadline is read before the moment is: what it was at that moment, or less.
	deadline := moment(h.lease.Deadline())
	h.w.rec.note(Event{Kind: evUnlock, Op: h.op, Deadline: deadline})
	h.ended = true
	err := h.lease.Unlock(context.Background())
	e := Event{Kind: evUnlocked, Op: h.op}
	if err != nil {
		e.Err, e.Why = err.Error(), why(err)
	}
	h.w.rec.note(e)
	if h.lease.Err() == nil || !closed(h.lease.Done()) || !closed(h.ctx.Done()) {
		h.w.rec.note(Event{Kind: evSilent, Op: h.op})
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
