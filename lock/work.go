package lock

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/valueless"
)

// work tracks the work under a lease, as far as the lease's contexts show it. It is guarded by the
// hold's mu.
type work struct {
	lease *Lease
	// ties are by the Done of their parents, which have not ended; of nil, if they cannot end. They are not changed once
	// the lease is over.
	ties   map[<-chan struct{}]*tie
	living int         // contexts of the work that have not ended: these parents, and Lock's own
	stop   func() bool // unhooks from the context that Lock was called with; nil: there is nothing to unhook
}

// A tie is a context that ends with a lease, and with the parents for which it stands: parents that
// end together, as their Done shows, or that cannot end. All contexts of such parents share it. So
// any number of contexts costs nothing once they are dropped, however long their parents live.
type tie struct {
	context.Context
	cancel context.CancelCauseFunc
	stop   func() bool // unhooks from the parents; nil: they cannot end, or it is in no work
}

func newTie(parent context.Context) *tie {
	t := new(tie)
	t.Context, t.cancel = valueless.WithCancelCause(parent)
	return t
}

// newWork begins with the first context. Called with mu held.
func newWork(l *Lease) *work {
	w := &work{lease: l}
	if l.waited == nil || l.waited.Done() == nil {
		return w
	}
	if ctx := (ending{l.waited}); ctx.Err() == nil {
		w.living++
		// The callback runs on a goroutine of its own, so mu may be held here.
		w.stop = context.AfterFunc(ctx, func() {
			l.hold.mu.Lock()
			defer l.hold.mu.Unlock()
			w.ended()
		})
	}
	return w
}

// tie returns the tie for contexts of parent. Called with mu held.
func (w *work) tie(parent context.Context) *tie {
	done := parent.Done()
	t := w.ties[done]
	if t != nil {
		return t
	}
	if w.ties == nil {
		w.ties = make(map[<-chan struct{}]*tie, 1)
	}
	t = newTie(parent)
	w.ties[done] = t
	w.living++
	if done == nil {
		return t
	}
	t.stop = context.AfterFunc(ending{parent}, func() {
		mu := &w.lease.hold.mu
		mu.Lock()
		defer mu.Unlock()
		if w.lease.reason == ReasonNone {
			delete(w.ties, done)
			w.ended()
		}
	})
	return t
}

// ended records that a context of the work has ended.
func (w *work) ended() {
	w.living--
	l := w.lease
	if l.reason != ReasonNone || !w.abandoned() {
		return
	}
	l.hold.schedule()
	if l.renew {
		l.hold.engine.client.journal.Info("lock: lease is not renewed any more, every context of its work has ended",
			append(l.hold.about(), "until", l.deadline)...)
	}
}

// abandoned reports whether nobody waits any more for the work under the lease. Called with mu
// held.
func (w *work) abandoned() bool { return w != nil && w.living == 0 }

// cancel ends every context of the lease, which is over. All have ended when it returns, even if another goroutine has
// begun to end them and is paused. Called without hold.mu, because a cancellation runs code of others.
func (l *Lease) cancel() {
	l.hold.mu.Lock()
	w := l.work
	var cause error
	if w != nil {
		cause = l.failure()
	}
	l.hold.mu.Unlock()
	if w == nil {
		return
	}
	if w.stop != nil {
		w.stop()
	}
	for _, t := range w.ties { // no longer changed, as the lease is over
		if t.stop != nil {
			t.stop()
		}
		t.cancel(cause)
	}
	l.hold.mu.Lock()
	l.work = nil // its contexts may go, however long the lease is kept
	l.hold.mu.Unlock()
}

// A scope is one context of a lease. It ends with the lease, and with its parent; values and
// deadline are the parent's.
type scope struct {
	*tie
	parent context.Context
	lease  *Lease
}
