package locktest

import (
	"slices"
	"sync"

	"github.com/holdfast-go/holdfast/internal/hook"
	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// A ledger has what the program's calls have come to. It is safe for concurrent use.
type ledger struct {
	mu       sync.Mutex
	entries  []entry
	prune    int                // when so many, those of leases that are over can go
	waits    map[any]string     // calls of Lock that wait, with the names
	failures map[string][]error // of acquisitions to come
}

// An entry is a lease that was granted.
type entry struct {
	lease *lock.Lease
	host  *virtual.Host
	place place
}

func newLedger() *ledger {
	return &ledger{prune: 64, waits: make(map[any]string), failures: make(map[string][]error)}
}

// A watch tells the ledger of what happens in one process.
type watch struct {
	ledger *ledger
	host   *virtual.Host
}

var _ hook.Calls = (*watch)(nil)

// Begin implements [hook.Calls].
func (w *watch) Begin(name string) error { return w.ledger.fail(name) }

// Wait implements [hook.Calls].
func (w *watch) Wait(name string, call any) {
	l := w.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits[call] = name
}

// End implements [hook.Calls].
func (w *watch) End(call, lease any) {
	l := w.ledger
	var at place
	if lease != nil {
		at = caller()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waits, call)
	if lease == nil {
		return
	}
	l.entries = append(l.entries, entry{lease.(*lock.Lease), w.host, at})
	if len(l.entries) >= l.prune {
		l.entries = slices.DeleteFunc(l.entries, func(e entry) bool { return e.lease.Err() != nil })
		l.prune = max(64, 2*len(l.entries))
	}
}

// find returns the entry of a lease that is not over, by its hold id.
func (l *ledger) find(id string) (e entry, found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		if e.lease.ID() == id && e.lease.Err() == nil {
			return e, true
		}
	}
	return e, false
}

// last returns the newest lease of name that is not over; nil: there is none.
func (l *ledger) last(name string) *lock.Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range slices.Backward(l.entries) {
		if e.lease.Name() == name && e.lease.Err() == nil {
			return e.lease
		}
	}
	return nil
}

// disown forgets a lease, which is the Fake's own.
func (l *ledger) disown(lease *lock.Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = slices.DeleteFunc(l.entries, func(e entry) bool { return e.lease == lease })
}
