package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/fifo"
	"github.com/holdfast-go/holdfast/lua"
)

// A Look is what the nodes have of one lock at about one moment, seen past the
// network's faults.
type Look struct {
	From, To int64
	Name     string
	Nodes    []Sight
}

// A Sight is what one node has.
type Sight struct {
	OK    bool // it answered
	Hold  string
	Count int
	TTL   time.Duration
	Share []string // hold ids of those that read, or have permits
	Kept  []string // hold ids of all that had permits and were not cleared away yet
	Queue []fifo.Place
}

// A monitor looks at the nodes all the time.
type monitor struct {
	stop    context.CancelFunc
	running sync.WaitGroup

	mu    sync.Mutex
	looks []Look
	naps  []span // of the network
}

const lookEvery = 30 * time.Millisecond

func watch(r *Run) *monitor {
	ctx, stop := context.WithCancel(context.Background())
	m := &monitor{stop: stop}
	m.running.Go(func() {
		pulse(ctx, func(from, to int64) {
			m.mu.Lock()
			m.naps = append(m.naps, span{network, from, to})
			m.mu.Unlock()
		})
	})
	for _, name := range r.Cell.Locks {
		keys, err := lua.NewKeys("lock", name)
		if err != nil {
			panic(err)
		}
		m.running.Go(func() {
			for tick := time.NewTicker(lookEvery * time.Duration(1+len(r.Cell.Locks)/30)); ; {
				select {
				case <-ctx.Done():
					tick.Stop()
					return
				case <-tick.C:
				}
				look := Look{From: now(), Name: name, Nodes: make([]Sight, len(r.nodes))}
				var asking sync.WaitGroup
				for i, n := range r.nodes {
					asking.Go(func() { look.Nodes[i] = n.look(ctx, name, keys) })
				}
				asking.Wait()
				look.To = now()
				m.mu.Lock()
				m.looks = append(m.looks, look)
				m.mu.Unlock()
			}
		})
	}
	return m
}

func (n *node) look(ctx context.Context, name string, keys lua.Keys) Sight {
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if isSemaphore(name) {
		return n.lookAtPermits(ctx, keys)
	}
	reply, err := lua.Inspect{Keys: keys}.Call().Run(ctx, n.direct)
	if err != nil {
		return Sight{}
	}
	in, err := lua.ParseInspected(reply)
	if err != nil {
		return Sight{}
	}
	s := Sight{OK: true, Hold: in.Holder, Count: in.Count, TTL: in.TTL}
	for _, r := range in.Readers {
		s.Share = append(s.Share, r.Hold)
	}
	for _, w := range in.Queue {
		s.Queue = append(s.Queue, fifo.Place{Hold: w.Hold, Ticket: w.Ticket})
	}
	return s
}

func (n *node) lookAtPermits(ctx context.Context, keys lua.Keys) Sight {
	reply, err := lua.PermitInspect{Permit: lua.Permit{Fair: lua.Fair{Keys: keys}}}.Call().Run(ctx, n.direct)
	if err != nil {
		return Sight{}
	}
	in, err := lua.ParsePermitInspected(reply)
	if err != nil {
		return Sight{}
	}
	// Of a hold that has expired the script tells nothing, whatever the node does with it.
	s := Sight{OK: true, Hold: in.Other, Kept: n.direct.HKeys(ctx, keys.Lock).Val()}
	for _, h := range in.Holds {
		s.Share = append(s.Share, h.Hold)
	}
	for _, w := range in.Queue {
		s.Queue = append(s.Queue, fifo.Place{Hold: w.Hold, Ticket: w.Ticket})
	}
	return s
}

// holds are the ids of all that the node has of the lock.
func (s *Sight) holds() []string {
	if s.Hold == "" || slices.Contains(s.Share, s.Hold) {
		return s.Share
	}
	return append([]string{s.Hold}, s.Share...)
}

func (m *monitor) seen() (looks []Look, naps []span) {
	if m == nil {
		return nil, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clip(m.looks), slices.Clip(m.naps)
}

func (m *monitor) close() {
	m.stop()
	m.running.Wait()
}

// leftovers waits until nothing but tokens is left on the nodes, for as long as the
// marks of voided holds live, and returns what is there even then.
func (r *Run) leftovers() []string {
	deadline := time.Now().Add(10*time.Second + 2*r.Cell.TTL + 2*time.Second)
	for {
		var left []string
		marks := true // and nothing else
		for i, n := range r.nodes {
			keys, err := n.direct.Keys(context.Background(), "*").Result()
			r.note(err)
			for _, k := range keys {
				ttl := n.direct.PTTL(context.Background(), k).Val()
				switch {
				case ttl == -1:
					left, marks = append(left, fmt.Sprintf("n%d %s, without a TTL", i, k)), false
				case strings.HasSuffix(k, ":token"):
				case ttl == -2: // gone meanwhile
				case r.Cell.has(ClockJump): // what was written while the clock was ahead goes that much later
				default:
					left, marks = append(left, fmt.Sprintf("n%d %s", i, k)), marks && strings.HasSuffix(k, ":void")
				}
			}
		}
		late := time.Since(deadline)
		if marks {
			late -= r.Cell.Duration // a mark lives for as long as the claim that it voids is old
		}
		if len(left) == 0 || late > 0 {
			return left
		}
		time.Sleep(200 * time.Millisecond)
	}
}
