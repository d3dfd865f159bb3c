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

// raw sends both scripts to all nodes, for so many names at once, and waits for all of them. It looks at nothing.
type raw struct {
	names int
	nodes []redis.UniversalClient
	pipes []*redis.AutoPipeliner
	ttl   int64
	ids   atomic.Int64
}

func openRaw(names int) func(site) (locker, error) {
	return func(s site) (locker, error) { return newRaw(s, names) }
}

func newRaw(s site, names int) (locker, error) {
	r := &raw{names: names, nodes: newClients(s), ttl: s.ttl.Milliseconds()}
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
	h := &rawHandle{raw: r}
	for i := range r.names {
		id, key := fmt.Sprint("raw:", r.ids.Add(1)), fmt.Sprint(name, "/", i)
		h.acquire = append(h.acquire, []any{"evalsha", bareAcquire.Hash(), 1, key, id, r.ttl})
		h.release = append(h.release, []any{"evalsha", bareRelease.Hash(), 1, key, id})
	}
	h.away = make([]redis.AutoFuture, 0, len(r.nodes)*r.names)
	return h
}

func (r *raw) close() {
	for _, p := range r.pipes {
		_ = p.Close()
	}
	closeClients(r.nodes)
}

type rawHandle struct {
	*raw
	acquire, release [][]any
	away             []redis.AutoFuture
}

func (h *rawHandle) lock(ctx context.Context) (held, error) {
	return h, h.send(ctx, h.acquire)
}

func (h *rawHandle) unlock() error { return h.send(context.Background(), h.release) }

func (h *rawHandle) send(ctx context.Context, commands [][]any) error {
	h.away = h.away[:0]
	for _, p := range h.pipes {
		for _, args := range commands {
			h.away = append(h.away, p.Submit(ctx, redis.NewCmd(ctx, args...)))
		}
	}
	var failed error
	for _, f := range h.away {
		if err := f.Wait(); err != nil && !errors.Is(err, redis.Nil) {
			failed = err
		}
	}
	return failed
}
