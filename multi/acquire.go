package multi

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/lock"
)

// An acquisition is one call of Lock or TryLock. It belongs to its caller's goroutine.
//
// Why calls never wait for each other in a circle (Havender 1968, Dijkstra 1971): a call
// waits for one name at a time, and all names that it holds then come before that one. In a circle,
// each call would wait for a name that the next call holds, and that comes before the name
// which the next call waits for. So the names would ascend all the way round, back to the first.
//
// Asking for all names at once does not change this, as TryLock does not wait. What it got
// behind the first refused name is given back before the wait begins. The alternative is to
// give back everything and wait with nothing held. A call whose names are in demand might
// then never end. Here each name that was waited for is kept, so a call of n names waits n
// times at the most, unless a lease is lost meanwhile.
//
// Several locks with one name may be the same lock or not. They have the same place in
// the order, so none of them is held during a wait for another.
type acquisition struct {
	ctx    context.Context
	owned  context.Context // ctx, with an owner
	locks  []lock.Locker   // in the order of their names
	leases []*lock.Lease   // of those that are held; nil: it is not
	rivals time.Duration   // how long the next pause is for locks of one name; 0: none yet
}

// A call is the context of one call. Contexts of users may have types that cannot be compared;
// this one is compared by its address.
type call struct{ context.Context }

// adopt decides whose the locks will be.
func (a *acquisition) adopt() { a.owned = lock.EnsureOwner(&call{a.ctx}) }

// orphaned tells whether the owner has ended before it had any of the locks. It came with a
// lease then, which ctx outlives, and each lock was granted to an owner of its own.
func (a *acquisition) orphaned() bool { return lock.EnsureOwner(a.owned) != a.owned }

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
		case a.worthWaiting(err):
			err = a.wait(i)
		}
		if err != nil {
			a.giveBack(0)
			return err
		}
	}
}

// tryLock asks once.
func (a *acquisition) tryLock() error {
	_, err := a.ask()
	if err != nil {
		a.giveBack(0)
	}
	return err
}

// ask tries to take all that is not held. It returns the first lock in the order that was
// refused, and why.
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

// askOnce asks for everything at once: free locks cost one round trip together, and not one
// each. Of several locks with one name, each is asked when the one before it is held: as a rule
// it is the same lock, which is entered again. An error that no wait can mend comes before the
// others.
func (a *acquisition) askOnce() (first int, err error) {
	errs := make([]error, len(a.locks))
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
		case !a.worthWaiting(e):
			return i, e
		case err == nil:
			first, err = i, e
		}
	}
	return first, err
}

// missing are the locks that can be asked for at once: of each name the first one that is not held,
// unless it was refused.
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
		a.leases[i], errs[i] = leases[at], refused[at]
	}
}

// worthWaiting tells whether the lock that was refused with err may be granted later.
func (a *acquisition) worthWaiting(err error) bool {
	if end := a.ctx.Err(); end != nil && errors.Is(err, end) {
		return false
	}
	return errors.Is(err, lock.ErrLocked) || errors.Is(err, lock.ErrNoQuorum)
}

// wait gives back whatever must not be held during a wait for lock i, and waits for it.
func (a *acquisition) wait(i int) error {
	first, end := a.namesakes(i)
	a.giveBack(first)
	if end-first > 1 {
		a.pause()
	}
	lease, err := a.locks[i].Lock(a.owned)
	if err != nil {
		return err
	}
	a.leases[i] = lease
	return nil
}

// namesakes are the locks with the name of lock i, which is one of them: from first to
// before end.
func (a *acquisition) namesakes(i int) (first, end int) {
	name := a.locks[i].Name()
	for first = i; first > 0 && a.locks[first-1].Name() == name; first-- {
	}
	for end = i + 1; end < len(a.locks) && a.locks[end].Name() == name; end++ {
	}
	return first, end
}

const (
	firstPause = 5 * time.Millisecond
	maxPause   = 320 * time.Millisecond
)

// pause is for calls that refuse each other locks of one name by turns. Each wait but the
// first begins after a random time, so that one of the calls finds everything free.
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
	case <-a.ctx.Done(): // which Lock will say, with what it knows of the holder
	}
}

// lost finds the first of the leases that is over by now, which may be long after it was
// granted: len(a.locks) if none is.
func (a *acquisition) lost() int {
	for i, l := range a.leases {
		if l.Err() != nil {
			return i
		}
	}
	return len(a.leases)
}

// giveBack unlocks what is held from there on. A release that the nodes do not confirm is
// repeated by the lock's client, and one of a lease that is lost has nothing to do: there is no
// error that the caller could do anything about.
func (a *acquisition) giveBack(from int) {
	_ = lock.UnlockTogether(a.ctx, a.leases[from:]...)
	clear(a.leases[from:])
}
