package lock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// A service that is told to stop: no request begins, none waits for a lock any more, those
// that hold one finish, and what is held after ten seconds is given back.
func ExampleClient_Shutdown() {
	nodes, disconnect := connect(1)
	defer disconnect()
	locks, err := lock.NewClient(nodes)
	if err != nil {
		log.Fatal(err)
	}
	orders := reentrant.New(locks, "orders:42")
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := orders.Do(r.Context(), func(ctx context.Context) error { return ctx.Err() })
		if errors.Is(err, lock.ErrClosed) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})}

	// In a program, after <-signals.Done().
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- server.Shutdown(ctx) }() // waits for requests in progress
	err = locks.Shutdown(ctx)                       // requests that wait for a lock fail now
	fmt.Println(errors.Join(err, <-stopped))
	// Output: <nil>
}

// A function given to Do finds the lease that it works under in its context.
func ExampleFromContext() {
	nodes, disconnect := connect(1)
	defer disconnect()
	locks, err := lock.NewClient(nodes)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()

	save := func(ctx context.Context) error {
		lease, ok := lock.FromContext(ctx)
		if !ok {
			return errors.New("save needs a lock")
		}
		fmt.Println("saves under", lease.Name(), "with a token:", lease.Token() > 0)
		return nil
	}
	if err := reentrant.New(locks, "orders:42").Do(context.Background(), save); err != nil {
		log.Fatal(err)
	}
	fmt.Println(save(context.Background()))
	// Output:
	// saves under orders:42 with a token: true
	// save needs a lock
}

// Two locks: always in the same order, the second under the first one's context. The work's
// context ends when either is lost, and its cause names which.
func ExampleLease_Context_twoLocks() {
	nodes, disconnect := connect(1)
	defer disconnect()
	locks, err := lock.NewClient(nodes)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()

	from, to := reentrant.New(locks, "account:1"), reentrant.New(locks, "account:2")
	err = from.Do(context.Background(), func(ctx context.Context) error {
		return to.Do(ctx, func(ctx context.Context) error {
			if _, err := from.ForceUnlock(context.WithoutCancel(ctx)); err != nil {
				return err
			}
			<-ctx.Done()
			var lost *lock.LeaseError
			if errors.As(context.Cause(ctx), &lost) {
				fmt.Println("stops, as", lost.Name, "is lost")
			}
			return nil
		})
	})
	fmt.Println(errors.Is(err, lock.ErrLost))
	// Output:
	// stops, as account:1 is lost
	// true
}

// Another service works for the holder: it is lent the token, and the time that is left. The
// owner does not travel. The callee stops in time, and its resource checks the token.
func ExampleLease_Token_lent() {
	callee := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, err := strconv.ParseInt(r.Header.Get("Lock-Token"), 10, 64)
		left, err2 := time.ParseDuration(r.Header.Get("Lock-Left"))
		if errors.Join(err, err2) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), left)
		defer cancel()
		fmt.Println("works until the lease is over, with a token:", ctx.Err() == nil && token > 0)
	}))
	defer callee.Close()

	nodes, disconnect := connect(1)
	defer disconnect()
	locks, err := lock.NewClient(nodes)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()
	err = reentrant.New(locks, "orders:42").Do(context.Background(), func(ctx context.Context) error {
		lease, _ := lock.FromContext(ctx)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, callee.URL, nil)
		if err != nil {
			return err
		}
		// A duration: the other machine's clock shows another time.
		r.Header.Set("Lock-Token", strconv.FormatInt(lease.Token(), 10))
		r.Header.Set("Lock-Left", time.Until(lease.Deadline()).String())
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		return answer.Body.Close()
	})
	http.DefaultClient.CloseIdleConnections()
	fmt.Println(err)
	// Output:
	// works until the lease is over, with a token: true
	// <nil>
}

// A readiness probe.
func ExampleClient_Health() {
	nodes, disconnect := connect(3)
	defer disconnect()
	locks, err := lock.NewClient(nodes)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()

	health := locks.Health(context.Background())
	for _, n := range health {
		if !n.Votes {
			fmt.Println(n.Address, "is out:", n.Err)
		}
	}
	fmt.Println("nodes that may go:", lock.Spare(health))
	// Output: nodes that may go: 1
}

// A goroutine that goes its own way waits for the lock as everybody else does.
func ExampleWithoutOwner() {
	nodes, disconnect := connect(1)
	defer disconnect()
	locks, err := lock.NewClient(nodes)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()
	orders := reentrant.New(locks, "orders:42")
	err = orders.Do(context.Background(), func(ctx context.Context) error {
		_, err := orders.TryLock(lock.WithoutOwner(ctx))
		fmt.Println(errors.Is(err, lock.ErrLocked))
		return nil
	})
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}
