package multi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/internal/engine"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

// A Mutex stands for several locks that are taken together, all or nothing. It is safe for
// concurrent use, and holds no state: several Mutexes may have locks in common. The zero value is a
// Mutex of no locks: each call fails.
//
// It is not a [lock.Locker], because its leases are not those of a single lock.
type Mutex struct {
	locks []lock.Locker // in the order of their names
	ranks []string      // of the locks: locks of one rank may be one lock
	given []int         // given[i] is the index in locks of New's i-th argument
	err   error         // what is wrong with them; every call returns it
}

var errNone = errors.New("multi: there is no lock to take")

// New returns the mutex of all these locks, in whatever order they are given. They may be of
// different kinds and clients. New talks to no node; an empty list or a nil lock is the error of
// every call.
//
// A lock that is given twice, or two locks of one name on one client, are one lock: the second is a
// re-entry of the first. If it cannot be one, every call fails: with [lock.ErrKind] if they are of kinds
// that do not work together, and with another error if they are different numbers of permits of one
// semaphore. Of a read-write lock, the writer is taken before the reader, who may not become one
// ([lock.ErrUpgrade]); the writer alone does. Locks of one name on different nodes work, but see the
// package documentation.
func New(locks ...lock.Locker) *Mutex {
	m := &Mutex{locks: make([]lock.Locker, len(locks)), ranks: make([]string, len(locks)), given: make([]int, len(locks))}
	order, ranks := make([]int, len(locks)), make([]string, len(locks))
	for i, l := range locks {
		if l == nil {
			return &Mutex{err: fmt.Errorf("multi: lock %d of %d is nil", i+1, len(locks))}
		}
		order[i], ranks[i] = i, rank(l.Name())
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if ranks[i] != ranks[j] {
			return cmp.Compare(ranks[i], ranks[j])
		}
		return compareReads(locks[i], locks[j])
	})
	for at, i := range order {
		m.locks[at], m.ranks[at], m.given[i] = locks[i], ranks[i], at
	}
	return m
}

// compareReads orders two locks of one rank: a writer comes before a reader of the same lock, under which it could not be taken.
func compareReads(a, b lock.Locker) int {
	switch readsA, readsB := engine.Reads(a), engine.Reads(b); {
	case readsA == readsB:
		return 0
	case readsB:
		return -1
	default:
		return 1
	}
}

// rank is what locks are ordered by. It is the name; but one key can have two names, with and without braces
// around them, and must have one place in the order. So it is the name by which the key is known (lua.NameOf).
//
// The prefix of the keys is not known here, and need not be: names that make one key with some prefix do so with a
// plain one. The reverse is not true if the prefix has a hash tag, but locks may share a rank that are not one
// lock: they are treated like locks of one name on different nodes.
func rank(name string) string {
	if !strings.ContainsAny(name, "{}") {
		return name // as nearly all are, and this takes no memory
	}
	const prefix = "any"
	keys, err := lua.NewKeys(prefix, name)
	if err != nil {
		return name // the one in braces, or without them, is another key or is refused, too
	}
	known, _ := lua.NameOf(prefix, keys.Lock)
	return known
}

// Lock blocks until all the locks are held or ctx is done. If ctx carries an owner that already
// holds some of them, Lock re-enters those. ctx limits only the wait. While Lock waits for one of
// the locks, it holds only those whose names come before it. Once it has waited for one of them, it also waits for nodes
// that refuse its commands, as the Lock of a [lock.Locker] does.
//
// If Lock fails, everything has been given back, and the error names the lock that failed. Unless
// an argument or option is invalid, it is that lock's [*lock.AcquireError].
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) {
	a, err := m.acquisition(ctx, true)
	if err != nil {
		return nil, err
	}
	if err := a.run(); err != nil {
		return nil, err
	}
	return m.lease(a), nil
}

// TryLock takes the locks if all of them are free, and does not wait for another owner. Unless an
// argument or option is invalid, the error is the [*lock.AcquireError] of the first lock, in the
// order of names, that was refused: a [lock.ErrLocked] if others have it, and a [lock.ErrNoQuorum]
// if too few nodes can be asked, or if its lease was over before the last lock was granted. If that lease
// re-entered a hold of the caller's that is lost as a whole, the error is [lock.ErrLost]. Then everything
// has been given back.
//
// TryLock takes as long as the slowest TryLock of the locks, plus a few node timeouts for giving back
// if nodes do not answer. Locks of one name are tried one after another, so their times add up.
func (m *Mutex) TryLock(ctx context.Context) (*Lease, error) {
	a, err := m.acquisition(ctx, false)
	if err != nil {
		return nil, err
	}
	if err := a.run(); err != nil {
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

func (m *Mutex) acquisition(ctx context.Context, blocks bool) (*acquisition, error) {
	if m.err != nil {
		return nil, m.err
	}
	if len(m.locks) == 0 {
		return nil, errNone
	}
	a := &acquisition{ctx: ctx, blocks: blocks, locks: m.locks, ranks: m.ranks, leases: make([]*lock.Lease, len(m.locks))}
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
