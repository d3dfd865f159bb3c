package multi

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/lock"
)

// A Lease is one acquisition of all the locks: Lock returns it and [Lease.Unlock] ends it. It is
// over as soon as one of the locks is lost. The other locks remain held and renewed until Unlock,
// because the work may have to clean up under them. It is safe for concurrent use and must not be
// copied. The zero value is a lease of nothing: it is over, with [lock.ErrNotHeld].
type Lease struct {
	leases []*lock.Lease // in the order of New's arguments

	mu       sync.Mutex
	err      error                   // why it is over; nil: not known yet
	unlocked bool                    // Unlock was called
	ended    context.Context         // ends when the lease is over; nil: nobody has asked for it
	end      context.CancelCauseFunc // of ended
	watched  bool                    // the locks' ends are watched, for ended
	ties     map[<-chan struct{}]tie // by the Done of their parents, which have not ended
}

// Leases returns the leases of the locks, in the order of New's arguments: each has the token of
// its lock. A lock that was given twice has two leases. Unlock all of them together, by
// [Lease.Unlock].
func (l *Lease) Leases() []*lock.Lease { return slices.Clone(l.leases) }

// Deadline is the end of validity as known now: the earliest of the locks' deadlines. It moves
// with their renewals.
func (l *Lease) Deadline() time.Time {
	var earliest time.Time
	for i, lease := range l.leases {
		if d := lease.Deadline(); i == 0 || d.Before(earliest) {
			earliest = d
		}
	}
	return earliest
}

// Err is nil while all the locks are held. Then it is the [*lock.LeaseError] of the lock that was
// lost first, as far as that is known, or a [lock.ErrReleased] if none was lost. After that it does
// not change any more. It looks at the clock, as [lock.Lease.Err] does.
func (l *Lease) Err() error {
	if len(l.leases) == 0 {
		return lock.ErrNotHeld
	}
	l.mu.Lock()
	err := l.err
	l.mu.Unlock()
	if err != nil {
		return err
	}
	for _, lease := range l.leases {
		switch e := lease.Err(); {
		case errors.Is(e, lock.ErrLost):
			return l.over(e)
		case err == nil:
			err = e
		}
	}
	if err == nil {
		return nil
	}
	return l.over(err)
}

// over records that the lease is over because of err, unless it is already over for another reason.
// It returns the reason.
func (l *Lease) over(err error) error {
	l.mu.Lock()
	if l.err == nil {
		l.err = err
	}
	err, end := l.err, l.end
	l.mu.Unlock()
	if end != nil {
		end(err)
	}
	return err
}

// Done is closed once the lease is over: one of the locks is lost, or they are released.
func (l *Lease) Done() <-chan struct{} {
	switch len(l.leases) {
	case 0:
		return closed
	case 1:
		return l.leases[0].Done()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.start() {
		go l.watch()
	}
	return l.ended.Done()
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// start creates ended, and reports whether the caller must make sure that the ends of the locks end
// it. Called with mu held.
func (l *Lease) start() (watch bool) {
	if l.ended == nil {
		l.ended, l.end = context.WithCancelCause(context.Background())
		if l.err != nil {
			l.end(l.err)
		}
	}
	watch = !l.watched && l.err == nil
	l.watched = true
	return watch
}

// watch waits for the first lock that is over. Done cannot use contexts of the locks for that: they
// would count as work, and keep the locks renewed when the work is abandoned.
func (l *Lease) watch() {
	ends := make([]reflect.SelectCase, len(l.leases))
	for i, lease := range l.leases {
		ends[i] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(lease.Done())}
	}
	i, _, _ := reflect.Select(ends)
	_ = l.over(l.leases[i].Err())
}

// Unlock releases all the locks, with one round trip for all of them if nothing fails. It ignores
// ctx's cancellation. If one of them fails, the others are still released. The error joins the
// errors of the locks. Each is a [*lock.LeaseError]: a [lock.ErrLost] if that lock was lost before,
// a [lock.ErrReleased] on a second call, and a [lock.ErrNoQuorum] if too few nodes confirmed; see
// [lock.Lease.Unlock].
func (l *Lease) Unlock(ctx context.Context) error {
	if len(l.leases) == 0 {
		return lock.ErrNotHeld
	}
	_ = l.Err() // a loss before now counts as a loss, not as the release
	l.mu.Lock()
	again := l.unlocked
	l.unlocked = true
	l.mu.Unlock()
	if again {
		return l.unlockAgain()
	}
	err := errors.Join(lock.UnlockTogether(ctx, l.leases...)...)
	_ = l.Err()
	l.endContexts() // before Unlock returns
	return err
}

// unlockAgain is a second call of Unlock. It unlocks nothing: the first call may be on its way, and of two calls that
// release a part each, both would be told that the rest was released by somebody else. Nor does it wait for the first
// call, as with a single lock. But it counts as the end, if the first call has not come that far.
func (l *Lease) unlockAgain() error {
	errs := make([]error, len(l.leases))
	var released error // of the first lock that is not over yet
	for i, lease := range l.leases {
		e := &lock.LeaseError{Name: lease.Name(), Hold: lease.ID(), Err: lock.ErrReleased, Reason: lock.ReasonUnlocked}
		if !errors.As(lease.Err(), &e) && released == nil {
			released = e
		}
		of := *e
		of.Op = "unlock"
		errs[i] = &of
	}
	if l.Err() == nil {
		_ = l.over(released)
	}
	l.endContexts()
	return errors.Join(errs...)
}

// endContexts ends Done and the contexts of a lease that is over: also what would hear of it from a lock, or from the goroutine
// that watches the locks and is just about to.
func (l *Lease) endContexts() {
	l.mu.Lock()
	ties := slices.Collect(maps.Values(l.ties))
	err, end := l.err, l.end
	l.mu.Unlock()
	if end != nil {
		end(err)
	}
	for _, t := range ties {
		t.end(err)
	}
}
