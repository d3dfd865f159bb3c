// Cron shows a job that every one of many schedulers starts at the same time, and that
// only one of them runs.
//
//	go run ./examples/cron
//	go run ./examples/cron -redis localhost:6379
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/examples/internal/nodes"
	"github.com/holdfast-go/holdfast/examples/internal/story"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

func main() { nodes.Main(1, schedule) }

const (
	schedulers = 5
	times      = 4
	every      = 500 * time.Millisecond
	work       = 100 * time.Millisecond
	late       = 300 * time.Millisecond // how far apart the schedulers' clocks may be
)

func schedule(ctx context.Context, redis *nodes.Set, tell *story.Teller) error {
	tell.Textf("%d schedulers, %d times, every %v.", schedulers, times, every)
	j := &journal{}
	errs := make([]error, schedulers)
	var running sync.WaitGroup
	for i := range schedulers {
		running.Go(func() {
			// Each scheduler is a program of its own, with a client of its own.
			locks, err := lock.NewClient(redis.Clients())
			if err != nil {
				errs[i] = err
				return
			}
			defer locks.Close()
			errs[i] = run(ctx, reentrant.New(locks, "job:backup"), j, fmt.Sprintf("cron %d", i+1), tell)
		})
	}
	running.Wait()
	tell.Textf("%d runs.", j.runs)
	return errors.Join(errs...)
}

// run is one scheduler.
func run(ctx context.Context, job *reentrant.Mutex, j *journal, me string, tell *story.Teller) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for slot := 1; slot <= times; slot++ {
		<-tick.C
		time.Sleep(rand.N(late)) // no two clocks are the same
		err := backup(ctx, job, j, slot, me, tell)
		// Another runs it now. Who must have it done even if that one dies in the middle
		// calls Lock in place of TryLock: it waits, and then finds it done, or not.
		if err != nil && !errors.Is(err, lock.ErrLocked) {
			return err
		}
	}
	return nil
}

// backup runs the job for slot unless that has been done.
func backup(ctx context.Context, job *reentrant.Mutex, j *journal, slot int, me string, tell *story.Teller) error {
	lease, err := job.TryLock(ctx)
	if err != nil {
		return err
	}
	defer lease.Unlock(ctx)
	// The lock keeps two from running at once. The journal keeps a scheduler whose
	// clock is behind from running again what was done before it came.
	if !j.begin(slot) {
		return nil
	}
	tell.Linef(me, "runs backup %d", slot)
	time.Sleep(work)
	return lease.Err() // still ours at the end?
}
