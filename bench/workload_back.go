package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"
)

// The figures of back.
const (
	restored  = "restored"
	wellP99   = "p99, well"
	backP99   = "p99, meanwhile"
	wellPairs = "pairs, well"
	backPairs = "pairs, meanwhile"
)

var backColumns = []column{
	{title: "leases", figure: "leases", format: whole},
	{title: "restored after, ms", figure: restored, worst: true, format: millis},
	{title: "lost", figure: lost, worst: true, format: whole},
	{title: "p99 of others, ms", figure: wellP99, format: millis},
	{title: "meanwhile", figure: backP99, format: millis},
	{title: "pairs of others", figure: wellPairs, format: whole},
	{title: "meanwhile", figure: backPairs, format: whole},
}

// back is a hundred thousand leases, and a node that forgets them: how long until it has them
// again, and what the callers feel of it that do something else.
func back(b *bench) error {
	const n = 5
	count := b.count
	if count == 0 {
		count = 100_000
	}
	t := newTable([]string{"N", "contender"}, backColumns)
	s, err := b.once(b.ours(n, "holdfast"), func(c contender) (figures, error) { return b.forget(c, n, count) })
	if err != nil {
		return err
	}
	t.add(s, backColumns, fmt.Sprint(n))
	b.show(t, []target{
		atMost("leases lost", s.worst("holdfast", lost), 0),
		atMost("time until the node has them again ÷ TTL", s.worst("holdfast", restored)/float64(b.ttl.Microseconds()), 1./3),
		atMost("p99 of others meanwhile ÷ before", s.within("holdfast", backP99, wellP99), 3),
	})
	return nil
}

// others are callers with names and a client of their own: eight of them, with pauses.
type others struct {
	stop    chan struct{}
	running sync.WaitGroup

	mu   sync.Mutex
	took []int64 // microseconds, of pairs
}

func (o *others) run(l locker) {
	for i := range 8 {
		h := l.handle("other:" + strconv.Itoa(i))
		o.running.Go(func() {
			for tick := time.NewTicker(5 * time.Millisecond); ; {
				select {
				case <-o.stop:
					tick.Stop()
					return
				case <-tick.C:
				}
				began := time.Now()
				if got, err := h.lock(context.Background()); err == nil {
					_ = got.unlock()
				}
				took := time.Since(began).Microseconds()
				o.mu.Lock()
				o.took = append(o.took, took)
				o.mu.Unlock()
			}
		})
	}
}

// sofar takes what was measured since the last time.
func (o *others) sofar() (p99, pairs float64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	took := o.took
	o.took = nil
	slices.Sort(took)
	return quantile(took, 0.99), float64(len(took))
}

// forget takes leases, and has a node come back empty.
func (b *bench) forget(c contender, n, leases int) (figures, error) {
	nodes := b.servers[:n]
	if err := nodes.flush(); err != nil {
		return nil, err
	}
	open := func() (locker, error) {
		return c.open(site{addrs: b.servers.addrs(n), ttl: b.ttl, seen: new(traffic)})
	}
	l, err := open()
	if err != nil {
		return nil, err
	}
	defer l.close()
	beside, err := open()
	if err != nil {
		return nil, err
	}
	defer beside.close()
	has := make([]held, leases)
	err = each(leases, 512, func(i int) (err error) {
		has[i], err = l.handle("lease:" + strconv.Itoa(i)).lock(context.Background())
		return err
	})
	if err != nil {
		return nil, err
	}
	runtime.GC()
	o := &others{stop: make(chan struct{})}
	o.run(beside)
	time.Sleep(b.span)
	o.sofar() // they have their connections
	f := figures{"leases": float64(leases)}
	time.Sleep(b.ttl / 3)
	f[wellP99], f[wellPairs] = o.sofar()

	last := nodes[n-1]
	if err := last.restart(b.dir, time.Second); err != nil {
		return nil, err
	}
	began := time.Now()
	o.sofar()
	for {
		keys, err := last.admin.DBSize(context.Background()).Result()
		if err != nil {
			return nil, err
		}
		if keys >= int64(2*leases) || time.Since(began) > b.ttl { // each has a counter, too
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	f[restored] = float64(time.Since(began).Microseconds())
	f[backP99], f[backPairs] = o.sofar()
	close(o.stop)
	o.running.Wait()
	var gone float64
	for _, h := range has {
		if h.(holdfastHeld).Err() != nil {
			gone++
		}
	}
	f[lost] = gone
	return f, nil
}
