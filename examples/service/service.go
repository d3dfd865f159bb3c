package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/holdfast-go/holdfast/lock"
)

// A service ships orders, each of them once, however many instances there are.
type service struct {
	// orderLock returns the lock of a name. The service knows only that it is a lock.Locker, so a
	// test can give it the locks of package locktest.
	orderLock func(name string) lock.Locker
	orders    *orders
	carrier   carrier
}

// A carrier takes parcels. It can be slow.
type carrier func(ctx context.Context, id string) error

const (
	// patience is how long a request waits for another one about the same order.
	patience = 2 * time.Second
	shipped  = "shipped"
)

func lockOf(id string) string { return "order:" + id }

func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders/{id}/ship", s.ship)
	return mux
}

// ship answers 200 if the order is shipped, 409 if another request works on it for long, and 503 if
// the locks are unavailable or lost: then it is worthwhile to try again.
func (s *service) ship(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	err := s.shipOnce(r.Context(), id)
	switch {
	case err == nil:
		fmt.Fprintln(w, shipped)
	case errors.Is(err, lock.ErrLost), errors.Is(err, lock.ErrNoQuorum), errors.Is(err, lock.ErrClosed):
		http.Error(w, "try again", http.StatusServiceUnavailable)
	case errors.Is(err, lock.ErrLocked):
		http.Error(w, "another request is about this order", http.StatusConflict)
	default:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (s *service) shipOnce(ctx context.Context, id string) error {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lease, err := s.orderLock(lockOf(id)).Lock(waiting)
	if err != nil {
		return err
	}
	defer lease.Unlock(ctx)
	ctx = lease.Context(ctx) // ends if the lock is lost
	if s.orders.get(id).State == shipped {
		return nil // a request before this one has done it
	}
	if err := s.carrier(ctx, id); err != nil {
		return errors.Join(err, lease.Err())
	}
	return s.orders.set(lease, id, shipped)
}
