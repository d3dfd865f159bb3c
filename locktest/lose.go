package locktest

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/holdfast-go/holdfast/internal/hook"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

// A Lease is the argument of [Fake.Lose]: a [*lock.Lease] or a semaphore's Permit.
type Lease interface {
	ID() string
	Err() error
}

// Lease returns the lease of name that the program holds by [Fake.Client], or the newest if there
// are several. It is for a test that does not see what the program locks. Leases of other processes
// do not count. It ends the test if there is none.
func (f *Fake) Lease(name string) *lock.Lease {
	f.t.Helper()
	lease := f.ledger.last(name, f.program.host)
	if lease == nil {
		f.t.Fatalf("locktest: Lease: the program does not hold %q", name)
	}
	return lease
}

// Lose makes a lease be lost for reason, by the same events as in production, and returns when it
// is lost. All leases of its hold are lost with it, and those of other readers of its process, which
// share its key on the nodes. The possible reasons are:
//
//   - [lock.ReasonForced]: somebody ends it by ForceUnlock.
//   - [lock.ReasonGone]: its keys are deleted on every node. Others that share the lock, as readers
//     or by permits, lose it as well.
//   - [lock.ReasonNotRenewed]: its process cannot reach any node until the lease ends. Other leases
//     of that process may go the same way, but not before it, if their TTL is as long and they are renewed. In
//     bubbles only.
//   - [lock.ReasonExpired]: the time of a lease without a watchdog passes. In bubbles only.
//
// The program itself causes the other reasons: by ending its contexts, or by WithMaxHold and
// Advance.
func (f *Fake) Lose(lease Lease, reason lock.Reason) {
	f.t.Helper()
	if v := reflect.ValueOf(lease); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		f.t.Fatalf("locktest: Lose: the lease is nil")
	}
	if err := lease.Err(); err != nil {
		f.t.Fatalf("locktest: Lose: it is over already: %v", err)
	}
	e, found := f.ledger.find(lease)
	if !found {
		f.t.Fatalf("locktest: Lose: no client of this Fake has the lease %s", lease.ID())
	}
	switch reason {
	case lock.ReasonForced:
		f.force(e)
	case lock.ReasonGone:
		f.remove(e)
	case lock.ReasonNotRenewed:
		f.needBubble("Lose for ReasonNotRenewed")
		f.isolate(e)
	case lock.ReasonExpired:
		f.needBubble("Lose for ReasonExpired")
		f.Advance(time.Until(e.lease.Deadline()))
	default:
		f.t.Fatalf("locktest: Lose: nobody but the program can end a lease for the reason %q", reason)
	}
	var over *lock.LeaseError
	switch err := lease.Err(); {
	case err == nil && reason == lock.ReasonExpired:
		f.t.Fatalf("locktest: Lose: the lease of %q does not expire: it is renewed, unless it is taken WithoutWatchdog", e.lease.Name())
	case err == nil:
		f.t.Fatalf("locktest: Lose: the lease of %q is still valid", e.lease.Name())
	case errors.Is(err, lock.ErrReleased):
		f.t.Fatalf("locktest: Lose: the program has given back the lease of %q before it was lost, maybe because another one ended: %v",
			e.lease.Name(), err)
	case errors.As(err, &over) && over.Reason != reason:
		f.t.Fatalf("locktest: Lose: the lease of %q has ended for another reason: %v", e.lease.Name(), err)
	}
	<-e.lease.Done()
}

// force ends the hold of e as an operator does.
func (f *Fake) force(e entry) {
	f.t.Helper()
	if err := hook.Provided.Force(context.Background(), e.lease); err != nil {
		f.t.Fatalf("locktest: Lose: %v", err)
	}
}

// remove deletes the keys of e's lock until its holder has noticed. As there are several nodes,
// the holder may give the hold back to one while it is deleted on another.
func (f *Fake) remove(e entry) {
	f.t.Helper()
	keys := lua.Keys{Lock: hook.Provided.Key(e.lease)}
	var err error
	for range 100 {
		for _, n := range f.nodes {
			n.Delete(keys.Lock, keys.Readers(), keys.Permits(), keys.Slots(), keys.Free())
		}
		// Without this renewal, the holder would learn of the loss only when its next one is due.
		if err = hook.Provided.Renew(context.Background(), e.lease); errors.Is(err, lock.ErrLost) {
			return
		}
	}
	f.t.Fatalf("locktest: Lose: the nodes were asked, and %q is still held: %v", e.lease.Name(), err)
}

// isolate cuts e's process off from all nodes until the lease has ended. The program may give that back when another one
// ends, so the others are renewed first, and later than e's.
func (f *Fake) isolate(e entry) {
	f.settle()
	if others := f.ledger.besides(e); len(others) > 0 {
		f.Advance(time.Millisecond)
		for _, other := range others {
			_ = hook.Provided.Renew(context.Background(), other) // it may be a fixed one
		}
	}
	var cut []int
	for i := range f.nodes {
		if !e.host.IsCut(i) {
			cut = append(cut, i)
			e.host.Cut(i, true)
		}
	}
	for e.lease.Err() == nil { // an answer may have been received, and not been read
		f.Advance(time.Until(e.lease.Deadline()))
	}
	for _, i := range cut {
		e.host.Cut(i, false)
	}
}
