package main

import (
	"fmt"
	"time"
)

// A Kind is what goes wrong.
type Kind string

// The kinds of faults.
const (
	KillNode     Kind = "kill node"         // kill -9, and a start after For
	Snapshot     Kind = "snapshot"          // of a node: what it finds after a later crash
	StopNode     Kind = "stop node"         // SIGSTOP for For
	LoseRequest  Kind = "lose requests"     // some of them, for For
	LoseReply    Kind = "lose replies"      // the same, the other way
	Reset        Kind = "reset connections" // all of them, once
	Slow         Kind = "slow network"      // slow and jittery
	CutUp        Kind = "cut to node"       // nothing gets to the node, and nobody is told
	CutDown      Kind = "cut from node"     // nothing gets from the node
	Isolate      Kind = "isolate worker"    // cut to, or from, as many nodes as make a quorum
	StopWorker   Kind = "stop worker"       // SIGSTOP for For
	KillWorker   Kind = "kill worker"       // kill -9, and another one after For
	KillPubSub   Kind = "kill pubsub"       // CLIENT KILL TYPE pubsub
	FlushScripts Kind = "script flush"
	FlushAll     Kind = "flushall"
	ClockJump    Kind = "clock jump"  // by Skew, for For
	ClockDrift   Kind = "clock drift" // Skew more, by the end of For
)

// breaks tells whether a fault takes away what exclusion is promised under: that
// clocks run at about the same rate, and that a quorum keeps what it has acknowledged.
func (k Kind) breaks() bool { return k == FlushAll || k == ClockJump }

// A Fault is one thing that goes wrong.
type Fault struct {
	Kind     Kind
	At       time.Duration // after the start
	For      time.Duration
	Node     int           // all: every node
	Worker   int           // all: every worker, or the fault concerns none
	Delay    time.Duration // of a round trip, at most
	Share    float64       // of requests or replies
	Silently bool
	Skew     time.Duration

	Began, Ended int64 // when it was injected and undone; 0: not yet
}

const all = -1

func (f Fault) String() string {
	s := fmt.Sprintf("%7.3fs %s", f.At.Seconds(), f.Kind)
	if f.Node != all {
		s += fmt.Sprint(" n", f.Node)
	}
	if f.Worker != all {
		s += fmt.Sprint(" w", f.Worker)
	}
	if f.For > 0 {
		s += fmt.Sprint(" for ", f.For.Round(time.Millisecond))
	}
	switch f.Kind {
	case Slow:
		s += fmt.Sprint(" by ", f.Delay.Round(time.Millisecond))
	case LoseRequest, LoseReply:
		s += fmt.Sprintf(" %.0f%%", 100*f.Share)
		if f.Silently {
			s += " silently"
		}
	case ClockJump, ClockDrift:
		s += fmt.Sprint(" by ", f.Skew.Round(time.Millisecond))
	}
	return s
}

// on tells whether the fault concerns a node, or the way from a worker to it.
func (f Fault) on(node, worker int) bool {
	return (f.Node == all || f.Node == node) && (f.Worker == all || f.Worker == worker)
}

// weather is what the fault does to the network.
func (f Fault) weather() Weather {
	switch f.Kind {
	case LoseRequest:
		return Weather{LoseRequest: f.Share, Silently: f.Silently}
	case LoseReply:
		return Weather{LoseReply: f.Share, Silently: f.Silently}
	case Slow:
		return Weather{Delay: f.Delay / 4, Jitter: f.Delay / 4}
	case CutUp:
		return Weather{HoldUp: true}
	case CutDown:
		return Weather{HoldDown: true}
	}
	return Weather{}
}

// add puts one fault on top of others.
func (w Weather) add(o Weather) Weather {
	return Weather{
		Delay:       max(w.Delay, o.Delay),
		Jitter:      max(w.Jitter, o.Jitter),
		LoseRequest: max(w.LoseRequest, o.LoseRequest),
		LoseReply:   max(w.LoseReply, o.LoseReply),
		Silently:    w.Silently || o.Silently,
		HoldUp:      w.HoldUp || o.HoldUp,
		HoldDown:    w.HoldDown || o.HoldDown,
	}
}
