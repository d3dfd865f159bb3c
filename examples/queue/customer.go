package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
)

// queueUp is what a customer does: wait, be served, and come again.
func queueUp(ctx context.Context, name string, nodes []redis.UniversalClient) error {
	locks, err := lock.NewClient(nodes)
	if err != nil {
		return err
	}
	defer locks.Close()
	desk := fair.New(locks, counter)
	for visit := 1; visit <= visits; visit++ {
		fmt.Printf("%s arrives, visit %d, process %d\n", name, visit, os.Getpid())
		lease, err := desk.Lock(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("%s is served, visit %d, token %d\n", name, visit, lease.Token())
		time.Sleep(service)
		// This comes before the unlock. After it, the next customer may be quicker to speak.
		fmt.Printf("%s leaves\n", name)
		if err := lease.Unlock(ctx); err != nil {
			return err
		}
	}
	return nil
}
