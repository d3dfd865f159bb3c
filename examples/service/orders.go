package main

import (
	"context"
	"errors"
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
	errUnlocked = errors.New("the order is to be changed under its lock")
	errStale    = errors.New("a later holder of the lock has written since")
)

// set writes the state of an order. It relies on its callers for the lock, and checks that:
// that they have it, and, as a database would, that no later holder has been there.
func (o *orders) set(ctx context.Context, id, state string) error {
	lease, found := lock.FromContext(ctx)
	if !found || !lock.Holds(ctx, lockOf(id)) {
		return errUnlocked
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
