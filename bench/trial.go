package main

import (
	"runtime"
	"sync/atomic"
	"time"
)

// try has one contender do a job on the first n servers, for a while.
func (b *bench) try(c contender, n int, j job, span time.Duration) (figures, error) {
	return b.tryAt(c, b.servers[:n], b.servers.addrs(n), j, span)
}

// tryAt is try with nodes that are reached under other addresses than their own.
func (b *bench) tryAt(c contender, nodes servers, addrs []string, j job, span time.Duration) (figures, error) {
	if err := nodes.flush(); err != nil {
		return nil, err
	}
	sc, err := newScene(b.dir, j.names())
	if err != nil {
		return nil, err
	}
	defer sc.close()
	var sent atomic.Int64
	l, err := c.open(site{addrs: addrs, ttl: b.ttl, commands: &sent})
	if err != nil {
		return nil, err
	}
	defer l.close()
	runtime.GC() // what others have left is not this one's to clear
	work := startCrew(l, j, sc)
	time.Sleep(max(span/5, 50*time.Millisecond))

	t := trial{}
	nodesBefore, err := nodes.cpu()
	if err != nil {
		work.stop()
		return nil, err
	}
	before, sentBefore, began := usageNow(), sent.Load(), time.Now()
	work.measure()
	time.Sleep(span)
	t.elapsed, t.usage, t.commands = time.Since(began), usageNow().since(before), sent.Load()-sentBefore
	nodesAfter, err := nodes.cpu()
	t.record = work.stop()
	if err != nil {
		return nil, err
	}
	t.servers = nodesAfter - nodesBefore
	t.overlaps = sc.overlaps()
	b.note(c, &t)
	return t.figures(), nil
}
