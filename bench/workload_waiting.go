package main

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// The figures of waiting.
const (
	callers   = "callers"
	libraries = "library goroutines"
	sockets   = "connections"
	stackPer  = "stack"
	beats     = "beats"
	drained   = "drained"
	served    = "served"
)

var waitingColumns = []column{
	{title: "callers", figure: callers, format: whole},
	{title: "library goroutines", figure: libraries, format: whole},
	{title: "connections", figure: sockets, format: whole},
	{title: "heap B/caller", figure: heapPer, format: whole},
	{title: "stack B/caller", figure: stackPer, format: whole},
	{title: "commands /s", figure: beats, format: whole},
	{title: "CPU %", figure: busy, format: tenths},
	{title: "drained in s", figure: drained, format: tenths},
	{title: "served /s", figure: served, format: whole},
	{title: "errors", figure: failures, format: whole},
}

// waiting is callers that are blocked on a tenth as many names, and are then let go.
// Heap is what blocking adds to what their goroutines had before.
func waiting(b *bench) error {
	count := b.count
	if count == 0 {
		count = 50_000
	}
	t := newTable([]string{"N", "contender"}, waitingColumns)
	var targets []target
	for _, n := range b.ns(1, 5) {
		s, err := b.once(b.ours(n, "holdfast", "fair"), func(c contender) (figures, error) {
			return b.wait(c, n, count, max(count/10, 1))
		})
		if err != nil {
			return err
		}
		t.add(s, waitingColumns, fmt.Sprint(n))
		where := fmt.Sprintf("N = %d: ", n)
		targets = append(targets,
			atMost(where+"library goroutines for each node", s.median("holdfast", libraries)/float64(n), 16),
			atMost(where+"connections to each node", s.median("holdfast", sockets)/float64(n), 16),
			atMost(where+"heap of a waiter, bytes", s.median("holdfast", heapPer), 2048),
			atMost(where+"heap of a waiter of a fair lock, bytes", s.median("fair", heapPer), 2048))
	}
	b.show(t, targets)
	return nil
}

// blockedWithin is how long callers may take until all are blocked at the same moment.
const blockedWithin = time.Minute

func untilBlocked(callers int) error {
	asleep := 0
	pause := 100*time.Millisecond + time.Duration(callers)*20*time.Microsecond // to look costs
	for deadline := time.Now().Add(blockedWithin); time.Now().Before(deadline); time.Sleep(pause) {
		if asleep = goroutinesIn("lock.(*call).sleep"); asleep == callers {
			return nil
		}
	}
	return fmt.Errorf("of %d callers only %d sleep after %v", callers, asleep, blockedWithin)
}

// wait blocks callers on names that another client holds, looks what that costs, and
// then lets them go.
func (b *bench) wait(c contender, n, callersWanted, names int) (figures, error) {
	nodes := b.servers[:n]
	if err := nodes.flush(); err != nil {
		return nil, err
	}
	holder, err := c.open(site{addrs: b.servers.addrs(n), ttl: b.ttl, seen: new(traffic)})
	if err != nil {
		return nil, err
	}
	defer holder.close()
	name := func(i int) string { return "name:" + strconv.Itoa(i%names) }
	has := make([]held, names)
	err = each(names, 256, func(i int) (err error) {
		has[i], err = holder.handle(name(i)).lock(context.Background())
		return err
	})
	if err != nil {
		return nil, err
	}
	var sent traffic
	l, err := c.open(site{addrs: b.servers.addrs(n), ttl: b.ttl, seen: &sent})
	if err != nil {
		return nil, err
	}
	defer l.close()
	before := runtime.NumGoroutine()
	var wg sync.WaitGroup
	begin := make(chan struct{})
	errs := make([]error, callersWanted)
	for i := range callersWanted {
		h := l.handle(name(i))
		wg.Go(func() {
			<-begin
			var mine held
			if mine, errs[i] = h.lock(context.Background()); errs[i] == nil {
				errs[i] = mine.unlock()
			}
		})
	}
	objects, stacks := heap()
	close(begin)
	if err := untilBlocked(callersWanted); err != nil {
		return nil, err
	}
	f := figures{callers: float64(callersWanted), failures: 0}
	used, commandsBefore, began := usageNow(), sent.commands.Load(), time.Now()
	time.Sleep(max(b.span, time.Second))
	span := time.Since(began).Seconds()
	f[beats] = float64(sent.commands.Load()-commandsBefore) / span
	f[busy] = usageNow().since(used).CPU.Seconds() / span * 100
	f[libraries] = float64(runtime.NumGoroutine() - callersWanted - before)
	f[sockets] = float64(sent.connections.Load())
	objectsAfter, stacksAfter := heap()
	f[heapPer] = (objectsAfter - objects) / float64(callersWanted)
	f[stackPer] = (stacksAfter - stacks) / float64(callersWanted)

	began = time.Now()
	_ = each(names, 256, func(i int) error { return has[i].unlock() }) // what is late is tried again
	wg.Wait()
	f[drained] = time.Since(began).Seconds()
	f[served] = float64(callersWanted) / f[drained]
	for _, err := range errs {
		if err != nil {
			f[failures]++
		}
	}
	return f, nil
}
