// Fencing shows what no lock can do alone. A holder is paused, its lease ends, and another holder
// gets the lock and reads. Then the first one wakes up and writes before it looks at its lease. The
// resource stops it, because the second one has claimed the resource, with its greater fencing
// token, before it read.
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

const ttl = 500 * time.Millisecond

func fence(ctx context.Context, redis *nodes.Set, tell *story.Teller) error {
	// Ann and Bob are two programs. A pause of a whole program (a long garbage collection, a
	// virtual machine that moves, a closed lid) stops its watchdog too. Here only Ann's code is
	// paused, so she has no watchdog.
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
	report := &document{text: "two pages"}

	anns, err := reentrant.New(ann, "report").Lock(ctx)
	if err != nil {
		return err
	}
	tell.Linef("ann", "locked %q for %v, with token %d", anns.Name(), ttl, anns.Token())
	text, err := report.claim(anns.Token())
	if err != nil {
		return err
	}
	tell.Linef("ann", "claimed the report and read %q, and is paused", text)

	bobs, err := reentrant.New(bob, "report").Lock(ctx)
	if err != nil {
		return err
	}
	defer bobs.Unlock(ctx)
	tell.Linef("bob", "locked it once ann's lease had ended, with token %d", bobs.Token())
	read, err := report.claim(bobs.Token())
	if err != nil {
		return err
	}
	tell.Linef("bob", "claimed the report and read %q, and works on it", read)

	// A paused program does its next step, whatever that is, before it can look.
	tell.Linef("ann", "wakes up, and writes with token %d", anns.Token())
	err = report.write(anns.Token(), text+" and ann's")
	if !errors.Is(err, errStale) {
		return errors.Join(errors.New("the report should have refused a stale token"), err)
	}
	tell.Linef("report", "refuses: %v", err)
	tell.Linef("ann", "looks at her lease: %v", anns.Err())

	if err := report.write(bobs.Token(), read+" and bob's"); err != nil {
		return err
	}
	tell.Linef("bob", "writes")
	tell.Linef("report", "reads %q", report.text)
	return nil
}
