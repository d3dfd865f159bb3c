package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lua"
)

// scripts is raw with Holdfast's own scripts in place of the bare ones: what lies
// between it and raw is theirs, what lies between it and holdfast is Go's.
type scripts struct {
	nodes []redis.UniversalClient
	pipes []*redis.AutoPipeliner
	ttl   time.Duration
	ids   atomic.Int64
}

func openScripts(s site) (locker, error) {
	l := &scripts{nodes: newClients(s), ttl: s.ttl}
	if err := loadScripts(l.nodes); err != nil {
		l.close()
		return nil, err
	}
	for _, n := range l.nodes {
		pipe, err := n.(*redis.Client).AsyncAutoPipeline()
		if err != nil {
			l.close()
			return nil, err
		}
		l.pipes = append(l.pipes, pipe)
	}
	return l, nil
}

// loadScripts makes Holdfast's scripts known to the nodes.
func loadScripts(nodes []redis.UniversalClient) error {
	for _, n := range nodes {
		for _, call := range []lua.Call{lua.Acquire{}.Call(), lua.Release{}.Call()} {
			if err := n.ScriptLoad(context.Background(), call.Script().Source).Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *scripts) handle(name string) handle {
	keys, err := lua.NewKeys("lock", name)
	if err != nil {
		return brokenHandle{err}
	}
	return &scriptsHandle{scripts: l, keys: keys, away: make([]redis.AutoFuture, len(l.nodes))}
}

func (l *scripts) close() {
	for _, p := range l.pipes {
		_ = p.Close()
	}
	closeClients(l.nodes)
}

type scriptsHandle struct {
	*scripts
	keys lua.Keys
	hold string
	away []redis.AutoFuture
}

func (h *scriptsHandle) lock(ctx context.Context) (held, error) {
	h.hold = fmt.Sprint("scripts:", h.ids.Add(1))
	return h, h.send(ctx, lua.Acquire{
		Keys: h.keys, Hold: h.hold, TTL: h.ttl, Retention: 24 * time.Hour,
	}.Call())
}

func (h *scriptsHandle) unlock() error {
	return h.send(context.Background(), lua.Release{Keys: h.keys, Hold: h.hold}.Call())
}

func (h *scriptsHandle) send(ctx context.Context, call lua.Call) error {
	for i, p := range h.pipes {
		h.away[i] = p.Submit(ctx, call.Cmd(ctx))
	}
	var failed error
	for _, f := range h.away {
		if err := f.Wait(); err != nil && !errors.Is(err, redis.Nil) {
			failed = err
		}
	}
	return failed
}
