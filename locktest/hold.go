package locktest

import (
	"context"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/hook"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

// A Hold is a mutex that another process holds and keeps renewing. It ends with Release, or with
// the test. The zero value is not usable; use [Fake.Hold].
type Hold struct {
	fake  *Fake
	lease *lock.Lease
}

// Hold lets another process take the mutex called name, which must be free, with nobody waiting for
// it. It excludes locks of packages reentrant and fair, and wakes them when it is released. A
// read-write lock or a semaphore of that name would be refused, with [lock.ErrKind]: take those
// with [Fake.NewClient].
func (f *Fake) Hold(name string) *Hold {
	f.t.Helper()
	if f.elsewhere == nil {
		f.elsewhere = f.process([]lock.ClientOption{
			lock.WithPrefix(hook.Provided.Prefix(f.program.locks)), lock.WithLabel("somebody else, by locktest"),
		})
	}
	lease, err := fair.New(f.elsewhere.locks, name).TryLock(context.Background())
	if err != nil {
		f.t.Fatalf("locktest: nobody else can hold it: %v", err)
	}
	f.ledger.disown(lease)
	return &Hold{f, lease}
}

// Release ends the hold.
func (h *Hold) Release() {
	f := h.fake
	f.t.Helper()
	if err := h.lease.Unlock(context.Background()); err != nil {
		f.t.Fatalf("locktest: release: %v", err)
	}
	// The hold was a fair lock's, which wakes waiters in a queue. Other waiters wait for this
	// message.
	keys := lua.Keys{Lock: hook.Provided.Key(h.lease)}
	for _, n := range f.nodes {
		n.Publish(keys.Channel(), h.lease.ID())
	}
}
