package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/semaphore"
)

// permits is how many a semaphore has.
const permits = 3

// isSemaphore tells whether many have the lock of that name, each with slots of its own.
func isSemaphore(name string) bool {
	return strings.HasPrefix(name, "permits") && !strings.Contains(name, "#")
}

// A seat is a Permit of a worker. For the checkers it is a lease of the semaphore, and one of each slot, of a lock
// with a name of its own: nobody else has that meanwhile.
type seat struct {
	w      *worker
	permit *semaphore.Permit
	ops    []int64
	ended  bool
}

// sit takes permits, holds them for a while and gives them back.
func (w *worker) sit(wait context.Context, p plan, final bool) {
	ctx, cancel := context.WithTimeout(wait, p.wait)
	defer cancel()
	s := w.take(ctx, p, final)
	if s == nil {
		return
	}
	if s.holds() {
		select {
		case <-s.permit.Done():
		case <-time.After(p.hold):
		}
		s.holds()
	}
	s.release()
}

// take asks for permits and writes down what came of it.
func (w *worker) take(ctx context.Context, p plan, final bool) *seat {
	op := w.ops.Add(1)
	if final {
		w.rec.note(Event{Kind: evFinal, Op: op})
	}
	asked := now()
	w.rec.note(Event{At: asked, Kind: evLock, Op: op, Name: p.lock, Blocks: !p.try, TTL: int64(w.cfg.TTL)})
	all := semaphore.New(w.client, p.lock, permits)
	take := all.Acquire
	if p.try {
		take = all.TryAcquire
	}
	permit, err := take(ctx, max(p.permits, 1))
	if err != nil {
		refused := errors.Is(err, lock.ErrNoQuorum) && ctx.Err() == nil
		w.rec.note(Event{Kind: evDenied, Op: op, Err: err.Error(), Refused: refused})
		return nil
	}
	s := &seat{w: w, permit: permit, ops: []int64{op}}
	granted := Event{
		At: now(), Kind: evGranted, Hold: permit.ID(), Token: permit.Token(), Count: 1, Deadline: moment(permit.Deadline()),
	}
	for _, slot := range permit.Slots() {
		op := w.ops.Add(1)
		w.rec.note(Event{At: asked, Kind: evLock, Op: op, Name: fmt.Sprintf("%s#%d", p.lock, slot), TTL: int64(w.cfg.TTL)})
		s.ops = append(s.ops, op)
	}
	s.note(granted)
	s.holds()
	return s
}

// note writes e down for the semaphore and for each slot.
func (s *seat) note(e Event) {
	for _, op := range s.ops {
		e.Op = op
		s.w.rec.note(e)
	}
}

// holds asks whether the permits are held, and writes down if so.
func (s *seat) holds() bool {
	at := now()
	deadline := moment(s.permit.Deadline())
	held := s.permit.Err() == nil
	if held {
		s.note(Event{At: at, Kind: evHeld, Deadline: deadline})
	} else if !s.ended {
		s.ended = true
		s.note(Event{Kind: evLost, Deadline: moment(s.permit.Deadline()), Why: why(s.permit.Err())})
	}
	return held
}

func (s *seat) release() {
	s.holds()
	s.note(Event{Kind: evUnlock, Deadline: moment(s.permit.Deadline())})
	s.ended = true
	err := s.permit.Release(context.Background())
	e := Event{Kind: evUnlocked}
	if err != nil {
		e.Err, e.Why = err.Error(), why(err)
	}
	s.note(e)
	if s.permit.Err() == nil || !closed(s.permit.Done()) {
		s.note(Event{Kind: evSilent})
	}
}
