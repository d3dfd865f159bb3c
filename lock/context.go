package lock

import (
	"context"
	"time"
)

type leaseKey struct{}

// Context returns a context for work under the lease. It carries ownership, so that a
// Lock deeper down re-enters; and the lease, for [FromContext]. It is cancelled when the
// lease is over, with what [Lease.Err] returns as its cause: in case of a loss before the
// keys can expire, even if every node is dead or silent.
//
// A context carries one owner: the one of the lease that it was made of last. Who holds two
// locks and works under both takes the second under the first's context, or both under one
// of [WithOwner]. Owners are known to the client that they lock with, and to no other. An
// owner ends with the last lease that it has: a goroutine that goes on after Unlock waits
// for the lock as everybody else does.
//
// Abandoned work lets its lock lapse: once every context of the work has ended, the watchdog
// stops renewing, and the lease is lost within a TTL. The contexts of the work are the parents
// given to Context, from the first on, and the context that Lock was called with, unless that
// one cannot end. So a leader may give its lease to one request after the other; what keeps
// the lease is the context that the leader itself was made leader under. A parent that is
// given later has the watchdog renew again.
func (l *Lease) Context(parent context.Context) context.Context {
	if l.hold == nil {
		ctx, cancel := context.WithCancelCause(parent)
		cancel(ErrNotHeld)
		return ctx
	}
	s := &scope{parent: parent, lease: l}
	h := l.hold
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.reason != ReasonNone {
		s.tie = newTie(parent)
		s.cancel(l.failure())
		return s
	}
	abandoned := l.work.abandoned()
	if l.work == nil {
		l.work = newWork(l)
	}
	s.tie = l.work.tie(parent)
	if abandoned {
		h.schedule() // it is renewed again
	}
	return s
}

// FromContext returns the innermost lease that ctx comes from, by [Lease.Context] or
// [Locker].Do: for code to which the lease itself was not given, and which needs its token.
// The lease may be over; see [Lease.Err].
func FromContext(ctx context.Context) (*Lease, bool) {
	l, ok := ctx.Value(leaseKey{}).(*Lease)
	return l, ok
}

// Deadline implements [context.Context].
func (s *scope) Deadline() (time.Time, bool) { return s.parent.Deadline() }

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

// Value implements [context.Context].
func (s *scope) Value(key any) any {
	switch key := key.(type) {
	case ownerKey:
		return s.lease.hold.slot.owner
	case leaseKey:
		return s.lease
	case holdsKey:
		if s.lease.Name() == key.name && s.lease.Err() == nil {
			return true
		}
	}
	if v := s.tie.Value(key); v != nil {
		return v // by which package context finds what ends this context
	}
	return s.parent.Value(key)
}
