package main

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/semaphore"
)

// call is the work of a caller: take a permit, call the service, and give the permit back.
func call(ctx context.Context, name string, nodes []redis.UniversalClient) error {
	locks, err := lock.NewClient(nodes, lock.WithTTL(ttl))
	if err != nil {
		return err
	}
	defer locks.Close()
	permits := semaphore.New(locks, permitsName, limit)
	url, err := nodes[0].Get(ctx, address).Result()
	if err != nil {
		return err
	}
	fmt.Printf("%s arrives\n", name)
	for range calls {
		err := permits.Do(ctx, 1, func(ctx context.Context) error {
			fmt.Printf("%s calls\n", name)
			if name == unlucky {
				url += "?forever" // it is killed meanwhile
			}
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				return err
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				return err
			}
			defer response.Body.Close()
			if response.StatusCode != http.StatusOK {
				return fmt.Errorf("the service said %s", response.Status)
			}
			_, err = io.Copy(io.Discard, response.Body)
			return err
		})
		if err != nil {
			return err
		}
		fmt.Printf("%s is served\n", name)
	}
	return nil
}
