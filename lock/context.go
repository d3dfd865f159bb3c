package lock

import "context"

// A scope is one context that a lease has handed out.
type scope struct {
	context.Context
	lease  *Lease
	cancel context.CancelCauseFunc
	stop   func() bool // unhooks from the parent; nil if the parent had ended
}

// Context returns a context for work under the lease. It carries ownership, so that a
// Lock deeper down re-enters. It is cancelled when the lease is over, with the cause
// [ErrLost] or [ErrReleased]: in case of a loss before the keys can expire, even if
// every node is dead or silent.
//
// A context carries one owner: the one of the lease that it was made of last. Who holds two
// locks and works under both takes the second under the first's context, or both under one
// of [WithOwner]. Owners are known to the client that they lock with, and to no other.
//
// Once every parent given to it has ended, the watchdog stops renewing, so that
// abandoned work lets its lock lapse within a TTL. A parent that is given later has it
// renew again.
func (l *Lease) Context(parent context.Context) context.Context {
	if l.hold == nil {
		ctx, cancel := context.WithCancelCause(parent)
		cancel(ErrNotHeld)
		return ctx
	}
	h := l.hold
	ctx, cancel := context.WithCancelCause(context.WithValue(parent, ownerKey{}, h.slot.owner))
	s := &scope{Context: ctx, lease: l, cancel: cancel}
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.err != nil {
		cancel(l.err)
		return s
	}
	if l.scopes == nil {
		l.scopes = make(map[*scope]struct{}, 1)
	}
	l.scopes[s] = struct{}{}
	l.scoped = true
	l.parents++
	// It runs on a goroutine of its own, so hold.mu may be held here.
	s.stop = context.AfterFunc(parent, func() { l.parentEnded(s) })
	h.schedule()
	return s
}

// Err looks at the clock before it says that all is well: a process that was paused
// past the lease's validity must not go on because a timer has not fired yet.
func (s *scope) Err() error {
	if s.Context.Err() == nil {
		if err := s.lease.Err(); err != nil {
			s.cancel(err) // who ended the lease is about to, and may be paused
		}
	}
	return s.Context.Err()
}

// parentEnded notes that nobody waits for the work of s any more.
func (l *Lease) parentEnded(s *scope) {
	h := l.hold
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := l.scopes[s]; !ok {
		return // the lease was over first
	}
	delete(l.scopes, s)
	l.parents--
	if l.err == nil {
		h.schedule()
	}
}

// cancel ends every context that the lease has handed out. Called without hold.mu: a
// cancellation runs code that is not ours.
func (l *Lease) cancel(cause error) {
	l.hold.mu.Lock()
	scopes := l.scopes
	l.scopes = nil
	if l.err != nil {
		cause = l.err
	}
	l.hold.mu.Unlock()
	for s := range scopes {
		s.stop()
		s.cancel(cause)
	}
}
