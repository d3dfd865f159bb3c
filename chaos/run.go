package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A Run is one cell with one seed.
type Run struct {
	Cell   Cell
	Seed   uint64
	Worker string // the program that workers are; empty: this one
	// Until, if set, is asked every second, and ends the run early.
	Until func(*History) bool

	dir     string
	start   time.Time
	nodes   []*node
	shards  map[string]int // the server that has each lock; nil: there is no Cluster
	proxies [][]*proxy     // by node and worker
	crew    []*hand
	posts   []sync.Mutex // by worker: one fault of its process at a time
	store   *store
	monitor *monitor

	mu      sync.Mutex
	faults  []Fault // as injected
	active  map[*Fault]struct{}
	killed  map[string]int64
	away    []span
	retired []*hand // workers that were killed
	errs    []error
}

// Do runs the cell and returns what happened.
func (r *Run) Do() (*History, error) {
	r.active, r.killed = make(map[*Fault]struct{}), make(map[string]int64)
	r.dir = scratch("run")
	defer os.RemoveAll(r.dir)
	defer r.tearDown()
	if err := r.setUp(); err != nil {
		return nil, err
	}
	early := r.storm()
	if early {
		return r.history()
	}
	r.heal()
	healed := now()
	late := r.finish()
	h, err := r.history()
	if err != nil {
		return nil, err
	}
	h.Healed = healed
	if late {
		h.Stuck = true
	}
	h.Left = r.leftovers()
	h.End = now()
	return h, errors.Join(r.errs...)
}

func (r *Run) setUp() error {
	addr := ownAddr()
	var err error
	if r.store, err = newStore(filepath.Join(r.dir, "store")); err != nil {
		return err
	}
	shim := ""
	if r.Cell.has(ClockJump, ClockDrift) {
		if shim, err = buildClockSkew(r.dir); err != nil {
			return err
		}
	}
	for i := range r.Cell.servers() {
		var at address
		if r.Cell.Shards > 0 {
			if at, err = newAddress(); err != nil {
				return err
			}
		}
		n, err := newNode(filepath.Join(r.dir, fmt.Sprint("n", i)), r.Cell.Disk, shim, at)
		if err != nil {
			return err
		}
		r.nodes = append(r.nodes, n)
		if r.Cell.Shards > 0 {
			r.proxies = append(r.proxies, nil)
			continue
		}
		ways := make([]*proxy, r.Cell.workers())
		for w := range ways {
			if ways[w], err = newProxy(addr, n.socket()); err != nil {
				return err
			}
			ways[w].set(r.Cell.climate(w))
		}
		r.proxies = append(r.proxies, ways)
	}
	if r.Cell.Shards > 0 {
		if err := r.gather(); err != nil {
			return err
		}
	}
	if r.Cell.Guard > 0 {
		time.Sleep(r.Cell.Guard + time.Second) // fresh servers grant nothing for so long
	}
	r.posts = make([]sync.Mutex, r.Cell.workers())
	for w := range r.Cell.workers() {
		h, err := r.hire(w, 0)
		if err != nil {
			return err
		}
		r.crew = append(r.crew, h)
	}
	r.monitor = watch(r)
	return nil
}

// storm injects the faults, each in its time, and waits for the end of the last. It
// tells whether the run was ended early.
func (r *Run) storm() (early bool) {
	r.start = time.Now()
	done := make(chan struct{}) // closed to end it early
	over := make(chan struct{})
	go func() {
		defer close(over)
		var pending sync.WaitGroup
		for _, f := range schedule(r.Cell, r.Seed) {
			if !r.wait(f.At, done) {
				break
			}
			pending.Go(func() { r.inject(f, done) })
		}
		r.wait(r.Cell.Duration, done)
		pending.Wait()
	}()
	if r.Until == nil {
		<-over
		return false
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return false
		case <-tick.C:
			if h, err := r.history(); err == nil && r.Until(h) {
				close(done)
				<-over // nothing may be started any more when all is torn down
				return true
			}
		}
	}
}

func (r *Run) wait(at time.Duration, done chan struct{}) bool {
	t := time.NewTimer(time.Until(r.start.Add(at)))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-done:
		return false
	}
}

// heal makes everything well again.
func (r *Run) heal() {
	for i, n := range r.nodes {
		n.resume()
		r.note(n.start())
		for _, p := range r.proxies[i] {
			p.set(Weather{})
			r.note(p.open())
		}
	}
}

// finish has the workers come to an end, and tells whether one did not.
func (r *Run) finish() (stuck bool) {
	for _, h := range r.crew {
		h.end()
	}
	limit := time.After(time.Duration(len(r.Cell.Locks))*lastWait + 10*time.Second)
	for _, h := range r.crew {
		select {
		case <-h.proc.done:
			if h.proc.err != nil {
				r.note(fmt.Errorf("worker %s: %w\n%s", h.cfg.proc(), h.proc.err, h.said()))
			}
		case <-limit:
			return true
		}
	}
	return false
}

func (r *Run) tearDown() {
	if r.monitor != nil {
		r.monitor.close()
	}
	for _, h := range r.crew {
		h.proc.kill()
	}
	for _, ways := range r.proxies {
		for _, p := range ways {
			if p != nil {
				p.close()
			}
		}
	}
	for _, n := range r.nodes {
		n.close()
	}
	if r.store != nil {
		r.store.close()
	}
}

func (r *Run) note(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

// history puts together what all have written down so far.
func (r *Run) history() (*History, error) {
	r.mu.Lock()
	h := &History{
		Cell:   r.Cell,
		Seed:   r.Seed,
		Faults: append([]Fault(nil), r.faults...),
		Start:  moment(r.start),
		End:    now(),
		Shards: r.shards,
		killed: make(map[string]int64),
		away:   append([]span(nil), r.away...),
	}
	for f := range r.active {
		h.Faults = append(h.Faults, *f)
	}
	for proc, at := range r.killed {
		h.killed[proc] = at
	}
	hands := append(append([]*hand(nil), r.crew...), r.retired...)
	r.mu.Unlock()
	h.Store = r.store.accesses()
	h.Looks, h.asleep = r.monitor.seen()
	for _, w := range hands {
		if err := h.read(w.cfg.proc(), w.cfg.History); err != nil {
			return nil, err
		}
	}
	h.sort()
	return h, nil
}
