package multi_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/reentrant"
)

// connect stands for what a program does once, at its start. Here the server is an
// embedded one.
func connect() (locks *lock.Client, disconnect func()) {
	server, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	locks, err = lock.NewClient([]redis.UniversalClient{rdb})
	if err != nil {
		log.Fatal(err)
	}
	return locks, func() { _ = locks.Close(); _ = rdb.Close(); server.Close() }
}

func ExampleMutex_Do() {
	locks, disconnect := connect()
	defer disconnect()

	balance := map[string]int{"ann": 100, "bob": 20}
	account := func(name string) lock.Locker { return reentrant.New(locks, "account:"+name) }

	// Whoever transfers from bob to ann at the same moment gives the locks in the other order.
	err := multi.New(account("ann"), account("bob")).Do(context.Background(), func(ctx context.Context) error {
		// Nobody else has either account. ctx ends if either lock is lost.
		balance["ann"] -= 30
		balance["bob"] += 30
		return ctx.Err()
	})
	fmt.Println(err, balance)
	// Output: <nil> map[ann:70 bob:50]
}

func ExampleMutex_Lock() {
	locks, disconnect := connect()
	defer disconnect()
	ctx := context.Background()

	shelves := multi.New(reentrant.New(locks, "shelf:7"), reentrant.New(locks, "shelf:3"))
	lease, err := shelves.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range lease.Leases() { // in the order in which New was given the locks
		fmt.Println(l.Name(), "has a token:", l.Token() > 0)
	}
	fmt.Println("unlocked:", lease.Unlock(ctx))
	// Output:
	// shelf:7 has a token: true
	// shelf:3 has a token: true
	// unlocked: <nil>
}

func ExampleMutex_TryLock() {
	locks, disconnect := connect()
	defer disconnect()
	ctx := context.Background()

	one, err := reentrant.New(locks, "shelf:3").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer one.Unlock(ctx)

	_, err = multi.New(reentrant.New(locks, "shelf:7"), reentrant.New(locks, "shelf:3")).TryLock(ctx)
	var e *lock.AcquireError
	if errors.As(err, &e) && errors.Is(err, lock.ErrLocked) {
		fmt.Println("somebody has", e.Name)
	}
	// Output: somebody has shelf:3
}

// The context of the work ends with the first lock that is lost, and its cause names it.
func ExampleLease_Context() {
	locks, disconnect := connect()
	defer disconnect()

	shelf := reentrant.New(locks, "shelf:3")
	err := multi.New(reentrant.New(locks, "shelf:7"), shelf).Do(context.Background(), func(ctx context.Context) error {
		if _, err := shelf.ForceUnlock(ctx); err != nil { // an operator, elsewhere
			return err
		}
		<-ctx.Done()
		var e *lock.LeaseError
		if errors.As(context.Cause(ctx), &e) {
			fmt.Println("lost", e.Name)
		}
		return nil
	})
	fmt.Println(errors.Is(err, lock.ErrLost))
	// Output:
	// lost shelf:3
	// true
}
