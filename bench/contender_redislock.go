package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

type redislockLocker struct {
	node    redis.UniversalClient
	client  *redislock.Client
	options *redislock.Options
	ttl     time.Duration
}

// openRedislock sets the pause between two tries.
func openRedislock(pause time.Duration) func(site) (locker, error) {
	return func(s site) (locker, error) {
		node := newClients(s)[0]
		return &redislockLocker{
			node:    node,
			client:  redislock.New(node),
			options: &redislock.Options{RetryStrategy: redislock.LinearBackoff(pause)},
			ttl:     s.ttl,
		}, nil
	}
}

func (l *redislockLocker) handle(name string) handle { return &redislockHandle{l, name} }

func (l *redislockLocker) close() { _ = l.node.Close() }

type redislockHandle struct {
	*redislockLocker
	name string
}

func (h *redislockHandle) lock(ctx context.Context) (held, error) {
	l, err := h.client.Obtain(ctx, h.name, h.ttl, h.options)
	if err != nil {
		return nil, err
	}
	return redislockHeld{l}, nil
}

type redislockHeld struct{ *redislock.Lock }

func (h redislockHeld) unlock() error { return h.Release(context.Background()) }
