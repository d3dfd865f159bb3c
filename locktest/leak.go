package locktest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/lock"
)

// grace is how long the program's goroutines may continue after the test to give back their leases.
// It passes only if something is held.
const grace = time.Second

// check fails t for each lease that is still held.
func (l *ledger) check(t testing.TB) {
	t.Helper()
	l.mu.Lock()
	var held []entry
	for _, e := range l.entries {
		if e.lease.Err() == nil {
			held = append(held, e)
		}
	}
	l.mu.Unlock()
	if len(held) == 0 {
		return
	}
	patience, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	for _, e := range held {
		select {
		case <-e.lease.Done():
		case <-patience.Done():
		}
		// A lease that ends by itself now was held when the test ended.
		if err := e.lease.Err(); err == nil || errors.Is(err, lock.ErrLost) {
			t.Errorf("locktest: %q is still locked at the end of the test: no Unlock of the lease taken at %v", e.lease.Name(), e.place)
		}
	}
}
