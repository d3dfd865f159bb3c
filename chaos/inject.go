package main

import (
	"context"
	"syscall"
	"time"
)

// inject lets one fault happen, and undoes it in its time. A fault of a node's process is left out while there is
// another one, which a busy machine is late to undo: one upon the other, they would leave the node no time to work.
func (r *Run) inject(f Fault, done chan struct{}) {
	if f.Kind == KillNode || f.Kind == StopNode {
		fault := &r.nodes[f.Node].fault
		if !fault.TryLock() {
			return
		}
		defer fault.Unlock()
	}
	f.Began = now()
	r.mu.Lock()
	r.active[&f] = struct{}{}
	r.mu.Unlock()
	r.note(r.happen(&f, done))
	r.mu.Lock()
	f.Ended = now()
	delete(r.active, &f)
	r.faults = append(r.faults, f)
	r.mu.Unlock()
}

func (r *Run) happen(f *Fault, done chan struct{}) error {
	lasts := func() { r.wait(f.At+f.For, done) }
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	switch f.Kind {
	case KillNode:
		return r.killNode(f, lasts)
	case Snapshot:
		_ = r.nodes[f.Node].snapshot() // it may be down
	case StopNode:
		n := r.nodes[f.Node]
		n.stop()
		lasts()
		n.resume()
	case LoseRequest, LoseReply, Slow, CutUp, CutDown:
		r.forecast()
		lasts()
		r.calmDown(f)
	case Reset:
		r.each(f, func(i, w int) { r.proxies[i][w].reset() })
	case StopWorker:
		return r.stopWorker(f, lasts)
	case KillWorker:
		return r.killWorker(f, lasts)
	case KillPubSub, FlushScripts, FlushAll:
		for i, n := range r.nodes {
			if !f.on(i, all) {
				continue
			}
			switch f.Kind {
			case KillPubSub:
				_ = n.direct.ClientKillByFilter(ctx, "TYPE", "pubsub").Err()
			case FlushScripts:
				_ = n.direct.ScriptFlush(ctx).Err()
			default:
				_ = n.direct.FlushAll(ctx).Err()
			}
		}
	case ClockJump:
		n := r.nodes[f.Node]
		before := n.offset
		if err := n.skew(before + f.Skew); err != nil {
			return err
		}
		lasts()
		return n.skew(before)
	case ClockDrift:
		return r.drift(f, done)
	}
	return nil
}

func (r *Run) killNode(f *Fault, lasts func()) error {
	n := r.nodes[f.Node]
	n.kill()
	for _, p := range r.proxies[f.Node] {
		p.shut()
	}
	lasts()
	if err := n.start(); err != nil {
		return err
	}
	for _, p := range r.proxies[f.Node] {
		if err := p.open(); err != nil {
			return err
		}
	}
	return nil
}

// stopWorker waits for the fault before, which a busy machine may be late to undo: a process that is stopped already
// reports no second stop, and pause would wait for it for ever.
func (r *Run) stopWorker(f *Fault, lasts func()) error {
	r.posts[f.Worker].Lock()
	defer r.posts[f.Worker].Unlock()
	h := r.hand(f.Worker)
	from := now()
	h.proc.pause()
	lasts()
	h.proc.signal(syscall.SIGCONT)
	r.mu.Lock()
	r.away = append(r.away, span{h.cfg.proc(), from, now()})
	r.mu.Unlock()
	return nil
}

func (r *Run) killWorker(f *Fault, lasts func()) error {
	r.posts[f.Worker].Lock()
	defer r.posts[f.Worker].Unlock()
	h := r.hand(f.Worker)
	r.mu.Lock()
	r.killed[h.cfg.proc()] = now()
	r.mu.Unlock()
	h.proc.kill()
	lasts()
	next, err := r.hire(f.Worker, h.cfg.Life+1)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.retired = append(r.retired, h)
	r.crew[f.Worker] = next
	r.mu.Unlock()
	return nil
}

// drift has the node's clock run a little faster or slower, and leaves it where it is
// then: back by one jump would be another fault.
func (r *Run) drift(f *Fault, done chan struct{}) error {
	const step = 5 * time.Millisecond
	n := r.nodes[f.Node]
	from := n.offset
	for at := time.Duration(0); at < f.For && r.wait(f.At+at, done); at += step {
		if err := n.skew(from + time.Duration(float64(f.Skew)*float64(at)/float64(f.For))); err != nil {
			return err
		}
	}
	return nil
}

// forecast sets the weather between every worker and every node from the faults that
// are active.
func (r *Run) forecast() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.proxies {
		for w, p := range r.proxies[i] {
			weather := r.Cell.climate(w)
			for f := range r.active {
				if f.on(i, w) {
					weather = weather.add(f.weather())
				}
			}
			p.set(weather)
		}
	}
}

// calmDown takes f out of the weather.
func (r *Run) calmDown(f *Fault) {
	r.mu.Lock()
	delete(r.active, f)
	r.mu.Unlock()
	r.forecast()
}

func (r *Run) each(f *Fault, do func(node, worker int)) {
	for i := range r.proxies {
		for w := range r.proxies[i] {
			if f.on(i, w) {
				do(i, w)
			}
		}
	}
}
