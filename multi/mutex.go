package multi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/lock"
)

// A Mutex stands for several locks that are taken together, all or nothing. It is safe for
// concurrent use, and holds no state: several Mutexes may have locks in common. The zero value is a
// Mutex of no locks: each call fails.
//
// It is not a [lock.Locker], because its leases are not those of a single lock.
type Mutex struct {
	locks []lock.Locker // in the order of their names
	given []int         // given[i] is the index in locks of New's i-th argument
	err   error         // what is wrong with them; every call returns it
}

var errNone = errors.New("multi: there is no lock to take")

// New returns the mutex of all these locks, in whatever order they are given. They may be of
// different kinds and clients. New talks to no node; an empty list or a nil lock is the error of
// the first call.
//
// A lock that is given twice, or two locks of one name on one client, are one lock: the second is a
// re-entry of the first. So of a read-write lock, the writer may be followed by the reader, but not the
// other way round ([lock.ErrUpgrade]); the writer alone does. Locks of one name on different nodes work,
// but see the package documentation.
func New(locks ...lock.Locker) *Mutex {
	m := &Mutex{locks: make([]lock.Locker, len(locks)), given: make([]int, len(locks))}
	order := make([]int, len(locks))
	for i, l := range locks {
		if l == nil {
			return &Mutex{err: fmt.Errorf("multi: lock %d of %d is nil", i+1, len(locks))}
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rank(locks[i]), rank(locks[j])) })
	for at, i := range order {
		m.locks[at], m.given[i] = locks[i], at
	}
	return m
}

// rank is what locks are ordered by. It is the name; but as long as a name has no braces, its key has them
// (lua.NewKeys), so a name that consists of braces and such a name is another way to write the latter, and must
// have the same place in the order.
func rank(l lock.Locker) string {
	name := l.Name()
	if inner, opened := strings.CutPrefix(name, "{"); opened {
		if inner, closed := strings.CutSuffix(inner, "}"); closed && inner != "" && !strings.ContainsAny(inner, "{}") {
			return inner
		}
	}
	return name
}

// Lock blocks until all the locks are held or ctx is done. If ctx carries an owner that already
// holds some of them, Lock re-enters those. ctx limits only the wait. While Lock waits for one of
// the locks, it holds only those whose names come before it.
//
// If Lock fails, everything has been given back, and the error names the lock that failed. Unless
// an argument or option is invalid, it is that lock's [*lock.AcquireError].
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) {
	a, err := m.acquisition(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.run(true); err != nil {
		return nil, err
	}
	return m.lease(a), nil
}

// TryLock takes the locks if all of them are free, and does not wait for another owner. Unless an
// argument or option is invalid, the error is the [*lock.AcquireError] of the first lock, in the
// order of names, that was refused: a [lock.ErrLocked] if others have it, and a [lock.ErrNoQuorum]
// if too few nodes can be asked. Then everything has been given back. TryLock takes as long as the slowest TryLock of the locks, plus a
// few node timeouts for giving back if nodes do not answer.
func (m *Mutex) TryLock(ctx context.Context) (*Lease, error) {
	a, err := m.acquisition(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.run(false); err != nil {
		return nil, err
	}
	return m.lease(a), nil
}

// Do runs fn under all the locks: Lock, fn with the lease's context, Unlock. In fn, [FromContext]
// returns the lease, with the tokens. Do returns fn's error itself, or joined with the
// error of Unlock: [lock.ErrLost] if one of the locks was lost meanwhile.
func (m *Mutex) Do(ctx context.Context, fn func(context.Context) error) (err error) {
	if fn == nil && m.err == nil {
		return errors.New("multi: Do has no function to call")
	}
	lease, err := m.Lock(ctx)
	if err != nil {
		return err
	}
	// Deferred, so that a panic in fn does not keep the locks.
	defer func() {
		if failed := lease.Unlock(ctx); failed != nil { // else fn's error itself is returned
			err = errors.Join(err, failed)
		}
	}()
	return fn(lease.Context(ctx))
}

func (m *Mutex) acquisition(ctx context.Context) (*acquisition, error) {
	if m.err != nil {
		return nil, m.err
	}
	if len(m.locks) == 0 {
		return nil, errNone
	}
	a := &acquisition{ctx: ctx, locks: m.locks, leases: make([]*lock.Lease, len(m.locks))}
	a.adopt()
	return a, nil
}

// lease is what a has come to.
func (m *Mutex) lease(a *acquisition) *Lease {
	l := &Lease{leases: make([]*lock.Lease, len(m.given))}
	for i, at := range m.given {
		l.leases[i] = a.leases[at]
	}
	return l
}
