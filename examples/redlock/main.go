// Redlock shows the purpose of a quorum: two of five masters die while a lock is held, and it stays
// held. When a third one dies, nobody can prove any more who has the lock, and the holder is told
// in time.
//
//	go run ./examples/redlock
//	go run ./examples/redlock -redis host1:6379,host2:6379,host3:6379,...
//
// Real nodes are not killed but cut off from this program. To see them die, stop them
// yourself while it runs.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/examples/internal/nodes"
	"github.com/holdfast-go/holdfast/examples/internal/story"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

func main() { nodes.Main(5, surviveMinority) }

// The TTL is short, so that you need not wait to see it pass. The default is 30 seconds.
const ttl = 1500 * time.Millisecond

func surviveMinority(ctx context.Context, redis *nodes.Set, tell *story.Teller) error {
	masters := redis.Clients()
	quorum := len(masters)/2 + 1
	minority := len(masters) - quorum
	if minority == 0 {
		return fmt.Errorf("%d nodes cannot lose one: name at least three", len(masters))
	}

	// Ann and Bob are two programs, each with a client over all masters.
	ann, err := lock.NewClient(masters, lock.WithTTL(ttl))
	if err != nil {
		return err
	}
	defer ann.Close()
	bob, err := lock.NewClient(masters, lock.WithTTL(ttl))
	if err != nil {
		return err
	}
	defer bob.Close()

	lease, err := reentrant.New(ann, "ledger").Lock(ctx)
	if err != nil {
		return err
	}
	defer lease.Unlock(ctx)
	tell.Linef("ann", "locked %q for %v on %d masters; %d of them are a quorum", lease.Name(), ttl, len(masters), quorum)

	for i := range minority {
		tell.Linef("redis", "%s", redis.Take(i))
	}
	time.Sleep(2 * ttl)
	if err := lease.Err(); err != nil {
		return err
	}
	tell.Linef("ann", "still has it after two TTLs: a quorum confirms each renewal")
	_, err = reentrant.New(bob, "ledger").TryLock(ctx)
	if !errors.Is(err, lock.ErrLocked) {
		return errors.Join(errors.New("bob should have been refused"), err)
	}
	tell.Linef("bob", "tried it: %v", lock.ErrLocked)

	tell.Linef("redis", "%s", redis.Take(minority))
	<-lease.Done()
	tell.Linef("ann", "stops: %s", reason(lease.Unlock(ctx)))
	waiting, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err = reentrant.New(bob, "ledger").Lock(waiting); !errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(errors.New("bob should have waited in vain"), err)
	}
	tell.Linef("bob", "waited for it in vain: %d masters are not a quorum", quorum-1)
	return nil
}

// reason returns why a lease is over.
func reason(err error) string {
	var over *lock.LeaseError
	if !errors.As(err, &over) {
		return fmt.Sprint(err)
	}
	return fmt.Sprintf("%v, %s", over.Err, over.Reason)
}
