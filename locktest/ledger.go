package locktest

import (
	"context"
	"slices"
	"sync"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// A ledger records the results of the program's calls. It is safe for concurrent use.
type ledger struct {
	mu       sync.Mutex
	entries  []entry
	prune    int                // when so many, those of leases that are over can go
	waits    map[*call]string   // that wait, with the names
	failures map[string][]error // of acquisitions to come
}

// An entry is a lease that was granted.
type entry struct {
	lease *lock.Lease
	host  *virtual.Host
	place place
}

func newLedger() *ledger {
	return &ledger{prune: 64, waits: make(map[*call]string), failures: make(map[string][]error)}
}

// observer reports the events in the process on host to the ledger.
func (l *ledger) observer(host *virtual.Host) lock.Observer {
	return lock.Observer{
		Began: func(ctx context.Context, _ lock.Acquisition) context.Context {
			return context.WithValue(ctx, callKey{}, new(call))
		},
		Waits: func(ctx context.Context, a lock.Acquisition) { l.wait(callOf(ctx), a.Name) },
		Ended: func(ctx context.Context, a lock.Acquisition) {
			var at place
			if a.Lease != nil {
				at = caller()
			}
			l.end(callOf(ctx), a.Lease, host, at)
		},
	}
}

// A call is one Lock or TryLock. It is identified by its address.
type call struct{ _ byte }

type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

func (l *ledger) wait(c *call, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits[c] = name
}

func (l *ledger) end(c *call, lease *lock.Lease, host *virtual.Host, at place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waits, c)
	if lease == nil {
		return
	}
	l.entries = append(l.entries, entry{lease, host, at})
	if len(l.entries) >= l.prune {
		l.entries = slices.DeleteFunc(l.entries, func(e entry) bool { return e.lease.Err() != nil })
		l.prune = max(64, 2*len(l.entries))
	}
}

// find returns the entry of a lease that is not over, or, of a permit's, one of the same hold.
func (l *ledger) find(lease Lease) (e entry, found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, other := range l.entries {
		switch {
		case Lease(other.lease) == lease:
			return other, true
		case other.lease.ID() == lease.ID() && other.lease.Err() == nil:
			e, found = other, true
		}
	}
	return e, found
}

// last returns the newest lease of name of a process on host that is not over; nil: there is none.
// Others may have the lock as well: those that share it, or a holder after a loss.
func (l *ledger) last(name string, host *virtual.Host) *lock.Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range slices.Backward(l.entries) {
		if e.host == host && e.lease.Name() == name && e.lease.Err() == nil {
			return e.lease
		}
	}
	return nil
}

// besides returns the leases of the process of e that are not over, other than that of e's hold.
func (l *ledger) besides(e entry) []*lock.Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	var others []*lock.Lease
	for _, other := range l.entries {
		if other.host == e.host && other.lease.ID() != e.lease.ID() && other.lease.Err() == nil {
			others = append(others, other.lease)
		}
	}
	return others
}

// disown forgets a lease, which is the Fake's own.
func (l *ledger) disown(lease *lock.Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = slices.DeleteFunc(l.entries, func(e entry) bool { return e.lease == lease })
}
