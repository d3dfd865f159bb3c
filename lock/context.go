package lock

import (
	"context"
	"time"
)

type leaseKey struct{}

// Context returns a context for work under the lease. It carries ownership, so that a nested Lock
// re-enters, and the lease, for [FromContext]. It is cancelled when the lease is over, with the
// error of [Lease.Err] as its cause. In case of a loss, that happens before the keys can expire,
// even if every node is dead or silent.
//
// A context carries one owner: that of the last lease from which it was made. If work holds two
// locks, take the second one under the first one's context, or both under a context of [WithOwner].
// Owners are known only to the client with which they lock. An owner ends with its last lease: a
// goroutine that continues after Unlock waits for the lock like everybody else.
//
// The lock of abandoned work expires: once every context of the work has ended, the watchdog stops
// renewing, and the lease is lost within a TTL. The contexts of the work are the parents given to
// Context, from the first one on, and the context given to Lock, unless that one cannot end. So a
// leader may use its lease for one request after the other: the context under which it became the
// leader keeps the lease. A parent that is given later makes the watchdog renew again.
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

// FromContext returns the innermost lease that ctx comes from, by [Lease.Context] or [Locker].Do.
// It is for code that was not given the lease itself and needs its token. The lease may be over;
// see [Lease.Err].
func FromContext(ctx context.Context) (*Lease, bool) {
	l, ok := ctx.Value(leaseKey{}).(*Lease)
	return l, ok
}

// Deadline implements [context.Context].
func (s *scope) Deadline() (time.Time, bool) { return s.parent.Deadline() }

// Err looks at the clock before it returns nil: a process that was paused past the lease's validity
// must not continue because a timer has not fired yet.
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
