package main

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/lock"
)

const (
	ttl   = time.Second // a leader that is killed is succeeded within that
	pause = 100 * time.Millisecond
	turn  = 4 // steps after which one resigns who goes on with another's work
)

// campaign is the work of each process: it is a candidate until it is elected, and then leads. The
// first leader would continue forever; the others do a few steps and resign.
func campaign(ctx context.Context, name string, nodes []redis.UniversalClient) error {
	locks, err := lock.NewClient(nodes, lock.WithTTL(ttl))
	if err != nil {
		return err
	}
	defer locks.Close()
	w := work{nodes[0]}
	return election.New(locks, electionName, name).Run(ctx, func(ctx context.Context, term election.Term) error {
		done, err := w.claim(ctx, term.Token)
		if err != nil {
			return err
		}
		fmt.Printf("%s leads term %d, and continues after step %d\n", name, term.Token, done)
		for begun := done; begun == 0 || done < begun+turn; {
			select {
			case <-time.After(pause):
			case <-ctx.Done(): // it leads no more
				return ctx.Err()
			}
			if done, err = w.step(ctx, term.Token); err != nil {
				return err
			}
			fmt.Printf("%s has done step %d\n", name, done)
		}
		fmt.Printf("%s resigns\n", name)
		return nil
	})
}
