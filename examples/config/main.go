// Config shows a read-write lock: several services read a configuration of two keys in Redis, and
// an administrator changes both. Nobody sees one key changed without the other. One service is
// killed while it reads; its place is free after its TTL.
//
//	go run ./examples/config
//	go run ./examples/config -redis host1:6379,host2:6379,host3:6379
package main

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/examples/internal/fleet"
	"github.com/holdfast-go/holdfast/examples/internal/nodes"
	"github.com/holdfast-go/holdfast/examples/internal/story"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
)

func main() {
	if !fleet.Join(serve) {
		nodes.Main(3, administer)
	}
}

const (
	configName = "config"
	ttl        = 2 * time.Second // of a service that is killed while it reads
	slowly     = 200 * time.Millisecond
)

var services = []string{"api", "mail", "shop"}

// unlucky is the service that is killed while it reads.
const unlucky = "mail"

func administer(ctx context.Context, redis *nodes.Set, tell *story.Teller) error {
	locks, err := lock.NewClient(redis.Clients())
	if err != nil {
		return err
	}
	defer locks.Close()
	config := readwrite.New(locks, configName)
	store := settings{redis.Clients()[0]}
	if err := change(ctx, config, store, tell, "blue", "5432"); err != nil {
		return err
	}

	all, err := fleet.New(ctx, redis.Clients())
	if err != nil {
		return err
	}
	defer all.Close()
	for _, name := range services {
		if err := all.Start(name); err != nil {
			return err
		}
	}
	if err := hear(all, tell, len(services)); err != nil {
		return err
	}
	if err := change(ctx, config, store, tell, "green", "6543"); err != nil {
		return err
	}
	if err := hear(all, tell, len(services)); err != nil {
		return err
	}
	if err := all.Kill(unlucky); err != nil {
		return err
	}
	tell.Linef(unlucky, "is killed while it reads")
	began := time.Now()
	if err := change(ctx, config, store, tell, last, "7654"); err != nil {
		return err
	}
	tell.Linef("admin", "waited for %v, until the TTL of %s was over", time.Since(began).Round(10*time.Millisecond), unlucky)
	if err := all.HearAll(tell); err != nil {
		return err
	}
	tell.Textf("Nobody saw a host with the port of another.")
	return all.Wait()
}

// hear tells the next n things that services say.
func hear(all *fleet.Fleet, tell *story.Teller, n int) error {
	for range n {
		if _, _, err := all.Hear(tell); err != nil {
			return err
		}
	}
	return nil
}

// change writes both settings, with a pause between them, and reads what it wrote before anybody
// else can change it again: it releases the write lock while it reads.
func change(ctx context.Context, config *readwrite.Mutex, store settings, tell *story.Teller, host, port string) error {
	writing, err := config.Lock(ctx)
	if err != nil {
		return err
	}
	defer writing.Unlock(ctx) // a second time is no harm
	if err := store.set(ctx, "host", host); err != nil {
		return err
	}
	time.Sleep(slowly)
	if err := store.set(ctx, "port", port); err != nil {
		return err
	}
	reading, err := config.RLock(writing.Context(ctx))
	if err != nil {
		return err
	}
	defer reading.Unlock(ctx)
	// From here on others read, too, and nobody writes. What is told is told before they do.
	address, err := store.address(ctx)
	if err != nil {
		return err
	}
	tell.Linef("admin", "wrote %s, with token %d", address, writing.Token())
	return writing.Unlock(ctx)
}
