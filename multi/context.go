package multi

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/valueless"
	"github.com/holdfast-go/holdfast/lock"
)

// A scope is one context of a lease. It ends with the first of the locks, and with its parent;
// values and deadline are the parent's.
type scope struct {
	tie
	lease  *Lease
	values context.Context // a context of one of the locks
}

// A tie is a context that ends with the first of the locks, and with the parents for which it
// stands: parents that end together, as their Done shows, or that cannot end. All contexts of such
// parents share it. So contexts that are dropped cost nothing, as with single locks.
type tie struct {
	context.Context
	end context.CancelCauseFunc
}

type leaseKey struct{}

// Context returns a context for work under the locks. It carries the ownership of all of them. It
// also carries the lease, for [FromContext]; [lock.FromContext] returns the lease of the last lock
// that was given to New. It is cancelled when the lease is over, and its cause is a
// [*lock.LeaseError] that names the lost lock.
//
// It counts as a context of the work under each of the locks: once all such contexts have ended,
// the locks are no longer renewed, as [lock.Lease.Context] says. The loss of one lock does not end
// the renewal of the others.
func (l *Lease) Context(parent context.Context) context.Context {
	if len(l.leases) == 0 {
		ctx, cancel := context.WithCancelCause(parent)
		cancel(lock.ErrNotHeld)
		return ctx
	}
	// Each lock gets a context of the same parent, not of the previous lock's context: otherwise
	// the loss of one lock would look as if the work under the next one were abandoned.
	contexts := make([]context.Context, len(l.leases))
	for i, lease := range l.leases {
		contexts[i] = lease.Context(parent)
	}
	s := &scope{tie: l.tie(parent, contexts), lease: l, values: contexts[len(contexts)-1]}
	if err := l.Err(); err != nil {
		s.end(err)
	}
	return s
}

// tie returns the tie for contexts of parent. Each of the locks has made one of its contexts.
func (l *Lease) tie(parent context.Context, contexts []context.Context) tie {
	done := parent.Done()
	l.mu.Lock()
	if done == nil {
		watch := l.start()
		t := tie{l.ended, l.end}
		l.mu.Unlock()
		if watch {
			for i, ctx := range contexts {
				l.follow(ctx, i, t.end)
			}
		}
		return t
	}
	t, known := l.ties[done]
	if !known {
		t.Context, t.end = valueless.WithCancelCause(parent)
		if l.ties == nil {
			l.ties = make(map[<-chan struct{}]tie, 1)
		}
		l.ties[done] = t
	}
	l.mu.Unlock()
	if !known {
		for i, ctx := range contexts { // each of them, so that the first loss is the cause, and the same one everywhere
			l.follow(ctx, i, t.end)
		}
		context.AfterFunc(t.Context, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.ties, done)
		})
	}
	return t
}

// follow calls end when lock i is over; ctx is a context of it. If ctx has ended with its parent,
// follow does not call end: the parent ends the scope as well, and with the right cause, a deadline
// or a cancellation.
func (l *Lease) follow(ctx context.Context, i int, end context.CancelCauseFunc) {
	context.AfterFunc(ctx, func() {
		if err := l.leases[i].Err(); err != nil {
			end(l.over(err))
		}
	})
}

// FromContext returns the innermost lease of several locks that ctx comes from, by [Lease.Context]
// or [Mutex.Do]. It is for code that was not given the lease itself and needs its tokens. The lease
// may be over; see [Lease.Err].
func FromContext(ctx context.Context) (*Lease, bool) {
	l, ok := ctx.Value(leaseKey{}).(*Lease)
	return l, ok
}

// Err looks at the clock before it returns nil, like the context of [lock.Lease.Context].
func (s *scope) Err() error {
	if s.Context.Err() == nil {
		if err := s.lease.Err(); err != nil {
			s.end(err)
		}
	}
	return s.Context.Err()
}

// Deadline implements [context.Context].
func (s *scope) Deadline() (time.Time, bool) { return s.values.Deadline() }

// Value implements [context.Context].
func (s *scope) Value(key any) any {
	if key == (leaseKey{}) {
		return s.lease
	}
	// The tie is found by a key, too, and comes before the parent's values.
	if v := s.Context.Value(key); v != nil {
		return v
	}
	return s.values.Value(key)
}
