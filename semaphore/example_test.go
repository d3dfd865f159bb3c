package semaphore_test

import (
	"context"
	"fmt"
	"log"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/semaphore"
)

// connect stands for the program's own Redis.
func connect() (*lock.Client, func()) {
	memory, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	rdb := redis.NewClient(&redis.Options{Addr: memory.Addr()})
	locks, err := lock.NewClient([]redis.UniversalClient{rdb})
	if err != nil {
		log.Fatal(err)
	}
	return locks, func() {
		_ = locks.Close()
		_ = rdb.Close()
		memory.Close()
	}
}

// Five calls at once, in all processes together.
func ExampleSemaphore_Do() {
	locks, end := connect()
	defer end()
	calls := semaphore.New(locks, "billing-api", 5)
	err := calls.Do(context.Background(), 1, func(context.Context) error {
		fmt.Println("calling") // with that context, which ends if the permit is lost
		return nil
	})
	fmt.Println(err)
	// Output:
	// calling
	// <nil>
}

// Each worker gets a number that no other has.
func ExamplePermit_Slots() {
	locks, end := connect()
	defer end()
	ctx := context.Background()
	seats := semaphore.New(locks, "workers", 100)
	for range 3 {
		permit, err := seats.Acquire(ctx, 1)
		if err != nil {
			log.Fatal(err)
		}
		defer permit.Release(ctx)
		fmt.Println("worker", permit.Slots()[0])
	}
	// Output:
	// worker 0
	// worker 1
	// worker 2
}

// Several permits are taken at once, or none.
func ExampleSemaphore_TryAcquire() {
	locks, end := connect()
	defer end()
	ctx := context.Background()
	memory := semaphore.New(locks, "gigabytes", 8)
	small, err := memory.TryAcquire(ctx, 3)
	if err != nil {
		log.Fatal(err)
	}
	_, err = memory.TryAcquire(ctx, 6)
	fmt.Println(err != nil)
	if err := small.Release(ctx); err != nil {
		log.Fatal(err)
	}
	large, err := memory.TryAcquire(ctx, 6)
	if err != nil {
		log.Fatal(err)
	}
	defer large.Release(ctx)
	fmt.Println(large.Slots())
	// Output:
	// true
	// [0 1 2 3 4 5]
}

// Who has which permits, and who waits.
func ExampleSemaphore_Inspect() {
	locks, end := connect()
	defer end()
	ctx := context.Background()
	calls := semaphore.New(locks, "billing-api", 5)
	permit, err := calls.Acquire(ctx, 2)
	if err != nil {
		log.Fatal(err)
	}
	defer permit.Release(ctx)
	state, err := calls.Inspect(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(state.InUse, "of", state.Permits)
	for _, slot := range state.Slots {
		fmt.Println(slot.Number, slot.Holder == permit.ID())
	}
	// Output:
	// 2 of 5
	// 0 true
	// 1 true
}
