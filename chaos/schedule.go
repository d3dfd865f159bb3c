package main

import (
	"cmp"
	"slices"
	"time"
)

// Faults come for a while, overlapping, and then there is a calm, in which whoever
// waits must be served.
const (
	stormy = 2500 * time.Millisecond
	calm   = 1500 * time.Millisecond
)

// schedule draws the faults of a run. The same cell and seed give the same ones.
func schedule(c Cell, seed uint64) []Fault {
	rng := dice(seed, "schedule "+c.Name)
	switch {
	case c.Turn > 0:
		return turns(c, rng)
	case c.Stopped:
		return []Fault{{At: 100*time.Millisecond + rng.N(time.Second), Kind: StopNode, For: c.Duration - calm, Node: rng.IntN(c.N), Worker: all}}
	}
	nodes := make([]time.Duration, c.servers()) // until when each has a fault of its process
	workers := make([]time.Duration, c.workers())
	alone := new(time.Duration) // one worker, or shard, at a time: the others must be able to go on
	var faults []Fault
	for at := 300 * time.Millisecond; len(c.Faults) > 0 && at < c.Duration; at += 20*time.Millisecond + rng.N(c.every()) {
		if at%(stormy+calm) > stormy {
			continue
		}
		f := Fault{At: at, Kind: c.Faults[rng.IntN(len(c.Faults))], Node: rng.IntN(c.servers()), Worker: all}
		c.shape(&f, rng)
		busy := busyWith(&f, nodes, workers, alone)
		if c.Shards > 0 {
			busy = alone
		}
		if busy != nil {
			if at < *busy {
				continue
			}
			*busy = at + f.For + max(c.Rest, 100*time.Millisecond)
		}
		if f.Kind == KillNode && c.Disk == Stale {
			faults = append(faults, Fault{Kind: Snapshot, At: max(0, at-rng.N(c.TTL)), Node: f.Node, Worker: all})
		}
		if f.Kind == Isolate {
			f.Kind = []Kind{CutUp, CutDown}[rng.IntN(2)]
			for range c.quorum() {
				faults = append(faults, f)
				f.Node = (f.Node + 1) % c.N
			}
			continue
		}
		faults = append(faults, f)
	}
	slices.SortStableFunc(faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	return faults
}

// turns kills one node after the other.
func turns(c Cell, rng *source) []Fault {
	var faults []Fault
	for at, i := rng.N(c.Pause), 0; at+c.Turn < c.Duration; at, i = at+c.Turn+c.Pause, i+1 {
		faults = append(faults, Fault{At: at, Kind: KillNode, For: c.Turn, Node: i % c.N, Worker: all})
	}
	return faults
}

// shape draws the rest of a fault.
func (c Cell) shape(f *Fault, rng *source) {
	link := func() { // one worker's way to the node, or everybody's
		if rng.IntN(2) == 0 {
			f.Worker = rng.IntN(c.workers())
		}
	}
	switch f.Kind {
	case KillNode:
		if rng.IntN(2) == 0 {
			f.For = rng.N(2 * c.TTL)
		}
	case StopNode:
		f.For = c.stop(rng)
	case LoseRequest, LoseReply:
		f.For = 200*time.Millisecond + rng.N(c.TTL)
		f.Share = 0.05 + 0.4*rng.Float64()
		f.Silently = rng.IntN(2) == 0
		link()
	case Slow:
		f.For = 500*time.Millisecond + rng.N(2*c.TTL)
		f.Delay = 5*time.Millisecond + rng.N(3*c.Timeout/2)
		link()
	case CutUp, CutDown:
		f.For = 100*time.Millisecond + rng.N(2*c.TTL)
		link()
	case Isolate:
		f.For = c.TTL + rng.N(3*c.TTL)
		f.Worker = rng.IntN(c.workers())
	case Reset:
		link()
	case StopWorker:
		f.Node, f.Worker = all, rng.IntN(c.workers())
		f.For = c.stop(rng)
	case KillWorker:
		f.Node, f.Worker = all, rng.IntN(c.workers())
		f.For = rng.N(c.TTL)
	case FlushAll:
		if rng.IntN(2) == 0 {
			f.Node = all
		}
	case KillPubSub, FlushScripts:
		if rng.IntN(3) == 0 {
			f.Node = all
		}
	case ClockJump:
		f.For = 200*time.Millisecond + rng.N(2*c.TTL)
		f.Skew = time.Duration(rng.IntN(5)-2) * c.TTL
		if rng.IntN(4) == 0 {
			f.Skew = []time.Duration{time.Hour, -time.Hour}[rng.IntN(2)]
		}
	case ClockDrift:
		f.For = time.Second + rng.N(2*time.Second)
		// Node and worker may differ by the drift factor, 1 %; a little less is drawn.
		f.Skew = time.Duration((2*rng.Float64() - 1) * 0.009 * float64(f.For))
	}
}

// stop is for how long to stop a process: a half, one or three TTLs, or just beyond
// what a node may be silent for.
func (c Cell) stop(rng *source) time.Duration {
	if c.Brief {
		return c.Timeout + rng.N(3*c.Timeout)
	}
	if c.Rest > 0 {
		return c.TTL*5/4 + rng.N(c.TTL/2)
	}
	return []time.Duration{c.TTL / 2, c.TTL, 3 * c.TTL}[rng.IntN(3)] + rng.N(c.TTL/10)
}

// busyWith is the date that tells until when a fault like f must not come, as there is
// one already: its process has it. It is nil for faults that may overlap.
func busyWith(f *Fault, nodes, workers []time.Duration, alone *time.Duration) *time.Duration {
	switch f.Kind {
	case KillNode, StopNode, ClockJump, ClockDrift:
		return &nodes[f.Node]
	case StopWorker, KillWorker:
		return &workers[f.Worker]
	case Isolate:
		return alone
	}
	return nil
}
