package multi

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/engine"
	"github.com/holdfast-go/holdfast/lock"
)

// An acquisition is one call of Lock or TryLock. It belongs to the caller's goroutine.
//
// Why calls never wait for each other in a circle (Havender 1968, Dijkstra 1971): a call
// waits for one name at a time, and all names that it holds then come before that one. In a circle,
// each call would wait for a name that the next call holds, and that comes before the name
// which the next call waits for. So the names would ascend all the way round, back to the first.
//
// Asking for all names at once does not change this, because TryLock does not wait. Locks that it
// got after the first refused name are given back before the wait begins. The alternative is to
// give back everything and to hold nothing during the wait. A call whose names are in demand might
// then never end. Here each name that was waited for is kept, so a call of n names waits at most n
// times, unless a lease is lost meanwhile.
//
// Several locks with one name may or may not be the same lock. They have the same place in the
// order, so none of them is held during a wait for another.
type acquisition struct {
	ctx    context.Context
	blocks bool            // it is a Lock's
	owned  context.Context // ctx, with an owner
	locks  []lock.Locker   // in the order of their names
	ranks  []string        // of the locks
	leases []*lock.Lease   // nil: not held
	rivals time.Duration   // how long the next pause is for locks of one name; 0: none yet
	waited bool            // for one of them, and got it
}

// A call is the context of one call. Users' contexts may have types that cannot be compared; this
// one is compared by its address.
type call struct{ context.Context }

// adopt decides which owner the locks will have.
func (a *acquisition) adopt() { a.owned = lock.EnsureOwner(&call{a.ctx}) }

// orphaned reports whether the owner has ended before it had any of the locks. In that case it came
// with a lease that ctx outlives, and each lock was granted to an owner of its own.
func (a *acquisition) orphaned() bool { return lock.EnsureOwner(a.owned) != a.owned }

// run takes the locks.
func (a *acquisition) run() error {
	returned := false
	defer func() {
		if !returned { // an observer ends the goroutine, as a test does that fails: nobody else can unlock what it has
			a.giveBack(0)
		}
	}()
	var err error
	if a.blocks {
		err = a.lock()
	} else {
		err = a.tryLock()
	}
	returned = true
	return err
}

// lock waits until everything is held.
func (a *acquisition) lock() error {
	for {
		i, err := a.ask()
		switch {
		case err == nil:
			if i = a.lost(); i == len(a.locks) {
				return nil
			}
			a.giveBack(i)
			continue
		case errors.Is(err, lock.ErrLost) && a.lost() < len(a.locks):
			a.giveBack(a.lost()) // it was to be re-entered; unlike a lost lease of the caller's, it is not in the way then
			continue
		case a.worthWaiting(err):
			err = a.wait(i, err)
		}
		if err != nil {
			a.giveBack(0)
			return err
		}
	}
}

// tryLock asks once.
func (a *acquisition) tryLock() error {
	began := time.Now()
	_, err := a.ask()
	if err == nil {
		err = a.overdue(time.Since(began))
	}
	if err != nil {
		a.giveBack(0)
	}
	return err
}

// overdue is the error of a TryLock that has got every lock, but so late that a lease was over by then, or nil.
func (a *acquisition) overdue(waited time.Duration) error {
	i := a.lost()
	if i == len(a.locks) {
		return nil
	}
	err := a.leases[i].Err()
	var over *lock.LeaseError
	switch {
	case errors.Is(err, lock.ErrClosed):
		err = lock.ErrClosed
	case errors.As(err, &over) && (a.leases[i].Count() == 1 || lock.Holds(a.owned, a.locks[i].Name())):
		// It is like a single lock that is granted too late, and no ErrLost: the caller has lost nothing.
		err = fmt.Errorf("%w in time: the lease was over before the other locks were granted: %v", lock.ErrNoQuorum, over.Reason)
	}
	return &lock.AcquireError{Name: a.locks[i].Name(), Waited: waited, Err: err}
}

// ask tries to take all locks that are not held. It returns the first refused lock in the order,
// and the reason.
func (a *acquisition) ask() (first int, err error) {
	for {
		first, err = a.askOnce()
		if !a.orphaned() {
			return first, err
		}
		a.giveBack(0)
		a.adopt() // an owner that lasts
	}
}

// askOnce asks for everything at once: free locks cost one round trip together, not one each. Of
// several locks with one name, each is requested when the previous one is held: usually it is the
// same lock, which is re-entered. An error that waiting cannot cure takes precedence over the
// others.
//
// A Lock does not ask for what others of its process have or wait for: it will wait behind them. If the lock
// happened to be free, between two turns of theirs or while they leave it to other processes, it would go past
// all of them. Nor does it ask for what its process leaves to others though nobody here waits.
func (a *acquisition) askOnce() (first int, err error) {
	errs := make([]error, len(a.locks))
	for i, l := range a.locks {
		if a.blocks && a.leases[i] == nil && !a.hasNamesake(i) && engine.Awaited(a.owned, l) {
			errs[i] = errAwaited
		}
	}
	for {
		asked := a.missing(errs)
		if len(asked) == 0 {
			break
		}
		a.askFor(asked, errs)
	}
	for i, e := range errs {
		switch {
		case e == nil:
		case errors.Is(err, errAwaited) && a.ctx.Err() != nil && errors.Is(e, a.ctx.Err()):
			// The call ends without the awaited lock, too, which comes first.
		case !a.worthWaiting(e):
			return i, e
		case err == nil:
			first, err = i, e
		}
	}
	return first, err
}

