package main

import (
	"errors"
	"fmt"
	"sync"

	"github.com/holdfast-go/holdfast/lock"
)

// orders is a table of a database.
type orders struct {
	mu   sync.Mutex // what a database would see to; the lock holds across processes
	rows map[string]order
}

type order struct {
	State string
	Token int64 // of the last hold that has written
}

func newOrders() *orders { return &orders{rows: make(map[string]order)} }

var (
	errUnlocked = errors.New("the order may only be changed under its lock")
	errStale    = errors.New("a later holder of the lock has written since")
)

// set writes the state of an order. It relies on its callers for the lock. It checks that the lease
// is a valid lease of this order's lock, and, as a database would, that no later holder has
// written.
//
// It takes the lease as an argument, because the token must belong to this lock. A context's token
// may belong to another: lock.FromContext returns the innermost lease, and lock.Holds is true for
// an outer one, too.
func (o *orders) set(lease *lock.Lease, id, state string) error {
	if lease.Name() != lockOf(id) {
		return fmt.Errorf("%w, not under the lock %q", errUnlocked, lease.Name())
	}
	if err := lease.Err(); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rows[id].Token > lease.Token() {
		return errStale
	}
	o.rows[id] = order{state, lease.Token()}
	return nil
}

func (o *orders) get(id string) order {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rows[id]
}
