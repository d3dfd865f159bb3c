package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
)

// last is the host at which services stop.
const last = "red"

// hosts have ports of their own.
var hosts = map[string]string{"blue": "5432", "green": "6543", last: "7654"}

// serve is the work of a service: it reads the configuration again and again, and reports changes.
func serve(ctx context.Context, name string, nodes []redis.UniversalClient) error {
	locks, err := lock.NewClient(nodes, lock.WithTTL(ttl))
	if err != nil {
		return err
	}
	defer locks.Close()
	config := readwrite.New(locks, configName)
	store := settings{nodes[0]}
	for seen := ""; ; time.Sleep(10 * time.Millisecond) {
		reading, err := config.RLock(ctx)
		if err != nil {
			return err
		}
		host, port, err := store.both(ctx)
		if err != nil {
			return err
		}
		if reading.Err() != nil {
			continue // it took longer than the TTL, so somebody may have written meanwhile
		}
		if hosts[host] != port {
			return fmt.Errorf("%s has the port of another: %s", host, port)
		}
		if host != seen {
			seen = host
			fmt.Printf("%s reads %s:%s, with token %d\n", name, host, port, reading.Token())
			if name == unlucky && host == "green" {
				select {} // it is still reading when it is killed
			}
		}
		if err := reading.Unlock(ctx); err != nil && !errors.Is(err, lock.ErrLost) {
			return err
		}
		if seen == last {
			return nil
		}
	}
}

// settings are the configuration. Each setting is a separate key, so only the lock keeps them
// consistent.
type settings struct{ redis redis.UniversalClient }

func (s settings) set(ctx context.Context, what, value string) error {
	return s.redis.Set(ctx, "example:config:"+what, value, time.Hour).Err()
}

func (s settings) both(ctx context.Context) (host, port string, err error) {
	if host, err = s.redis.Get(ctx, "example:config:host").Result(); err != nil {
		return "", "", err
	}
	port, err = s.redis.Get(ctx, "example:config:port").Result()
	return host, port, err
}

func (s settings) address(ctx context.Context) (string, error) {
	host, port, err := s.both(ctx)
	return host + ":" + port, err
}
