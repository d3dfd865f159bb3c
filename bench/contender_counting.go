package main

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// counting is a read-write lock of the kind that people write: the readers are a number, the server is asked for
// each of them, and whoever does not come in tries again every 10 ms. It knows no deadlines of its readers, no
// order and no renewal.
type counting struct {
	node *redis.Client
	ttl  time.Duration
}

// countingPause is between two tries.
const countingPause = 10 * time.Millisecond

var (
	countingRead = redis.NewScript(`
if redis.call('HEXISTS', KEYS[1], 'writer') == 1 then return 0 end
redis.call('HINCRBY', KEYS[1], 'readers', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`)
	countingWrite = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'writer', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`)
	countingLeave = redis.NewScript(`
if redis.call('HINCRBY', KEYS[1], 'readers', -1) <= 0 then redis.call('DEL', KEYS[1]) end
return 1`)
)

func openCounting(s site) (locker, error) {
	return &counting{node: newClient(s.addrs[0], s.seen), ttl: s.ttl}, nil
}

func (c *counting) handle(name string) handle { return countingHandle{c, "counting:" + name} }

func (c *counting) close() { _ = c.node.Close() }

type countingHandle struct {
	*counting
	key string
}

func (h countingHandle) lock(ctx context.Context) (held, error) {
	return countingHeld{h, false}, h.until(ctx, countingWrite)
}

func (h countingHandle) rlock(ctx context.Context) (held, error) {
	return countingHeld{h, true}, h.until(ctx, countingRead)
}

// until runs a script until it returns 1.
func (h countingHandle) until(ctx context.Context, s *redis.Script) error {
	for {
		got, err := s.Run(ctx, h.node, []string{h.key}, h.ttl.Milliseconds()).Int()
		if got == 1 || err != nil {
			return err
		}
		select {
		case <-time.After(countingPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

type countingHeld struct {
	countingHandle
	reads bool
}

func (h countingHeld) unlock() error {
	ctx := context.Background()
	if h.reads {
		return countingLeave.Run(ctx, h.node, []string{h.key}).Err()
	}
	n, err := h.node.Del(ctx, h.key).Result()
	if err == nil && n == 0 {
		return errors.New("it was not there any more")
	}
	return err
}
