// Cron shows a job that many schedulers start at the same time, and that only one of them runs,
// even though their clocks differ by more than the job takes.
//
//	go run ./examples/cron
//	go run ./examples/cron -redis localhost:6379
package main

import (
	"context"
	"errors"
	"fmt"
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
	times      = 3
	every      = 2 * time.Second
	work       = 100 * time.Millisecond
	apart      = 400 * time.Millisecond // how far apart the schedulers' clocks are
	// hold is how long the lock stays taken, however soon the work is done. It is longer than the
	// clocks differ, so that the last scheduler finds the lock taken, and it is over before the
	// next time.
	hold = 1200 * time.Millisecond
)

func schedule(ctx context.Context, redis *nodes.Set, tell *story.Teller) error {
	tell.Textf("%d schedulers, %d times, every %v; the work takes %v, and clocks are up to %v apart.", schedulers, times, every, work, apart)
	j := &journal{}
	start := time.Now()
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
			job := reentrant.New(locks, "job:backup", lock.WithMinHold(hold))
			wrong := time.Duration(i) * apart / (schedulers - 1) // by how much its clock is behind
			errs[i] = run(ctx, job, j, start.Add(wrong), fmt.Sprintf("cron %d", i+1), tell)
		})
	}
	running.Wait()
	tell.Textf("%d runs.", j.runs)
	return errors.Join(errs...)
}

// run is one scheduler. By its clock, the program began at start.
func run(ctx context.Context, job *reentrant.Mutex, j *journal, start time.Time, me string, tell *story.Teller) error {
	for slot := 1; slot <= times; slot++ {
		due := start.Add(time.Duration(slot) * every)
		if err := sleep(ctx, time.Until(due)); err != nil {
			return err
		}
		err := backup(ctx, job, j, slot, due, me, tell)
		// Another scheduler has the lock, or had it just now. If the journal does not show that,
		// this may still be the previous time, on a machine that was too busy for it, or the
		// scheduler that has the lock has died.
		for errors.Is(err, lock.ErrLocked) && !j.has(slot) {
			if err := sleep(ctx, work); err != nil {
				return err
			}
			err = backup(ctx, job, j, slot, due, me, tell)
		}
		if err != nil && !errors.Is(err, lock.ErrLocked) {
			return err
		}
	}
	return nil
}

// backup runs the job for slot unless that has been done.
func backup(ctx context.Context, job *reentrant.Mutex, j *journal, slot int, due time.Time, me string, tell *story.Teller) error {
	lease, err := job.TryLock(ctx)
	if err != nil {
		return err
	}
	defer lease.Unlock(ctx) // the lock is free when hold has passed since TryLock
	// The lock keeps two schedulers from running at once, and its minimum hold keeps them from
	// running one after the other. The journal covers what no lock can know: that a scheduler is
	// later than the clocks differ.
	if !j.begin(slot) {
		tell.Linef(me, "is %v late and finds that backup %d was run", time.Since(due).Round(time.Millisecond), slot)
		return nil
	}
	tell.Linef(me, "runs backup %d", slot)
	if err := sleep(ctx, work); err != nil {
		return err
	}
	return lease.Err() // still ours at the end?
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
