// Fencing shows what no lock can do alone. A holder is paused, its lease ends, another
// gets the lock; then the first one wakes up and writes before it looks. The resource
// stops it, because it remembers the greatest fencing token it has seen.
//
//	go run ./examples/fencing
//	go run ./examples/fencing -redis localhost:6379
package main

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/examples/internal/nodes"
	"github.com/holdfast-go/holdfast/examples/internal/story"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

func main() { nodes.Main(1, fence) }

const (
	ttl   = 500 * time.Millisecond
	pause = time.Second
)

func fence(ctx context.Context, redis *nodes.Set, tell *story.Teller) error {
	// Ann and Bob are two programs. A pause of a whole program - a long garbage
	// collection, a virtual machine that moves, a closed lid - stops its watchdog too.
	// Here only Ann's code is paused, so her watchdog is left out.
	ann, err := lock.NewClient(redis.Clients(), lock.WithTTL(ttl), lock.WithoutWatchdog())
	if err != nil {
		return err
	}
	defer ann.Close()
	bob, err := lock.NewClient(redis.Clients(), lock.WithTTL(ttl))
	if err != nil {
		return err
	}
	defer bob.Close()
	report := &document{}

	lease, err := reentrant.New(ann, "report").Lock(ctx)
	if err != nil {
		return err
	}
	tell.Linef("ann", "locked %q for %v, with token %d", lease.Name(), ttl, lease.Token())
	if err := report.write(lease.Token(), "ann's draft"); err != nil {
		return err
	}
	tell.Linef("ann", "wrote her draft, and is paused")

	bobWrote := make(chan error, 1)
	go func() { bobWrote <- replace(ctx, bob, report, tell) }()
	time.Sleep(pause)
	if err := <-bobWrote; err != nil {
		return err
	}

	// What a paused program does next, whatever it is, it does before it can look.
	tell.Linef("ann", "wakes up, and writes with token %d", lease.Token())
	err = report.write(lease.Token(), "ann's last words")
	if !errors.Is(err, errStale) {
		return errors.Join(errors.New("the report should have refused a stale token"), err)
	}
	tell.Linef("report", "refuses: %v", err)
	tell.Linef("ann", "looks at her lease: %v", lease.Err())
	tell.Linef("report", "reads %q", report.text)
	return nil
}

func replace(ctx context.Context, locks *lock.Client, report *document, tell *story.Teller) error {
	lease, err := reentrant.New(locks, "report").Lock(ctx)
	if err != nil {
		return err
	}
	defer lease.Unlock(ctx)
	tell.Linef("bob", "locked it once ann's lease had ended, with token %d", lease.Token())
	if err := report.write(lease.Token(), "bob's report"); err != nil {
		return err
	}
	tell.Linef("bob", "wrote his report")
	return nil
}
