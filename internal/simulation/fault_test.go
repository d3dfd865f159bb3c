package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/internal/virtual"
)

// A fault is one thing that goes wrong.
type fault struct {
	damage
	at, lasts     time.Duration // since the world began
	node, program int           // which it is about, if it is about one
}

// A damage is what a fault does, and how it is mended.
type damage struct {
	name        string
	begin, mend func(s *stage, f fault)
	forgets     bool // nodes forget what they have promised: without a restart guard, nothing is promised then
}

var damages = []damage{
	{
		name:  "node paused",
		begin: func(s *stage, f fault) { s.nodes[f.node].Pause() },
		mend:  func(s *stage, f fault) { s.nodes[f.node].Resume() },
	},
	{
		name:  "node cut off",
		begin: func(s *stage, f fault) { s.nodes[f.node].Silence(true) },
		mend:  func(s *stage, f fault) { s.nodes[f.node].Silence(false) },
	},
	{
		name:  "node publishes nothing",
		begin: func(s *stage, f fault) { s.nodes[f.node].Mute(true) },
		mend:  func(s *stage, f fault) { s.nodes[f.node].Mute(false) },
	},
	{
		name:  "node slow",
		begin: func(s *stage, f fault) { s.nodes[f.node].SetDelay(100*time.Millisecond, 60*time.Millisecond) },
		mend:  func(s *stage, f fault) { s.settle(f.node) },
	},
	{
		name:  "node restarted",
		begin: func(s *stage, f fault) { s.nodes[f.node].Reboot() },
	},
	{
		name:    "node killed, without persistence",
		begin:   func(s *stage, f fault) { s.nodes[f.node].Kill() },
		mend:    func(s *stage, f fault) { s.nodes[f.node].Start() },
		forgets: true,
	},
	{
		name:  "connections broken",
		begin: func(s *stage, f fault) { s.hosts[f.program].Reset() },
	},
	{
		name:  "program cut off",
		begin: func(s *stage, f fault) { s.hosts[f.program].Silence(true) },
		mend:  func(s *stage, f fault) { s.hosts[f.program].Silence(false) },
	},
	{
		name:  "program cut off from node",
		begin: func(s *stage, f fault) { s.hosts[f.program].Cut(f.node, true) },
		mend:  func(s *stage, f fault) { s.hosts[f.program].Cut(f.node, false) },
	},
	{
		name:  "program far away",
		begin: func(s *stage, f fault) { s.hosts[f.program].SetDelay(80*time.Millisecond, 80*time.Millisecond) },
		mend:  func(s *stage, f fault) { s.place(f.program) },
	},
}

func (w world) drawFault(r *rand.Rand) fault {
	f := fault{
		damage:  pick(r, damages...),
		at:      time.Duration(r.Int64N(int64(trouble))),
		lasts:   pick(r, 20*time.Millisecond, 300*time.Millisecond, 2*time.Second, 6*time.Second),
		node:    r.IntN(w.nodes),
		program: r.IntN(len(w.programs)),
	}
	if f.forgets && w.guard == 0 {
		return w.drawFault(r)
	}
	return f
}

// over is when the world is as it was before, and what was lost in the meantime has expired.
func (w world) over(f fault) time.Duration { return f.at + f.lasts + w.guard + 2*w.ttl + 2*time.Second }

func (f fault) String() string {
	s := fmt.Sprintf("at %v: %s (node %d, program %d)", f.at.Round(time.Millisecond), f.name, f.node, f.program)
	if f.mend != nil {
		s += fmt.Sprintf(", for %v", f.lasts)
	}
	return s
}

// strike lets a fault happen.
func (s *stage) strike(f fault) {
	time.Sleep(f.at)
	f.begin(s, f)
	time.Sleep(f.lasts)
	if f.mend != nil {
		f.mend(s, f)
	}
}

// settle puts a node where it is without a fault.
func (s *stage) settle(node int) {
	way := s.world.trip / 2
	if node == 0 {
		way += s.world.farNode / 2
	}
	s.nodes[node].SetDelay(way, way)
}

// place puts a program where it is without a fault.
func (s *stage) place(program int) {
	way := s.world.programs[program].far / 2
	s.hosts[program].SetDelay(way, way)
}

// A stage is where a world is played.
type stage struct {
	world world
	nodes []*virtual.Node
	hosts []*virtual.Host
	judge *judge
}
