package election_test

import (
	"context"
	"fmt"
	"log"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/lock"
)

// connect stands for what a program does to reach its Redis.
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
	return locks, func() {
		_ = locks.Close()
		_ = rdb.Close()
		server.Close()
	}
}

func ExampleElection_Run() {
	locks, disconnect := connect()
	defer disconnect()

	e := election.New(locks, "scheduler", "web-3")
	err := e.Run(context.Background(), func(ctx context.Context, term election.Term) error {
		fmt.Println(term.Candidate, "leads:", ctx.Err() == nil)
		return nil // it resigns
	})
	fmt.Println(err)
	// Output:
	// web-3 leads: true
	// <nil>
}

func ExampleElection_Watch() {
	locks, disconnect := connect()
	defer disconnect()
	ctx, cancel := context.WithCancel(context.Background())
	leads, returned := make(chan struct{}), make(chan struct{})
	defer func() { // before the client is closed, which would not wait for the leader
		cancel()
		<-returned
	}()

	go func() {
		defer close(returned)
		_ = election.New(locks, "scheduler", "web-3").Run(ctx, func(ctx context.Context, _ election.Term) error {
			close(leads)
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	<-leads

	observer := election.New(locks, "scheduler", "") // no candidate
	for term, err := range observer.Watch(ctx) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println("the leader is", term.Candidate)
		break
	}
	// Output: the leader is web-3
}
