// Service is a small HTTP service that takes an order's lock in its handler, and its unit
// tests: service_test.go has one for each thing that can happen to a lock, contention and loss
// included. They need no Redis and run in milliseconds, with package locktest.
//
//	go test -v ./examples/service
//	go run ./examples/service
//	go run ./examples/service -redis localhost:6379
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/examples/internal/nodes"
	"github.com/holdfast-go/holdfast/examples/internal/story"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

func main() { nodes.Main(1, serve) }

// serve asks two instances of the service to ship the same order at the same time.
func serve(ctx context.Context, redis *nodes.Set, tell *story.Teller) error {
	table := newOrders()
	carrier := func(ctx context.Context, id string) error {
		tell.Linef("carrier", "is asked to take order %s", id)
		select {
		case <-time.After(300 * time.Millisecond):
			tell.Linef("carrier", "takes it")
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	var instances sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		instances.Go(func() {
			locks, err := lock.NewClient(redis.Clients()) // each instance is a process of its own
			if err != nil {
				errs[i] = err
				return
			}
			defer locks.Close()
			s := &service{
				orderLock: func(name string) lock.Locker { return reentrant.New(locks, name) },
				orders:    table,
				carrier:   carrier,
			}
			me := fmt.Sprintf("web-%d", i+1)
			tell.Linef(me, "POST /orders/42/ship")
			w := httptest.NewRecorder()
			s.handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/orders/42/ship", nil))
			tell.Linef(me, "%d %s", w.Code, http.StatusText(w.Code))
		})
	}
	instances.Wait()
	return errors.Join(errs...)
}
