package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// distances are the round trips to the five nodes. A quorum of three cannot answer
// before the third of them has.
var distances = []time.Duration{
	2 * time.Millisecond, 3 * time.Millisecond, 5 * time.Millisecond, 8 * time.Millisecond, 50 * time.Millisecond,
}

// third is the index of the node that makes a quorum.
const third = 2

// The figures that only far has, each a median divided by the limit's.
const (
	limit      = "limit"
	lockOver   = "lock over limit"
	unlockOver = "unlock over limit"
)

var farColumns = []column{
	{title: "lock p50 ms", figure: lockP50, format: millis},
	{title: "unlock p50 ms", figure: freeP50, format: millis},
	{title: "limit ms", figure: limit, format: millis},
	{title: "lock ÷ limit", figure: lockOver, format: thousandths},
	{title: "unlock ÷ limit", figure: unlockOver, format: thousandths},
	{title: "pairs/s", figure: rate, format: whole},
	{title: "overlaps", figure: overlaps, worst: true, format: whole},
}

// far is goroutines with a name each, and nodes at distances. The limit is the p50 of a
// PING to the third-fastest, made meanwhile.
func far(b *bench) error {
	var proxies []*proxy
	defer func() {
		for _, p := range proxies {
			p.close()
		}
	}()
	var addrs []string
	for i, d := range distances {
		p, err := newProxy(b.servers[i].addr, d)
		if err != nil {
			return err
		}
		proxies = append(proxies, p)
		addrs = append(addrs, p.addr())
	}
	t := newTable([]string{"goroutines", "contender"}, farColumns)
	var targets []target
	for _, workers := range b.crowds(1, 64) {
		s, err := b.compare(b.among(len(addrs), "holdfast", "fair", "redsync", "baton"), func(c contender) (figures, error) {
			trial := b.on(len(addrs), job{Workers: workers, Own: true, Uncounted: true}, b.span)
			trial.addrs = addrs
			pings := startPings(addrs[third])
			f, err := b.try(c, trial)
			f2 := pings.stop()
			if err != nil {
				return nil, err
			}
			f[limit] = f2
			f[lockOver], f[unlockOver] = f[lockP50]/f2, f[freeP50]/f2
			return f, nil
		})
		if err != nil {
			return err
		}
		t.add(s, farColumns, fmt.Sprint(workers))
		for _, figure := range []string{lockOver, unlockOver} {
			targets = append(targets, atMost(fmt.Sprintf("%d goroutines: %s", workers, figure), s.median("holdfast", figure), 1.1).
				floored("baton", s.median("baton", figure)))
		}
	}
	b.show(t, targets)
	return nil
}

// pings measure the distance to a node while others use it.
type pings struct {
	over  atomic.Bool
	done  chan struct{}
	trips []int64 // to be read after done
}

func startPings(addr string) *pings {
	p := &pings{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		c := redis.NewClient(&redis.Options{Addr: addr})
		defer c.Close()
		for !p.over.Load() {
			began := now()
			if c.Ping(context.Background()).Err() == nil {
				p.trips = append(p.trips, now()-began)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return p
}

// stop returns the median, in microseconds.
func (p *pings) stop() float64 {
	p.over.Store(true)
	<-p.done
	slices.Sort(p.trips)
	return quantile(p.trips, 0.5) / 1e3
}
