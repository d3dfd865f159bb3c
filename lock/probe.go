package lock

import (
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/watchdog"
)

// A probe asks every node once a second whether it still has one of the holds, while its client
// holds anything. Of each server it asks for the hold that was granted there least recently, of some, which
// stands for all: a server that has forgotten another of them has forgotten this one. So a node that was
// restarted or emptied has the holds again soon ([recovery]), even if the client sends nothing else meanwhile.
// A new connection reveals a new server by itself, and so does an outage that is over.
type probe struct {
	ward    watchdog.Ward
	client  *core
	back    *recovery // that has the holds renewed when a node has forgotten one
	pause   time.Duration
	running bool // guarded by the client's mu

	mu      sync.Mutex
	lacking map[redlock.Server]lacking // of those that are asked
}

// lacking is what a probe knows of a server.
type lacking struct {
	last  bool   // it lacked the last hold that it was asked for
	given uint32 // how often its node had been given a hold by then
}

// A sample is the hold that a server is asked for.
type sample struct {
	tenure *tenure
	grant  uint64 // by which it has it: see [redlock.Footprint.Grant]; 0: it has not, as far as is known
}

// probeLook bounds how many names and holds are looked at to find those that are asked for.
const probeLook = 128

func newProbe(c *core, back *recovery, pause time.Duration) *probe {
	p := &probe{client: c, back: back, pause: pause}
	p.ward.Owner = p
	return p
}

// begin is called when something is held, with the client's mu held. With a single node there is no
// other node to get a hold back from.
func (p *probe) begin() {
	if !p.running && p.pause > 0 && p.client.group.Size() > 1 {
		p.running = true
		p.client.watchdog.Set(&p.ward, time.Now().Add(p.pause), time.Time{})
	}
}

// End implements [watchdog.Owner]: there is no such date.
func (p *probe) End() (after func()) { return nil }

// renew asks the nodes, on the watchdog's goroutine, unless nothing is held.
func (p *probe) renew() {
	c := p.client
	c.mu.Lock()
	p.running = c.held > 0
	if !p.running {
		c.mu.Unlock()
		return
	}
	held := c.someHeld(probeLook)
	c.mu.Unlock()
	p.ask(leastRecentlyGranted(held))
	c.watchdog.Set(&p.ward, time.Now().Add(p.pause), time.Time{})
}

// someHeld returns the holds of some names, having looked at no more than most. Called with mu held.
func (c *core) someHeld(most int) (held []*tenure) {
	looked := 0
	for _, ct := range c.contests { // in a random order
		if looked++; looked > most {
			break
		}
		for t := range ct.tenures() {
			if looked++; looked > most {
				break
			}
			held = append(held, t)
		}
	}
	return held
}

// leastRecentlyGranted returns for each server the hold that it granted least recently: one that it granted
// after it was emptied would not show it. A server that has granted none is asked, too, to see that it is there.
func leastRecentlyGranted(held []*tenure) map[redlock.Server]sample {
	samples := make(map[redlock.Server]sample)
	for _, t := range held {
		if !t.goesOn() {
			continue
		}
		g := t.engine.client.group
		for node := range g.Size() {
			grant, server := t.footprint.Grant(node), g.Server(node, t.keys().Lock)
			least, ok := samples[server]
			if !ok || least.grant == 0 || grant > 0 && grant < least.grant {
				samples[server] = sample{t, grant}
			}
		}
	}
	return samples
}

// ask asks each server for its sample. Servers that have the same one are asked together.
func (p *probe) ask(samples map[redlock.Server]sample) {
	p.mu.Lock()
	before := p.lacking
	p.lacking = make(map[redlock.Server]lacking, len(samples))
	asked := make(map[*tenure][]redlock.Server)
	for server, s := range samples {
		p.lacking[server] = before[server]
		asked[s.tenure] = append(asked[s.tenure], server)
	}
	p.mu.Unlock()
	for t, servers := range asked {
		of := func(node int) (redlock.Server, bool) {
			i := slices.IndexFunc(servers, func(s redlock.Server) bool { return s.Node() == node })
			if i < 0 {
				return redlock.Server{}, false
			}
			return servers[i], true
		}
		p.client.group.Vote(redlock.Motion{
			Name: "probe",
			Call: t.asks(),
			Yes:  lua.ParseHolds,
			Skip: func(node int) bool { _, ok := of(node); return !ok },
			Each: func(node int, a redlock.Answer) {
				server, _ := of(node)
				p.answered(server, samples[server], a)
			},
			Missed: func(node int, a redlock.Answer, _ bool) {
				// Something else has the name there, so it would say the same of this hold each time.
				if server, _ := of(node); a.IsFinal() {
					samples[server].tenure.footprint.Forget(node, samples[server].grant)
				}
			},
		})
	}
}

// answered records what a server said of its sample.
func (p *probe) answered(server redlock.Server, s sample, a redlock.Answer) {
	lacks := a.Vote == redlock.No
	switch {
	case a.Err != nil, s.grant == 0, s.tenure.isOver():
		return
	case lacks && !s.tenure.footprint.Forget(server.Node(), s.grant):
		return // it has granted it again, or was told to remove it
	}
	if p.notes(server, lacks) {
		p.back.due()
	}
}

// notes reports whether it is news that a server lacks a hold: the last time it had one, or its node has been
// given holds since. The restart guard may keep a node without holds for a while, which is not news each time.
func (p *probe) notes(server redlock.Server, lacks bool) (newly bool) {
	given := p.client.given[server.Node()].Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.lacking[server]
	p.lacking[server] = lacking{lacks, given}
	return lacks && (!before.last || before.given != given)
}
