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

// set writes the state of an order. It relies on its callers for the lock, and checks that the
// lease is one of this order's lock and goes on, and, as a database would, that no later holder has
// been there.
//
// It is given the lease, as the token must be one of this very lock. That of a context may be of
// another: lock.FromContext returns the innermost lease, and lock.Holds is true of an outer one, too.
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
