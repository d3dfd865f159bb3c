package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// polling is a semaphore of the kind that people write: the holders are in a sorted set by the time at which
// they end, a script sweeps those whose time is over and counts the rest, and whoever does not come in tries
// again every 10 ms. It has no order and no renewal.
type polling struct {
	node *redis.Client
	ttl  time.Duration
	ids  atomic.Int64
	id   string
}

var pollingTake = redis.NewScript(`
local now = redis.call('TIME')
local at = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', at)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], at + ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`)

func openPolling(s site) (locker, error) {
	return &polling{node: newClient(s.addrs[0], s.seen), ttl: s.ttl, id: fmt.Sprint(now())}, nil
}

func (p *polling) handle(name string) handle { return pollingHandle{p, "polling:" + name} }

func (p *polling) close() { _ = p.node.Close() }

type pollingHandle struct {
	*polling
	key string
}

func (h pollingHandle) lock(ctx context.Context) (held, error) {
	id := fmt.Sprint(h.id, ":", h.ids.Add(1))
	for {
		got, err := pollingTake.Run(ctx, h.node, []string{h.key}, permits, h.ttl.Milliseconds(), id).Int()
		if err != nil {
			return nil, err
		}
		if got == 1 {
			return pollingHeld{h, id}, nil
		}
		select {
		case <-time.After(countingPause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

type pollingHeld struct {
	pollingHandle
	id string
}

func (h pollingHeld) unlock() error {
	n, err := h.node.ZRem(context.Background(), h.key, h.id).Result()
	if err == nil && n == 0 {
		return errors.New("it was not there any more")
	}
	return err
}
