package lock

import "context"

// work is what goes on under a lease, as far as the lease's contexts tell. It is guarded by
// the hold's mu.
type work struct {
	lease  *Lease
	scopes map[*scope]struct{} // whose parents can end and have not
	living int                 // contexts of the work that have not ended: these parents, and Lock's own
	stop   func() bool         // unhooks from the context that Lock was called with; nil: there is nothing to unhook

	// Contexts whose parents cannot end share one that ends with the lease, so that any
	// number of them costs nothing once they are dropped.
	shared context.Context // nil: there is none
	cancel context.CancelCauseFunc
}

// newWork begins with the first context. Called with mu held.
func newWork(l *Lease) *work {
	w := &work{lease: l}
	if l.waited == nil || l.waited.Done() == nil {
		return w
	}
	if ctx := (ending{l.waited}); ctx.Err() == nil {
		w.living++
		// It runs on a goroutine of its own, so mu may be held here.
		w.stop = context.AfterFunc(ctx, func() {
			l.hold.mu.Lock()
			defer l.hold.mu.Unlock()
			w.ended()
		})
	}
	return w
}

// endless returns the context of work that only the lease ends. Called with mu held.
func (w *work) endless() (context.Context, context.CancelCauseFunc) {
	if w.shared == nil {
		w.shared, w.cancel = context.WithCancelCause(context.Background())
	}
	return w.shared, w.cancel
}

// follow has s end with the lease, and notes when its parent has ended. Called with mu held.
func (w *work) follow(s *scope) {
	if w.scopes == nil {
		w.scopes = make(map[*scope]struct{}, 1)
	}
	w.scopes[s] = struct{}{}
	w.living++
	s.stop = context.AfterFunc(ending{s.parent}, func() {
		mu := &w.lease.hold.mu
		mu.Lock()
		defer mu.Unlock()
		if _, ok := w.scopes[s]; ok {
			delete(w.scopes, s)
			w.ended()
		}
	})
}

// ended notes that a context of the work has. Called with mu held.
func (w *work) ended() {
	w.living--
	if l := w.lease; l.reason == ReasonNone {
		l.hold.schedule()
		if w.abandoned() && l.renew {
			l.hold.engine.client.journal.Info("lock: lease is not renewed any more, every context of its work has ended",
				"name", l.hold.engine.name, "hold", l.hold.name(), "until", l.deadline)
		}
	}
}

// abandoned tells whether nobody waits for what is done under the lease any more. Called
// with mu held.
func (w *work) abandoned() bool { return w != nil && w.living == 0 && w.shared == nil }

// cancel ends every context that the lease has handed out. Called without hold.mu: a
// cancellation runs code that is not ours.
func (l *Lease) cancel() {
	l.hold.mu.Lock()
	w := l.work
	l.work = nil
	var scopes map[*scope]struct{}
	if w != nil {
		scopes, w.scopes = w.scopes, nil // who ends a parent from now on finds nothing to do
	}
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
	if w.cancel != nil {
		w.cancel(cause)
	}
	for s := range scopes {
		s.stop()
		s.cancel(cause)
	}
}

// A scope is one context that a lease has handed out. It ends with the lease, and with its
// parent; values and deadline are the parent's.
type scope struct {
	context.Context
	parent context.Context
	lease  *Lease
	cancel context.CancelCauseFunc
	stop   func() bool // unhooks from the parent; nil if that cannot end
}
