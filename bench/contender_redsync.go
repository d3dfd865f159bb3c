package main

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

type redsyncLocker struct {
	nodes   []redis.UniversalClient
	sync    *redsync.Redsync
	options []redsync.Option
}

// openRedsync sets the pause between two tries; 0 leaves redsync's own.
func openRedsync(pause time.Duration) func(site) (locker, error) {
	return func(s site) (locker, error) {
		l := &redsyncLocker{nodes: newClients(s)}
		var pools []redsyncredis.Pool
		for _, n := range l.nodes {
			pools = append(pools, goredis.NewPool(n))
		}
		l.sync = redsync.New(pools...)
		l.options = []redsync.Option{redsync.WithExpiry(s.ttl), redsync.WithTries(math.MaxInt)}
		if pause > 0 {
			l.options = append(l.options, redsync.WithRetryDelay(pause))
		}
		return l, nil
	}
}

func (l *redsyncLocker) handle(name string) handle {
	return redsyncHandle{l.sync.NewMutex(name, l.options...)}
}

func (l *redsyncLocker) close() { closeClients(l.nodes) }

type redsyncHandle struct{ *redsync.Mutex }

func (h redsyncHandle) lock(ctx context.Context) (held, error) {
	if err := h.LockContext(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

func (h redsyncHandle) unlock() error {
	ok, err := h.Unlock()
	if err == nil && !ok {
		err = errors.New("redsync: the lock was lost")
	}
	return err
}
