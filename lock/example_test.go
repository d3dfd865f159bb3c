package lock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// connect stands for what a program does to reach its Redis servers. Here they are
// embedded ones.
func connect(n int) (nodes []redis.UniversalClient, disconnect func()) {
	var stops []func()
	for range n {
		server, err := miniredis.Run()
		if err != nil {
			log.Fatal(err)
		}
		server.ClockTTL(true)
		client := redis.NewClient(&redis.Options{Addr: server.Addr()})
		nodes = append(nodes, client)
		stops = append(stops, func() { _ = client.Close(); server.Close() })
	}
	return nodes, func() {
		for _, stop := range stops {
			stop()
		}
	}
}

func Example() {
	nodes, disconnect := connect(1)
	defer disconnect()
	ctx := context.Background()

	locks, err := lock.NewClient(nodes)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()

	orders := reentrant.New(locks, "orders:42")
	lease, err := orders.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)

	ctx = lease.Context(ctx) // carries ownership, and ends when the lease is lost
	fmt.Println("held:", lease.Err() == nil, ctx.Err() == nil)
	// Output: held: true true
}

// Five independent masters: three of them must agree, and two may be down.
func ExampleNewClient_fiveMasters() {
	nodes, disconnect := connect(5)
	defer disconnect()
	ctx := context.Background()

	locks, err := lock.NewClient(nodes,
		lock.WithTTL(10*time.Second),
		lock.WithNodeTimeout(100*time.Millisecond),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()

	ledger := reentrant.New(locks, "ledger")
	lease, err := ledger.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)

	state, err := ledger.Inspect(ctx)
	fmt.Println(state.Held, state.Holder == lease.ID(), len(state.Nodes), err)
	// Output: true true 5 <nil>
}

// Calls that do not know of each other re-enter what one of them holds, if they share
// an owner.
func ExampleWithOwner() {
	nodes, disconnect := connect(1)
	defer disconnect()
	locks, err := lock.NewClient(nodes)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()
	orders := reentrant.New(locks, "orders:42")

	ctx := lock.WithOwner(context.Background())
	first, err := orders.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	second, err := orders.Lock(ctx) // the same owner: at once
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("counts:", first.Count(), second.Count())
	fmt.Println("same token:", first.Token() == second.Token())

	_, err = orders.TryLock(context.Background()) // another owner
	fmt.Println("another:", errors.Is(err, lock.ErrLocked))

	// In any order; the last one frees the lock.
	fmt.Println(first.Unlock(ctx), second.Unlock(ctx))
	// Output:
	// counts: 1 2
	// same token: true
	// another: true
	// <nil> <nil>
}

// The resource remembers the greatest token and refuses a lesser one, so that a holder
// that was paused for too long can do no harm.
func ExampleLease_Token() {
	nodes, disconnect := connect(1)
	defer disconnect()
	ctx := context.Background()
	locks, err := lock.NewClient(nodes)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()
	orders := reentrant.New(locks, "orders:42")

	var greatest int64
	write := func(token int64) error {
		if token < greatest {
			return errors.New("stale token")
		}
		greatest = token
		return nil
	}

	earlier, err := orders.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("earlier holder:", write(earlier.Token()))
	earlier.Unlock(ctx)

	later, err := orders.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer later.Unlock(ctx)
	fmt.Println("later holder:", write(later.Token()))
	fmt.Println("earlier holder, late:", write(earlier.Token()))
	// Output:
	// earlier holder: <nil>
	// later holder: <nil>
	// earlier holder, late: stale token
}

// Work under the lease's context stops when the lock is lost.
func ExampleLease_Context() {
	nodes, disconnect := connect(1)
	defer disconnect()
	ctx := context.Background()
	locks, err := lock.NewClient(nodes)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()
	orders := reentrant.New(locks, "orders:42")

	lease, err := orders.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)
	ctx = lease.Context(ctx)

	// An operator ends the lock by force.
	if _, err := orders.ForceUnlock(context.Background()); err != nil {
		log.Fatal(err)
	}

	<-ctx.Done()
	fmt.Println(errors.Is(context.Cause(ctx), lock.ErrLost))
	var lost *lock.LeaseError
	if errors.As(lease.Err(), &lost) {
		fmt.Println(lost.Name, lost.Reason)
	}
	// Output:
	// true
	// orders:42 it was ended by ForceUnlock
}

// Without the watchdog a lease ends after its TTL, unless it is extended.
func ExampleLease_Extend() {
	nodes, disconnect := connect(1)
	defer disconnect()
	ctx := context.Background()
	locks, err := lock.NewClient(nodes)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()
	orders := reentrant.New(locks, "orders:42", lock.WithTTL(10*time.Second), lock.WithoutWatchdog())

	lease, err := orders.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)
	if err := lease.Extend(ctx, time.Minute); err != nil {
		log.Fatal(err)
	}
	fmt.Println("more than 30 s left:", time.Until(lease.Deadline()) > 30*time.Second)
	// Output: more than 30 s left: true
}

// A Lock that gave up tells who has the lock.
func ExampleAcquireError() {
	nodes, disconnect := connect(1)
	defer disconnect()
	ctx := context.Background()
	locks, err := lock.NewClient(nodes)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()
	orders := reentrant.New(locks, "orders:42")
	lease, err := orders.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)

	waiting, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err = orders.Lock(waiting)

	var gaveUp *lock.AcquireError
	if errors.As(err, &gaveUp) {
		fmt.Println(gaveUp.Name, gaveUp.Err, gaveUp.Holder == lease.ID())
	}
	// Output: orders:42 context deadline exceeded true
}

// Whatever kind of mutex it is, code that uses one can take a Locker.
func ExampleLocker() {
	nodes, disconnect := connect(1)
	defer disconnect()
	locks, err := lock.NewClient(nodes)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()

	nightly := func(ctx context.Context, l lock.Locker) error {
		return l.Do(ctx, func(context.Context) error {
			fmt.Println("alone with", l.Name())
			return nil
		})
	}
	if err := nightly(context.Background(), reentrant.New(locks, "report")); err != nil {
		log.Fatal(err)
	}
	// Output: alone with report
}