// errAwaited is why a Lock has not asked for a lock.
var errAwaited = fmt.Errorf("%w: others of this process have it, or wait for it, or it is left to other processes for a moment", lock.ErrLocked)

// missing returns the locks that can be requested at once: for each name the first one that is not
// held, unless it was refused.
func (a *acquisition) missing(errs []error) (asked []int) {
	for i := 0; i < len(a.locks); {
		first, end := a.namesakes(i)
		i = end
		for j := first; j < end && errs[j] == nil; j++ {
			if a.leases[j] == nil {
				asked = append(asked, j)
				break
			}
		}
	}
	return asked
}

// askFor tries to take these locks.
func (a *acquisition) askFor(asked []int, errs []error) {
	locks := make([]lock.Locker, len(asked))
	for at, i := range asked {
		locks[at] = a.locks[i]
	}
	leases, refused := lock.TryTogether(a.owned, locks...)
	for at, i := range asked {
		a.leases[i], errs[i] = a.check(i, leases[at], refused[at])
	}
}

// check is what lock i has answered, or an error if that is neither a lease nor an error: a fake that answers so would
// be asked again and again.
func (a *acquisition) check(i int, lease *lock.Lease, err error) (*lock.Lease, error) {
	if err == nil && (lease == nil || lease.Name() == "") { // which is a zero one
		return nil, fmt.Errorf("multi: lock %q, a %T, has returned neither a lease that is held nor an error", a.locks[i].Name(), a.locks[i])
	}
	return lease, err
}

// worthWaiting reports whether the lock that was refused with err may be granted later.
func (a *acquisition) worthWaiting(err error) bool {
	if end := a.ctx.Err(); end != nil && errors.Is(err, end) {
		return false
	}
	return errors.Is(err, lock.ErrLocked) || errors.Is(err, lock.ErrNoQuorum)
}

// wait gives back all locks that must not be held during a wait for lock i, which was refused, and
// waits for it.
func (a *acquisition) wait(i int, refusal error) error {
	first, end := a.namesakes(i)
	a.giveBack(first)
	if end-first > 1 {
		a.pause()
	}
	ctx := a.owned
	if a.waited {
		ctx = engine.Patient(ctx) // as in a single wait, which that for the next lock continues
	}
	lease, err := a.locks[i].Lock(ctx)
	if lease, err = a.check(i, lease, err); err != nil {
		return a.reason(err, refusal)
	}
	a.leases[i], a.waited = lease, true
	return nil
}

// reason is err, by which a wait has ended, or the refusal before it if the call's context ended before the
// wait had seen anything.
func (a *acquisition) reason(err, refusal error) error {
	var end, before *lock.AcquireError
	told := errors.Is(err, lock.ErrLocked) || errors.Is(err, lock.ErrNoQuorum)
	if told || a.ctx.Err() == nil || !errors.Is(err, a.ctx.Err()) || !errors.As(err, &end) || !errors.As(refusal, &before) {
		return err
	}
	e := *before
	e.Err, e.Waited = end.Err, end.Waited
	if e.Last == nil && (e.Holder == "" || !errors.Is(before.Err, lock.ErrLocked)) {
		e.Last = before.Err
	}
	return &e
}

// namesakes returns the range of the locks with the name of lock i: from first up to, but not
// including, end.
func (a *acquisition) namesakes(i int) (first, end int) {
	for first = i; first > 0 && a.ranks[first-1] == a.ranks[i]; first-- {
	}
	for end = i + 1; end < len(a.ranks) && a.ranks[end] == a.ranks[i]; end++ {
	}
	return first, end
}

// hasNamesake reports whether a lock with the name of lock i is held. Then there is no wait for i: it would begin by
// giving that one back.
func (a *acquisition) hasNamesake(i int) bool {
	first, end := a.namesakes(i)
	return slices.ContainsFunc(a.leases[first:end], func(l *lock.Lease) bool { return l != nil })
}

const (
	firstPause = 5 * time.Millisecond
	maxPause   = 320 * time.Millisecond
)

// pause is for calls that alternately refuse each other locks of one name. Each wait but the first
// begins after a random time, so that one of the calls finds everything free.
func (a *acquisition) pause() {
	if a.rivals == 0 {
		a.rivals = firstPause
		return
	}
	timer := time.NewTimer(rand.N(a.rivals))
	defer timer.Stop()
	a.rivals = min(2*a.rivals, maxPause)
	select {
	case <-timer.C:
	case <-a.ctx.Done(): // Lock will report that
	}
}

// lost returns the index of the first lease that is over by now, which may be long after it was
// granted, or len(a.locks) if none is.
func (a *acquisition) lost() int {
	for i, l := range a.leases {
		if l != nil && l.Err() != nil {
			return i
		}
	}
	return len(a.leases)
}

// giveBack unlocks the held locks from there on. A release that the nodes do not confirm is
// repeated by the lock's client, and the release of a lost lease has nothing to do. So there is no
// error that the caller could handle.
func (a *acquisition) giveBack(from int) {
	_ = lock.UnlockTogether(a.ctx, a.leases[from:]...)
	clear(a.leases[from:])
}
