package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// A contender is one way to lock, as every workload sees it.
type contender struct {
	name string
	// one: it works on one node only.
	one bool
	// floor: it excludes nobody, and each of its workers needs a name of its own.
	floor bool
	// shares: its handles are sharing.
	shares bool
	// room is for how many holders a name has room; 0: for one.
	room int
	open func(site) (locker, error)
}

// A site is where a contender works.
type site struct {
	addrs   []string
	cluster bool // they are the masters of one Cluster, which is one node
	ttl     time.Duration
	seen    *traffic
}

// A locker is one process's access to a contender's locks. It is safe for concurrent use.
type locker interface {
	// handle makes what one goroutine locks name with.
	handle(name string) handle
	close()
}

// A handle locks one name, for one goroutine.
type handle interface {
	// lock blocks until it has the lock or ctx is done.
	lock(ctx context.Context) (held, error)
}

// A sharing is a handle that also locks to read.
type sharing interface {
	handle
	rlock(ctx context.Context) (held, error)
}

// held is a lock that somebody has.
type held interface {
	unlock() error
}

// contenders are all there are, in the order of the tables.
var contenders = []contender{
	{name: "holdfast", open: openHoldfast},
	{name: "fair", open: openFair},
	{name: "readwrite", shares: true, open: openReadWrite},
	{name: "semaphore", room: permits, open: openSemaphore},
	{name: "several", open: openSeveral(false)},
	{name: "several-opposite", open: openSeveral(true)},
	{name: "redsync", open: openRedsync(0)},
	{name: "redsync-1ms", open: openRedsync(time.Millisecond)},
	{name: "redislock", one: true, open: openRedislock(100 * time.Millisecond)},
	{name: "redislock-1ms", one: true, open: openRedislock(time.Millisecond)},
	{name: "rueidislock", one: true, open: openRueidis},
	{name: "redsync-local", open: openLocal(openRedsync(0))},
	{name: "redislock-local", one: true, open: openLocal(openRedislock(100 * time.Millisecond))},
	{name: "counting", one: true, shares: true, open: openCounting},
	{name: "polling", one: true, room: permits, open: openPolling},
	{name: "raw", floor: true, open: openRaw(1)},
	{name: "raw-several", floor: true, open: openRaw(severalNames)},
	{name: "scripts", floor: true, open: openScripts},
	{name: "wire", floor: true, open: openWire},
	{name: "baton", open: openBaton},
	{name: "relay", open: openRelay},
	{name: "inside", open: openInside},
	{name: "channel", room: permits, open: openChannel},
}

// named finds contenders by their names.
func named(names ...string) []contender {
	var list []contender
	for _, c := range contenders {
		for _, name := range names {
			if c.name == name {
				list = append(list, c)
			}
		}
	}
	return list
}

// checkNames refuses names of contenders that do not exist.
func checkNames(names []string) error {
	for _, name := range names {
		if len(named(name)) == 0 {
			all := make([]string, len(contenders))
			for i, c := range contenders {
				all[i] = c.name
			}
			return fmt.Errorf("there is no contender %q, there are %s", name, strings.Join(all, ", "))
		}
	}
	return nil
}
