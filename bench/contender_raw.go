package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// The least that taking and giving back a key by script can be.
var (
	bareAcquire = redis.NewScript(`return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])`)
	bareRelease = redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)
)

// loadBare makes the scripts known to the nodes.
func loadBare(nodes []redis.UniversalClient) error {
	for _, n := range nodes {
		for _, s := range []*redis.Script{bareAcquire, bareRelease} {
			if err := s.Load(context.Background(), n).Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// raw sends both scripts to all nodes and waits for all of them. It looks at nothing.
type raw struct {
	nodes []redis.UniversalClient
	pipes []*redis.AutoPipeliner
	ttl   int64
	ids   atomic.Int64
}

func openRaw(s site) (locker, error) {
	r := &raw{nodes: newClients(s), ttl: s.ttl.Milliseconds()}
	for _, n := range r.nodes {
		pipe, err := n.(*redis.Client).AsyncAutoPipeline()
		if err != nil {
			r.close()
			return nil, err
		}
		r.pipes = append(r.pipes, pipe)
	}
	if err := loadBare(r.nodes); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *raw) handle(name string) handle {
	id := fmt.Sprint("raw:", r.ids.Add(1))
	return &rawHandle{
		raw:     r,
		acquire: []any{"evalsha", bareAcquire.Hash(), 1, name, id, r.ttl},
		release: []any{"evalsha", bareRelease.Hash(), 1, name, id},
		away:    make([]redis.AutoFuture, len(r.nodes)),
	}
}

func (r *raw) close() {
	for _, p := range r.pipes {
		_ = p.Close()
	}
	closeClients(r.nodes)
}

type rawHandle struct {
	*raw
	acquire, release []any
	away             []redis.AutoFuture
}

func (h *rawHandle) lock(ctx context.Context) (held, error) {
	return h, h.send(ctx, h.acquire)
}

func (h *rawHandle) unlock() error { return h.send(context.Background(), h.release) }

func (h *rawHandle) send(ctx context.Context, args []any) error {
	for i, p := range h.pipes {
		h.away[i] = p.Submit(ctx, redis.NewCmd(ctx, args...))
	}
	var failed error
	for _, f := range h.away {
		if err := f.Wait(); err != nil && !errors.Is(err, redis.Nil) {
			failed = err
		}
	}
	return failed
}
