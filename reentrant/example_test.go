package reentrant_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lock"
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

func ExampleMutex_Lock() {
	locks, disconnect := connect()
	defer disconnect()
	ctx := context.Background()

	orders := reentrant.New(locks, "orders:42")
	lease, err := orders.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("locked", lease.Name())
	fmt.Println("unlocked:", lease.Unlock(ctx))
	// Output:
	// locked orders:42
	// unlocked: <nil>
}

// A function that needs the lock takes it, whether or not its caller has it.
func ExampleMutex_Lock_reentry() {
	locks, disconnect := connect()
	defer disconnect()
	orders := reentrant.New(locks, "orders:42")

	ship := func(ctx context.Context) error {
		lease, err := orders.Lock(ctx)
		if err != nil {
			return err
		}
		defer lease.Unlock(ctx)
		fmt.Println("count:", lease.Count())
		return nil
	}

	ctx := context.Background()
	lease, err := orders.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)
	fmt.Println(ship(lease.Context(ctx)))
	// Output:
	// count: 2
	// <nil>
}

func ExampleMutex_Do() {
	locks, disconnect := connect()
	defer disconnect()

	orders := reentrant.New(locks, "orders:42")
	err := orders.Do(context.Background(), func(ctx context.Context) error {
		// Nobody else is here. ctx ends if the lock is lost.
		fmt.Println("shipping")
		return ctx.Err()
	})
	fmt.Println(err)
	// Output:
	// shipping
	// <nil>
}

func ExampleMutex_TryLock() {
	locks, disconnect := connect()
	defer disconnect()
	ctx := context.Background()
	orders := reentrant.New(locks, "orders:42")

	lease, err := orders.TryLock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)

	// ctx carries no owner, so this is somebody else, through the same *Mutex.
	_, err = orders.TryLock(ctx)
	fmt.Println("locked by another:", errors.Is(err, lock.ErrLocked))
	// Output: locked by another: true
}

func ExampleMutex_Inspect() {
	locks, disconnect := connect()
	defer disconnect()
	ctx := context.Background()
	orders := reentrant.New(locks, "orders:42")

	lease, err := orders.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)

	state, err := orders.Inspect(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(state.Held, state.Count, state.Holder == lease.ID(), state.Token == lease.Token())
	// Output: true 1 true true
}

// An operator ends a lock whoever holds it. The holder's lease is lost.
func ExampleMutex_ForceUnlock() {
	locks, disconnect := connect()
	defer disconnect()
	ctx := context.Background()
	orders := reentrant.New(locks, "orders:42")

	lease, err := orders.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	ended, err := orders.ForceUnlock(ctx)
	fmt.Println(ended, err)
	fmt.Println(errors.Is(lease.Unlock(ctx), lock.ErrLost))
	// Output:
	// true <nil>
	// true
}
