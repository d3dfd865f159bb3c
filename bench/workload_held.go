package main

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// The figures of held.
const (
	lost        = "lost"
	acquiring   = "acquiring"
	goroutines  = "goroutines"
	heapPer     = "heap"
	nodeHeapPer = "servers' heap"
	renewals    = "renewals"
	renewing    = "renewing"
	pipelined   = "pipelined"
	busy        = "busy"
	nodesBusy   = "servers busy"
)

var heldColumns = []column{
	{title: "leases", figure: "leases", format: whole},
	{title: "taken /s", figure: acquiring, format: whole},
	{title: "lost", figure: lost, worst: true, format: whole},
	{title: "goroutines", figure: goroutines, format: whole},
	{title: "heap B/lease", figure: heapPer, format: whole},
	{title: "Redis B/lease and node", figure: nodeHeapPer, format: whole},
	{title: "renewals /s and node", figure: renewals, format: whole},
	{title: "commands /s and node", figure: renewing, format: whole},
	{title: "a pipeline's", figure: pipelined, format: tenths},
	{title: "CPU %", figure: busy, format: tenths},
	{title: "servers' CPU %", figure: nodesBusy, format: tenths},
	{title: "late unlocks", figure: failures, format: whole},
}

// held is leases that the watchdog renews for three TTLs while nobody does anything.
// Percentages are of one core.
func leases(b *bench) error {
	count := b.count
	if count == 0 {
		count = 100_000
	}
	t := newTable([]string{"N", "contender"}, heldColumns)
	var targets []target
	for _, n := range b.ns(1, 5) {
		s, err := b.once(b.ours(n, "holdfast"), func(c contender) (figures, error) {
			return b.hold(c, n, count)
		})
		if err != nil {
			return err
		}
		t.add(s, heldColumns, fmt.Sprint(n))
		where := fmt.Sprintf("N = %d: ", n)
		targets = append(targets,
			atMost(where+"leases lost", s.worst("holdfast", lost), 0),
			atMost(where+"goroutines for each node", s.median("holdfast", goroutines)/float64(n), 8),
			atMost(where+"heap of a lease, bytes", s.median("holdfast", heapPer), 1024),
			atLeast(where+"renewals in a pipeline", s.median("holdfast", pipelined), 10))
	}
	b.show(t, targets)
	return nil
}

// hold takes leases, waits for three TTLs, and looks what it costs.
func (b *bench) hold(c contender, n, leases int) (figures, error) {
	nodes := b.servers[:n]
	if err := nodes.flush(); err != nil {
		return nil, err
	}
	var sent traffic
	l, err := c.open(site{addrs: b.servers.addrs(n), ttl: b.ttl, seen: &sent})
	if err != nil {
		return nil, err
	}
	defer l.close()
	has := make([]held, leases)
	handles := make([]handle, leases)
	memoryBefore, err := nodes.memory()
	if err != nil {
		return nil, err
	}
	heapBefore, _ := heap()
	before, began := runtime.NumGoroutine(), time.Now()
	err = each(leases, 512, func(i int) (err error) {
		handles[i] = l.handle("lease:" + strconv.Itoa(i))
		has[i], err = handles[i].lock(context.Background())
		return err
	})
	if err != nil {
		return nil, err
	}
	f := figures{"leases": float64(leases), acquiring: float64(leases) / time.Since(began).Seconds()}
	nodesBefore, err := nodes.cpu()
	if err != nil {
		return nil, err
	}
	// A renewal begins with one HGET, and nothing else here has any.
	renewedBefore, err := nodes.ran("hget")
	if err != nil {
		return nil, err
	}
	used, commandsBefore, writesBefore, began := usageNow(), sent.commands.Load(), sent.writes.Load(), time.Now()
	time.Sleep(3 * b.ttl)
	span := time.Since(began).Seconds()
	renewed, err := nodes.ran("hget")
	if err != nil {
		return nil, err
	}
	renewed -= renewedBefore
	f[renewals] = renewed / span / float64(n)
	f[renewing] = float64(sent.commands.Load()-commandsBefore) / span / float64(n)
	f[pipelined] = renewed / float64(sent.writes.Load()-writesBefore)
	f[busy] = usageNow().since(used).CPU.Seconds() / span * 100
	nodesAfter, err := nodes.cpu()
	if err != nil {
		return nil, err
	}
	f[nodesBusy] = (nodesAfter - nodesBefore).Seconds() / span * 100
	f[goroutines] = float64(runtime.NumGoroutine() - before)
	alive, _ := heap()
	f[heapPer] = (alive - heapBefore) / float64(leases)
	memoryAfter, err := nodes.memory()
	if err != nil {
		return nil, err
	}
	f[nodeHeapPer] = (memoryAfter - memoryBefore) / float64(leases) / float64(n)
	var gone int64
	for _, h := range has {
		if h.(holdfastHeld).Err() != nil {
			gone++
		}
	}
	f[lost] = float64(gone)
	runtime.KeepAlive(handles)
	// On a machine that is too busy for its node timeouts, some releases have no quorum:
	// they go on in the background.
	var unlocks atomic.Int64
	err = each(leases, 512, func(i int) error {
		if has[i].unlock() != nil {
			unlocks.Add(1)
		}
		return nil
	})
	f[failures] = float64(unlocks.Load() - gone)
	return f, err
}

// each does f for 0 to n-1, so many at once. It goes on after an error, and returns one.
func each(n, at int, f func(i int) error) error {
	var wg sync.WaitGroup
	errs := make([]error, at)
	for k := range at {
		wg.Go(func() {
			for i := k; i < n; i += at {
				if err := f(i); err != nil && errs[k] == nil {
					errs[k] = err
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// once is compare without repetitions, for what takes long.
func (b *bench) once(list []contender, run func(contender) (figures, error)) (*samples, error) {
	single := *b
	single.repeat = 1
	return single.compare(list, run)
}
