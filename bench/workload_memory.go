package main

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"
)

// memory is what Redis keeps, by its own MEMORY USAGE: of a lock that is held, and of
// one that callers wait for. N does not matter, each node keeps the same.
func memory(b *bench) error {
	const callers = 100
	t := &table{title: []string{"contender", "key", "held, bytes", fmt.Sprint("and ", callers, " wait"), "for each that waits"}}
	for _, c := range b.among(1, "holdfast", "fair", "redsync", "redislock", "rueidislock") {
		if err := b.servers[:1].flush(); err != nil {
			return err
		}
		l, err := c.open(site{addrs: b.servers.addrs(1), ttl: b.ttl, seen: new(traffic)})
		if err != nil {
			return err
		}
		alone, crowded, err := b.keep(l, callers)
		l.close()
		if err != nil {
			return err
		}
		var keys []string
		for key := range crowded {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		for _, key := range keys {
			t.rows = append(t.rows, []string{
				c.name, "`" + strings.Replace(key, "a-name-of-16-byt", "name", 1) + "`", fmt.Sprint(alone[key]), fmt.Sprint(crowded[key]),
				tenths(float64(crowded[key]-alone[key]) / callers),
			})
		}
	}
	t.print(b.out)
	return nil
}

// keep measures a lock's keys while it is held, and while callers wait for it as well.
func (b *bench) keep(l locker, callers int) (alone, crowded map[string]int64, err error) {
	const name = "a-name-of-16-byt"
	has, err := l.handle(name).lock(context.Background())
	if err != nil {
		return nil, nil, err
	}
	if alone, err = b.servers[0].keys(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	gone := make(chan struct{}, callers)
	for range callers {
		h := l.handle(name)
		go func() {
			defer func() { gone <- struct{}{} }()
			if got, err := h.lock(ctx); err == nil {
				_ = got.unlock()
			}
		}()
	}
	time.Sleep(max(b.span, 100*time.Millisecond)) // all have asked by then
	crowded, err = b.servers[0].keys()
	if err := has.unlock(); err != nil {
		return nil, nil, err
	}
	cancel()
	for range callers {
		<-gone
	}
	return alone, crowded, err
}

// keys are all keys of a server, with the memory that each takes.
func (s *server) keys() (map[string]int64, error) {
	ctx := context.Background()
	names, err := s.admin.Keys(ctx, "*").Result()
	if err != nil {
		return nil, err
	}
	sizes := make(map[string]int64)
	for _, key := range names {
		if sizes[key], err = s.admin.MemoryUsage(ctx, key, 0).Result(); err != nil {
			return nil, err
		}
	}
	return sizes, nil
}
