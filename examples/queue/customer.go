package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
)

// customerWord is the first argument of a program that is a customer. The name and the
// addresses of the nodes follow.
const customerWord = "customer"

func isCustomer(args []string) bool { return len(args) == 4 && args[1] == customerWord }

// beCustomer is the main function of such a program.
func beCustomer(args []string) {
	logging.Disable() // should the nodes end before it does
	// Whoever started it keeps its input open.
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	name, addresses := args[2], strings.Split(args[3], ",")
	if err := queueUp(ctx, name, addresses); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// queueUp is what a customer does: wait, be served, and come again.
func queueUp(ctx context.Context, name string, addresses []string) error {
	nodes := make([]redis.UniversalClient, len(addresses))
	for i, address := range addresses {
		nodes[i] = redis.NewClient(&redis.Options{Addr: address})
	}
	locks, err := lock.NewClient(nodes)
	if err != nil {
		return err
	}
	defer locks.Close()
	desk := fair.New(locks, counter)
	for visit := 1; visit <= visits; visit++ {
		fmt.Printf("%s comes, visit %d, process %d\n", name, visit, os.Getpid())
		lease, err := desk.Lock(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("%s is served, visit %d, token %d\n", name, visit, lease.Token())
		time.Sleep(service)
		// Before the unlock: after it, the next one may be quicker to speak.
		fmt.Printf("%s goes\n", name)
		if err := lease.Unlock(ctx); err != nil {
			return err
		}
	}
	return nil
}
